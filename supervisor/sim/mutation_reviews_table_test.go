package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfReviews are those that concern what was made, and whoever looks at it.
func mutationsOfReviews() []mutation {
	return []mutation{{
		name: "rounds restart", seed: 13, kind: kinds.Reviews, invariant: sim.StepsAndRoundsEnd,
		edits: []edit{{
			"supervisor/plan/review.go",
			`		round += d.Run.Review.Round
`,
			`		round += either("rounds restart", 0, d.Run.Review.Round)
`,
		}},
	}, {
		name: "rounds have no end", seed: 1, kind: kinds.Reviews, invariant: sim.StepsAndRoundsEnd,
		edits: []edit{{
			"supervisor/plan/review.go",
			`round.Round <= d.Profile.Review.Rounds && d.Run.Steps()`,
			`(round.Round <= d.Profile.Review.Rounds || planted("rounds have no end")) && d.Run.Steps()`,
		}},
	}, {
		name: "an older version wins", seed: 1, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/review/versions.go",
			`		if !builtOn {
`,
			`		if planted("an older version wins") {
			builtOn = i > 0
		}
		if !builtOn {
`,
		}},
	}, {
		name: "equal versions are none of a merge", seed: 25, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/review/versions.go",
			`		if !equal {
			standing`,
			`		if equal && planted("equal versions are none of a merge") {
			file.Of = file.Of[:len(file.Of)-1]
		}
		if !equal {
			standing`,
		}},
	}, {
		name: "a merge has no base", seed: 79, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/review/versions.go",
			`base := g.commonBase(versions, heads, below); base != nil {`,
			`base := g.commonBase(versions, heads, below); base != nil && !planted("a merge has no base") {`,
		}},
	}, {
		name: "a merge is newer than what builds on it", seed: 670000291, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/review/versions.go",
			`if !builtOn || g.run.Edition < schemas.Edition9 {`,
			`if !builtOn || planted("a merge is newer than what builds on it") || g.run.Edition < schemas.Edition9 {`,
		}},
	}, {
		name: "merged in part", seed: 1, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/plan/review.go",
			`	if len(left) > 0 {`,
			`	if len(left) > 0 && !planted("merged in part") {`,
		}},
	}, {
		name: "all versions are handed on", seed: 1, kind: kinds.Reviews, invariant: sim.NewestVersionsMerge,
		edits: []edit{{
			"supervisor/session/upstream_response.go",
			`	if run.Review != nil { // of each path`,
			`	if run.Review != nil && !planted("all versions are handed on") { // of each path`,
		}},
	}, {
		name: "what is wrong passes", seed: 1, kind: kinds.Reviews, invariant: sim.RoundsSayWhatIsThere,
		edits: []edit{{
			"supervisor/plan/review.go",
			`	if more || !review.Passed(issues) {`,
			`	if more || !review.Passed(issues) && !planted("what is wrong passes") {`,
		}},
	}, {
		name: "a check is left out", seed: 1, kind: kinds.Reviews, invariant: sim.RoundsSayWhatIsThere,
		edits: []edit{{
			"supervisor/plan/review.go",
			`d.Run.Task(id) != nil || !d.isFor(check) {`,
			`d.Run.Task(id) != nil || !d.isFor(check) || i > 0 && planted("a check is left out") {`,
		}},
	}, {
		name: "what was mended still counts", seed: 125, kind: kinds.Reviews, invariant: sim.RoundsSayWhatIsThere,
		edits: []edit{{
			"supervisor/review/faults.go",
			`!Counts(task) || !Stands(run, task) {`,
			`!Counts(task) || !Stands(run, task) && !planted("what was mended still counts") {`,
		}},
	}, {
		name: "what was mended is not looked at", seed: 1, kind: kinds.Reviews, invariant: sim.ReviewedBeforeTold,
		edits: []edit{{
			"supervisor/plan/review.go",
			`	if d.reviewed() {
`,
			`	if d.reviewed() && (d.Run.Review == nil || !planted("what was mended is not looked at")) {
`,
		}},
	}, {
		name: "what has failed to pass is told", seed: 1, kind: kinds.Reviews, invariant: sim.ReviewedBeforeTold,
		edits: []edit{{
			"supervisor/plan/review.go",
			`	if partial {
		d.conclude(`,
			`	if partial || planted("what has failed to pass is told") {
		d.conclude(`,
		}},
	}, {
		name: "what has not passed is told when a run ends otherwise", seed: 1, kind: kinds.Reviews, invariant: sim.ReviewedBeforeTold,
		edits: []edit{{
			"supervisor/plan/review.go",
			`	return d.Run.Review != nil && d.Run.Review.Outcome`,
			`	return !planted("what has not passed is told when a run ends otherwise") && d.Run.Review != nil && d.Run.Review.Outcome`,
		}},
	}, {
		name: "a mend builds on the first version", seed: 1, kind: kinds.Reviews, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/review/fixes.go",
			`	depend(newest.ID)
`,
			`	depend(either("a mend builds on the first version", root.ID, newest.ID))
`,
		}},
	}, {
		name: "a failed mend is told", seed: 456, kind: kinds.Reviews, invariant: sim.ChangesSound,
		edits: []edit{{
			"supervisor/plan/outcome.go",
			`review.IsFix(task): // whether it is mended`,
			`review.IsFix(task) && !planted("a failed mend is told"): // whether it is mended`,
		}},
	}}
}
