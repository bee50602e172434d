package session_test

import "podium/schemas"

// runReviewed is the same with a review, and for some of the scripts with a judge of failures, too.
func runReviewed(tb judge, bytes []byte) *stage {
	tb.Helper()
	s := &script{bytes: bytes}
	p, knob := s.profile(), len(bytes)
	for _, b := range bytes {
		knob += int(b)
	}
	p.Review = &schemas.Review{Rounds: knob % 3, Checks: []schemas.Check{{Agent: "model"}, {Agent: "critic", For: []string{"none"}}}}
	if knob%4 == 0 {
		p.Review.Agree = []string{"customer"}
		p.Review.Checks = append(p.Review.Checks, schemas.Check{Agent: "clerk"})
	}
	if knob%5 > 0 {
		p.Review.Merge = "summary"
	}
	if knob%7 == 0 {
		p.Review.When = schemas.ReviewComplex
	}
	if knob%2 == 0 {
		p.Review.OnFailed, p.Summary = schemas.ReviewPartial, &schemas.Summary{Agent: "writer", Template: "{{len .tasks}}"}
	}
	if knob%11 < 5 && p.Execution.Mode != schemas.ExecutionSingle {
		p.Replan = &schemas.Replan{Agent: "replanner", After: schemas.OccasionFailure, Attempts: knob % 4}
	}
	p.Execution.Steps = 1 + knob%13
	return s.playedBy(tb, p)
}
