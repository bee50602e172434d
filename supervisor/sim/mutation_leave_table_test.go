package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfLeave are those that concern answers which wait for leave.
func mutationsOfLeave() []mutation {
	return []mutation{{
		name: "a failure is told without leave", seed: 2, kind: kinds.Leave, invariant: sim.AnswersWait,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`	return d.Profile.rules.ForAnswer(outside,`,
			`	if d.Run.Status == schemas.RunFailed && planted("a failure is told without leave") {
		return nil
	}
	return d.Profile.rules.ForAnswer(outside,`,
		}},
	}, {
		name: "one is enough for an answer", seed: 1, kind: kinds.Leave, invariant: sim.AnswersWait,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`	opened.Hash = d.answerHash()
`,
			`	opened.Hash = d.answerHash()
	opened.Need = either("one is enough for an answer", 0, opened.Need)
`,
		}},
	}, {
		name: "an answer that was rejected is sent when somebody asks for it", seed: 1, kind: kinds.Leave, invariant: sim.AnswersWait,
		edits: []edit{{
			"schemas/workflow/resend.go",
			`	case h.AnswerHeld():
`,
			`	case h.AnswerHeld() && !planted("an answer that was rejected is sent when somebody asks for it"):
`,
		}},
	}, {
		name: "nobody is shown what they agree to", seed: 1, kind: kinds.Leave, invariant: sim.ShownIsSent,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`cmp.Or(strings.TrimSpace(AnswerText(d.Run, d.Read)), texts.Empty)`,
			`either("nobody is shown what they agree to", texts.Empty, cmp.Or(strings.TrimSpace(AnswerText(d.Run, d.Read)), texts.Empty))`,
		}},
	}, {
		name: "a no is told without its reason", seed: 1, kind: kinds.Leave, invariant: sim.NoTellsWhy,
		edits: []edit{{
			"supervisor/plan/approval.go",
			`	if reason = strings.TrimSpace(reason); reason == "" ||`,
			`	if reason = strings.TrimSpace(reason); reason == "" || planted("a no is told without its reason") ||`,
		}},
	}, {
		name: "the word that decides is told as its reason", seed: 3, kind: kinds.Leave, invariant: sim.NoTellsWhy,
		edits: []edit{{
			"supervisor/plan/approval.go",
			`	if !atService || decides && d.Run.Edition >= schemas.Edition9 {`,
			`	if (!atService || decides && d.Run.Edition >= schemas.Edition9) && !planted("the word that decides is told as its reason") {`,
		}},
	}, {
		name: "who was told how to decide may not", seed: 44, kind: kinds.Leave, invariant: sim.DecisionsAreTaken,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`	decides := d.chooses(inquiry, said)
`,
			`	decides := d.chooses(inquiry, said) && (d.state.Active.Explanations(inquiry.Inquiry) == 0 || !planted("who was told how to decide may not"))
`,
		}},
	}, {
		name: "an answer that waits cannot be taken back", seed: 2, kind: kinds.Leave, invariant: sim.DecisionsAreTaken,
		edits: []edit{{
			"supervisor/session/control.go",
			`(!d.state.Active.Settled() || d.state.Active.AnswerWaits())`,
			`(!d.state.Active.Settled() || d.state.Active.AnswerWaits() && !planted("an answer that waits cannot be taken back"))`,
		}},
	}}
}
