package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfJudges are those that concern judges, and plans that change.
func mutationsOfJudges() []mutation {
	return []mutation{{
		name: "ids are used again", seed: 253, kind: kinds.Judges, invariant: sim.IdsOnce,
		edits: []edit{{
			"supervisor/plan/replan.go",
			`		step.Task, step.Dependencies = changePrefix(c.number)+`,
			`		step.Task, step.Dependencies = either("ids are used again", "c1.", changePrefix(c.number))+`,
		}},
	}, {
		name: "attempts begin anew with each change", seed: 4, kind: kinds.Judges, invariant: sim.StepsAndRoundsEnd,
		edits: []edit{{
			"schemas/workflow/apply.go",
			`		r.Replans++`,
			`		r.Replans = either("attempts begin anew with each change", 0, r.Replans+1)`,
		}},
	}, {
		name: "steps begin anew with each change", seed: 21, kind: kinds.Judges, invariant: sim.StepsAndRoundsEnd,
		edits: []edit{{
			"schemas/workflow/run.go",
			`	steps := 0
`,
			`	steps := 0
	if planted("steps begin anew with each change") && r.Replans > 0 {
		return 0
	}
`,
		}},
	}, {
		name: "a replaced failure is told", seed: 9, kind: kinds.Judges, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`		case task.Replaced || review.IsFix(task):`,
			`		case task.Replaced && !planted("a replaced failure is told") || review.IsFix(task):`,
		}},
	}, {
		name: "a change takes what it keeps", seed: 5, kind: kinds.Judges, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/plan/replan.go",
			`		if unbegun(task) && !slices.Contains(c.kept, task.ID) {`,
			`		if unbegun(task) && (!slices.Contains(c.kept, task.ID) || planted("a change takes what it keeps")) {`,
		}},
	}, {
		name: "a change takes what was begun", seed: 183, kind: kinds.Judges, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/plan/replan.go",
			`!task.State.Ended() && !begun(task) }`,
			`!task.State.Ended() && (!begun(task) || planted("a change takes what was begun") && task.State == workflow.TaskWaiting) }`,
		}},
	}, {
		name: "a change replaces what no judge was told", seed: 253, kind: kinds.Judges, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/plan/replan.go",
			`task.State == workflow.TaskFailed && task.Judged && !task.Replaced {`,
			`task.State == workflow.TaskFailed && (task.Judged || planted("a change replaces what no judge was told")) && !task.Replaced {`,
		}},
	}, {
		name: "a grant does not wait for the judge", seed: 15, kind: kinds.Judges, invariant: sim.JudgesHoldBack,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			` || d.Run.HoldsBack(task) {`,
			` || d.Run.HoldsBack(task) && !planted("a grant does not wait for the judge") {`,
		}, {
			"supervisor/session/state.go",
			`s.Active.Judge() != nil`,
			`s.Active.Judge() != nil && !planted("a grant does not wait for the judge")`,
		}},
	}, {
		name: "a retry does not wait for the judge", seed: 338, kind: kinds.Judges, invariant: sim.JudgesHoldBack,
		edits: []edit{{
			"schemas/workflow/run.go",
			`	judged := r.Judge() != nil
`,
			`	judged := r.Judge() != nil && !planted("a retry does not wait for the judge")
`,
		}},
	}, {
		name: "what was not routed is taken for routed", seed: 5, kind: kinds.Judges, invariant: sim.PhasesLegal,
		edits: []edit{{
			"schemas/workflow/apply.go",
			`		if !r.Tasks[i].Routed {`,
			`		if !r.Tasks[i].Routed && (r.Changes == 0 || !planted("what was not routed is taken for routed")) {`,
		}},
	}}
}

// mutationsOfBudgets are those that concern what runs may use.
func mutationsOfBudgets() []mutation {
	return []mutation{{
		name: "what has failed is free", seed: 3, kind: kinds.Budgets, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`	failed.Category, failed.Usage = cmp.Or(failed.Category, category(failed.Cause)), d.takeSpent(task)`,
			`	failed.Category, failed.Usage = cmp.Or(failed.Category, category(failed.Cause)), d.takeSpent(task)
	if planted("what has failed is free") && failed.Usage != nil {
		failed.Usage.Tokens = 0
	}`,
		}},
	}, {
		name: "what comes late counts twice", seed: 12, kind: kinds.Budgets, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`	if p.Budget == nil || !open && !task.Tells() {`,
			`	if p.Budget == nil || !open && !task.Tells() && !planted("what comes late counts twice") {`,
		}},
	}, {
		name: "what waits for a judge keeps it waiting", seed: 210171131, kind: kinds.Budgets, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`return waits && d.Run.HoldsBack(task) &&`,
			`return waits && !planted("what waits for a judge keeps it waiting") && d.Run.HoldsBack(task) &&`,
		}},
	}, {
		name: "a grant skips the budget", seed: 22, kind: kinds.Budgets, invariant: sim.BudgetHolds,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`	if !d.affords(task.ID, task.Kind, task.Agent) {
		return true // it waits for the budget now`,
			`	if !planted("a grant skips the budget") && !d.affords(task.ID, task.Kind, task.Agent) {
		return true // it waits for the budget now`,
		}},
	}, {
		name: "a grant skips the budget of the day", seed: 1, kind: kinds.Days, invariant: sim.BudgetHolds,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`	if lacking == nil {
		return true`,
			`	if lacking == nil || planted("a grant skips the budget of the day") {
		return true`,
		}},
	}, {
		name: "what a day was used for is not counted", seed: 1, kind: kinds.Days, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/admission/day_budget.go",
			`		if spent := schemas.SpentBy(fact); spent != nil && spent.Day != "" {`,
			`		if spent := schemas.SpentBy(fact); spent != nil && spent.Day != "" && !planted("what a day was used for is not counted") {`,
		}},
	}, {
		name: "a new day takes what a former owner has asked for", seed: 400103443, kind: kinds.Days, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/admission/day_budget.go",
			`	if d.asked != "" && d.asked != day {`,
			`	if d.asked != "" && d.asked != day && planted("a new day takes what a former owner has asked for") {
		c.releaseDay(d.profile, d.asked, d.request)
	} else if d.asked != "" && d.asked != day {`,
		}},
	}, {
		name: "what nobody has answered counts as counted", seed: 220000076, kind: kinds.Days, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/admission/day_budget.go",
			`	case task == nil || reserves(d.session.State.Active.Account, d.request):`,
			`	case task == nil || !planted("what nobody has answered counts as counted") && reserves(d.session.State.Active.Account, d.request):`,
		}},
	}, {
		name: "what is answered is reserved once more", seed: 400109435, kind: kinds.Days, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/budget/day.go",
			`	if a.settled(want.Request) {
`,
			`	if a.settled(want.Request) && !planted("what is answered is reserved once more") {
`,
		}},
	}, {
		name: "what is asked meanwhile has no turn", seed: 220001584, kind: kinds.Days, invariant: sim.ComesToRest,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`		if d.Run.Edition >= schemas.Edition9 {
			most`,
			`		if d.Run.Edition >= schemas.Edition9 && !planted("what is asked meanwhile has no turn") {
			most`,
		}},
	}, {
		name: "a retry skips the budget", seed: 5, kind: kinds.Budgets, invariant: sim.BudgetHolds,
		edits: []edit{{
			"supervisor/plan/schedule.go",
			`	if !d.affords(task.ID, task.Kind, task.Agent) {
		return
	}`,
			`	if !(planted("a retry skips the budget") && task.Attempt > 0) && !d.affords(task.ID, task.Kind, task.Agent) {
		return
	}`,
		}},
	}, {
		name: "questions reserve nothing", seed: 1, kind: kinds.Budgets, invariant: sim.BudgetHolds,
		edits: []edit{{
			"supervisor/plan/budget.go",
			`	need := budget.Need(policy, agent, planned)
	return &need`,
			`	need := budget.Need(policy, agent, planned)
	if planted("questions reserve nothing") && kind != "" {
		return nil
	}
	return &need`,
		}},
	}, {
		name: "what is brought is paid again", seed: 49, kind: kinds.Budgets, invariant: sim.ReservationsSettleOnce,
		edits: []edit{{
			"supervisor/plan/reuse.go",
			`left.Completed.Run, nil // that run has paid for it`,
			`left.Completed.Run, either("what is brought is paid again", completed.Usage, nil) // that run has paid for it`,
		}},
	}}
}
