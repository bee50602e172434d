package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfRetries are those that concern runs which are begun anew.
func mutationsOfRetries() []mutation {
	return []mutation{{
		name: "what is done is done again", seed: 1, kind: kinds.Retries, invariant: sim.RetriedAsSaid,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`|| task.State != workflow.TaskCompleted ||`,
			`|| task.State != workflow.TaskCompleted || planted("what is done is done again") ||`,
		}},
	}, {
		name: "what builds on what is done again is brought", seed: 27, kind: kinds.Retries, invariant: sim.RetriedAsSaid,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`slices.ContainsFunc(builtOn[task.ID], builds))`,
			`slices.ContainsFunc(builtOn[task.ID], builds) && !planted("what builds on what is done again is brought"))`,
		}},
	}, {
		name: "effects happen twice unasked", seed: 79, kind: kinds.Retries, invariant: sim.RetriedAsSaid,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`	case len(r.Effects) > 0 && !allowDuplicate:`,
			`	case len(r.Effects) > 0 && !allowDuplicate && !planted("effects happen twice unasked"):`,
		}},
	}, {
		name: "nothing is begun anew that has acted outside", seed: 41, kind: kinds.Retries, invariant: sim.RetriesAreTaken,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`	case len(r.Effects) > 0 && !allowDuplicate`,
			`	case len(r.Effects) > 0 && planted("nothing is begun anew that has acted outside") || len(r.Effects) > 0 && !allowDuplicate`,
		}},
	}, {
		name: "what a plan has replaced comes again", seed: 224, kind: kinds.Retries, invariant: sim.RetriedAsSaid,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`return !task.Replaced && task.Plan.Options()`,
			`return (!task.Replaced || planted("what a plan has replaced comes again")) && task.Plan.Options()`,
		}},
	}, {
		name: "what a review had mended is brought as it was", seed: 141, kind: kinds.Retries, invariant: sim.RetriedAsSaid,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`		return review.Newest(run, id)`,
			`		if planted("what a review had mended is brought as it was") {
			return run.Task(id)
		}
		return review.Newest(run, id)`,
		}},
	}, {
		name: "what no review has passed is not looked at again", seed: 1, kind: kinds.Retries, invariant: sim.RetriesAreTaken,
		edits: []edit{{
			"supervisor/recovery/retry.go",
			`len(r.Again) == 0 && !r.Reviews:`,
			`len(r.Again) == 0 && (!r.Reviews || planted("what no review has passed is not looked at again")):`,
		}},
	}}
}
