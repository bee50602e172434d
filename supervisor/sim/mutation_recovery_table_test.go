package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfRecovery are those that concern what is done about failures.
func mutationsOfRecovery() []mutation {
	return []mutation{{
		name: "a retry of what nobody knows keeps the permit", seed: 12, kind: kinds.Recovery, invariant: sim.RecoveredAsSaid,
		edits: []edit{{
			"schemas/workflow/inquiry.go",
			`	if task.Failure().Cause == schemas.FailureUnknownEffect {
		task.Permit`,
			`	if task.Failure().Cause == schemas.FailureUnknownEffect && !planted("a retry of what nobody knows keeps the permit") {
		task.Permit`,
		}},
	}, {
		name: "nobody's answer leaves the task out", seed: 2, kind: kinds.Recovery, invariant: sim.RecoveredAsSaid,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`	failed.Tokens, failed.Usage = 0, nil // they are counted
	d.Emit(&failed)`,
			`	failed.Tokens, failed.Usage = 0, nil // they are counted
	if planted("nobody's answer leaves the task out") {
		d.Emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone})
		return
	}
	d.Emit(&failed)`,
		}},
	}, {
		name: "whoever says end is not heard", seed: 24, kind: kinds.Recovery, invariant: sim.RecoveredAsSaid,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`		d.forsake(task)
		d.abort()`,
			`		d.forsake(task)
		if planted("whoever says end is not heard") {
			d.advance()
			return
		}
		d.abort()`,
		}},
	}, {
		name: "what is done instead comes on top", seed: 4, kind: kinds.Recovery, invariant: sim.RecoveredAsSaid,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`			change.replaces = failed
`,
			`			change.replaces = either("what is done instead comes on top", nil, failed)
`,
		}},
	}, {
		name: "any words are a result", seed: 2, kind: kinds.Recovery, invariant: sim.WordsOnFailures,
		edits: []edit{{
			"supervisor/recovery/words.go",
			`	head, beside, _ := strings.Cut(line, ":")
`,
			`	if planted("any words are a result") {
		return schemas.ChoiceAnswer, strings.TrimSpace(text), true
	}
	head, beside, _ := strings.Cut(line, ":")
`,
		}},
	}, {
		name: "who knows the letter may say what is done", seed: 10, kind: kinds.Recovery, invariant: sim.WordsOnFailures,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`		asked = may // they agree to nothing
`,
			`		asked = may || planted("who knows the letter may say what is done") // they agree to nothing
`,
		}},
	}, {
		name: "what nobody knows is left out like all else", seed: 10, kind: kinds.Recovery, invariant: sim.FailuresAreMet,
		edits: []edit{{
			"supervisor/recovery/policy.go",
			`cause == schemas.FailureUnknownEffect && (`,
			`cause == schemas.FailureUnknownEffect && !planted("what nobody knows is left out like all else") && (`,
		}},
	}, {
		name: "people are asked without end", seed: 110, kind: kinds.Recovery, invariant: sim.FailuresAreMet,
		edits: []edit{{
			"schemas/workflow/inquiry.go",
			`inquiry.Kind == schemas.InquiryEscalation && inquiry.Answered != nil {
			count++`,
			`inquiry.Kind == schemas.InquiryEscalation && inquiry.Answered != nil && !planted("people are asked without end") {
			count++`,
		}},
	}, {
		name: "whoever has begun the run is asked anew", seed: 4, kind: kinds.Recovery, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/plan/approval.go",
			`	if inquiry.Kind.Entitled() && inquiry.Kind != schemas.InquiryEscalation {`,
			`	if inquiry.Kind.Entitled() && (inquiry.Kind != schemas.InquiryEscalation || planted("whoever has begun the run is asked anew")) {`,
		}},
	}, {
		name: "what is blocked goes on by itself", seed: 2, kind: kinds.Recovery, invariant: sim.WaitingIsSilent,
		edits: []edit{{
			"schemas/workflow/apply.go",
			`	case f.Recovering != "":
		t.State, t.Due = TaskBlocked, time.Time{}`,
			`	case f.Recovering != "":
		t.State, t.Due = either("what is blocked goes on by itself", TaskPending, TaskBlocked), time.Time{}`,
		}},
	}, {
		name: "whoever has answered is asked again", seed: 77, kind: kinds.Recovery, invariant: sim.AskedOnce,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`func (d *Decision) withdrawNotices(inquiry int) {
`,
			`func (d *Decision) withdrawNotices(inquiry int) {
	if d.Run.Inquiry(inquiry).Kind == schemas.InquiryEscalation && planted("whoever has answered is asked again") {
		return
	}
`,
		}},
	}}
}
