package sim_test

import "podium/supervisor/sim"

// mutationsOfMixture are those that show where kinds of knobs meet.
func mutationsOfMixture() []mutation {
	return []mutation{{
		name: "who has written stays unasked once the budget has room", seed: 1, mixed: true, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`	if d.Run.Edition >= schemas.Edition9 {
		d.notifyNext()`,
			`	if d.Run.Edition >= schemas.Edition9 && !planted("who has written stays unasked once the budget has room") {
		d.notifyNext()`,
		}},
	}, {
		name: "what is asked about a failure keeps people from being asked for more", seed: 1, mixed: true, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`	return task.State == workflow.TaskBlocked && (asks`,
			`	return !planted("what is asked about a failure keeps people from being asked for more") && task.State == workflow.TaskBlocked && (asks`,
		}},
	}}
}
