package chronicle_test

import (
	"slices"
	"testing"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
)

// TestEveryRoundIsKept: of each round of review its own findings are kept and the change that follows it, of each failure that others mend what was found and who
// mends it; what is said of other runs is not.
func TestEveryRoundIsKept(t *testing.T) {
	t.Parallel()
	mends := func(task string, options schemas.TaskOptions) []schemas.PlannedTask {
		return []schemas.PlannedTask{{Task: task, TaskOptions: &options}}
	}
	issue := func(message string) []schemas.ReviewIssue {
		return []schemas.ReviewIssue{{Severity: schemas.ValidationError, Message: message}}
	}
	fixes := func(attempt int) *schemas.TaskFailed {
		return &schemas.TaskFailed{Run: 2, Task: "test", Attempt: attempt, Action: schemas.RecoveryRequestFix}
	}
	kept := &chronicle.Run{}
	for _, fact := range []schemas.Fact{
		fixes(1),
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFix, Tasks: mends("c1.fix.code", schemas.TaskOptions{Recovers: "test"})},
		fixes(2),
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFix, Tasks: mends("c2.fix.code", schemas.TaskOptions{Recovers: "test"})},
		&schemas.TaskFailed{Run: 2, Task: "test", Attempt: 3, Action: schemas.RecoveryEscalateToCoordinator},
		&schemas.ReviewBegan{Run: 2, Round: 1},
		&schemas.ReviewBegan{Run: 1, Round: 7},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 1, Outcome: schemas.OutcomeFailed, Issues: issue("first")},
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionReview, Tasks: mends("fix1.code", schemas.TaskOptions{Fixes: "code"})},
		&schemas.PlanChanged{Run: 2, Source: schemas.OccasionFailure, Tasks: mends("c4.other", schemas.TaskOptions{})},
		&schemas.ReviewBegan{Run: 2, Round: 2, Forced: true},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 2, Question: "check:critic:2", Outcome: schemas.OutcomePlan},
		&schemas.Judged{Run: 2, Occasion: schemas.OccasionReview, Round: 2, Outcome: schemas.OutcomeFailed, Issues: issue("second")},
	} {
		kept.Apply(&schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{fact}}}}, 2)
	}
	if len(kept.Rounds) != 2 || kept.Round(3) != nil {
		t.Fatalf("%+v", kept.Rounds)
	}
	first, second := kept.Round(1), kept.Round(2)
	if first.Issues[0].Message != "first" || first.Change.Tasks[0].Task != "fix1.code" || first.Forced {
		t.Errorf("the first round: %+v", first)
	}
	if second.Issues[0].Message != "second" || second.Change != nil || !second.Forced || !second.Wants("check:critic:2") || second.Wants("check:critic:1") {
		t.Errorf("the second round: %+v", second)
	}
	found := kept.MendingsOf("test")
	if len(found) != 2 || found[0].Failed.Attempt != 1 || !slices.Equal(found[0].By, []string{"c1.fix.code"}) || !slices.Equal(found[1].By, []string{"c2.fix.code"}) {
		t.Errorf("%+v", found)
	}
	if len(kept.MendingsOf("code")) > 0 {
		t.Error("a task that has not failed is mended")
	}
}
