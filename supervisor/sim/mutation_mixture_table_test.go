package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfMixture are those that show where kinds of knobs meet.
func mutationsOfMixture() []mutation {
	return []mutation{{
		name: "a task has two questions", seed: 500060132, kind: kinds.Mixed, invariant: sim.FailuresAreMet,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`asked != nil && asked.Task == task.ID && d.Run.Edition`,
			`asked != nil && asked.Task == task.ID && !planted("a task has two questions") && d.Run.Edition`,
		}},
	}, {
		name: "what was asked by a reservation loses that", seed: 730001985, kind: kinds.Mixed, invariant: sim.BudgetHolds,
		edits: []edit{{
			"supervisor/admission/day_budget.go",
			`case active != nil && reserves(active.Account, request.request):`,
			`case active != nil && reserves(active.Account, request.request) && !planted("what was asked by a reservation loses that"):`,
		}},
	}, {
		name: "what mends a failure waits for its level", seed: 720000536, kind: kinds.Mixed, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`failed != nil && d.Run.Edition`,
			`failed != nil && !planted("what mends a failure waits for its level") && d.Run.Edition`,
		}},
	}, {
		name: "nobody goes on when what mends something lacks another", seed: 720000713, kind: kinds.Mixed, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`case fix.State == workflow.TaskPending && missing != nil && d.Run.Edition`,
			`case fix.State == workflow.TaskPending && missing != nil && !planted("nobody goes on when what mends something lacks another") && d.Run.Edition`,
		}},
	}, {
		name: "who mends is not told what they have asked", seed: 500040028, kind: kinds.Mixed, invariant: sim.ToldWhatWasSaid,
		edits: []edit{{
			"schemas/workflow/mend.go",
			`	return about != nil && r.OriginOf(about) == origin`,
			`	return about != nil && r.OriginOf(about) == origin && !planted("who mends is not told what they have asked")`,
		}},
	}, {
		name: "who waits for what mends a failure is taken for somebody who works", seed: 500040795, kind: kinds.Mixed, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`(asks || task.Mending())`,
			`(asks || task.Mending() && !planted("who waits for what mends a failure is taken for somebody who works"))`,
		}},
	}, {
		name: "a further attempt goes by the reservation of the one before", seed: 500062043, kind: kinds.Mixed, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/admission/demand.go",
			`d.agent == task.Agent && d.attempt == task.Attempt+1`,
			`d.agent == task.Agent && (d.attempt == task.Attempt+1 || planted("a further attempt goes by the reservation of the one before"))`,
		}},
	}}
}
