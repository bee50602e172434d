package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfAttempts are those that concern agents which answer by callback, and further attempts from upstream.
func mutationsOfAttempts() []mutation {
	return []mutation{{
		name: "who was interrupted is silent", seed: 38, invariant: sim.AskedAnew,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`	if d.interrupted(task, failed.Cause) {`,
			`	if d.interrupted(task, failed.Cause) && !planted("who was interrupted is silent") {`,
		}},
	}, {
		name: "who answers by callback and is silent has crashed", seed: 2, invariant: sim.SilenceIsTold,
		edits: []edit{{
			"supervisor/plan/progress.go",
			`	if !d.Profile.Async(task.Agent) {`,
			`	if !d.Profile.Async(task.Agent) || planted("who answers by callback and is silent has crashed") {`,
		}},
	}, {
		name: "whoever says so may be silent", seed: 386, invariant: sim.SilenceIsTold,
		edits: []edit{{
			"supervisor/plan/progress.go",
			`		return silence, false
	}
	if until`,
			`		if !planted("whoever says so may be silent") {
			return silence, false
		}
	}
	if until`,
		}},
	}, {
		name: "an agent that answers by callback has a queue ahead of it", seed: 2, invariant: sim.PoolsHold,
		edits: []edit{{
			"supervisor/admission/pool.go",
			`				if c.Async != nil &&`,
			`				if c.Async != nil && !planted("an agent that answers by callback has a queue ahead of it") &&`,
		}},
	}, {
		name: "a further attempt asks anew", seed: 85, kind: kinds.People, invariant: sim.AskedOnce,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`	if left == nil || left.Over(d.Now) ||`,
			`	if left == nil || planted("a further attempt asks anew") || left.Over(d.Now) ||`,
		}},
	}, {
		name: "a further attempt adopts what others are asked", seed: 71, kind: kinds.People, invariant: sim.AdoptedIsLeft,
		edits: []edit{{
			"supervisor/plan/inquiry.go",
			`left.Inquiry.Told != opened.Told ||`,
			`left.Inquiry.Told != opened.Told && !planted("a further attempt adopts what others are asked") ||`,
		}},
	}, {
		name: "a further attempt goes on after a person's cancel", seed: 881, kind: kinds.People, invariant: sim.BroughtIsDone,
		edits: []edit{{
			"supervisor/session/upstream_request.go",
			`	case f.Final:`,
			`	case f.Final && !planted("a further attempt goes on after a person's cancel"):`,
		}},
	}, {
		name: "a result is brought whatever was told", seed: 311, kind: kinds.People, invariant: sim.BroughtIsDone,
		edits: []edit{{
			"supervisor/plan/reuse.go",
			`|| left.Completed.Told != d.toldHash(task) {`,
			`|| left.Completed.Told != d.toldHash(task) && !planted("a result is brought whatever was told") {`,
		}},
	}, {
		name: "a second word is held", seed: 61, kind: kinds.People, invariant: sim.WordsHaveOneFate,
		edits: []edit{{
			"supervisor/session/inquiry.go",
			`	if left == nil || left.Word != 0 ||`,
			`	if left == nil || left.Word != 0 && !planted("a second word is held") ||`,
		}},
	}, {
		name: "a second answer counts", seed: 977, invariant: sim.CountsOnce,
		edits: []edit{{
			"supervisor/session/response.go",
			`	case d.env.Pinned.Async(d.input.Agent) && d.state.HasTaken(`,
			`	case d.env.Pinned.Async(d.input.Agent) && !planted("a second answer counts") && d.state.HasTaken(`,
		}},
	}, {
		name: "permitted again elsewhere", seed: 1666, invariant: sim.PermittedOnce,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	case d.worksElsewhere(task):`,
			`	case d.worksElsewhere(task) && !planted("permitted again elsewhere"):`,
		}},
	}, {
		name: "an answer to an earlier run is late", seed: 1041, invariant: sim.AnswersCount,
		edits: []edit{{
			"supervisor/session/response.go",
			`	if task == nil {
		task, attempt`,
			`	if task == nil && !planted("an answer to an earlier run is late") {
		task, attempt`,
		}},
	}, {
		name: "an answer to an earlier run counts whatever was told", seed: 11025, invariant: sim.AnswersFit,
		edits: []edit{{
			"supervisor/session/response.go",
			`now.Told != call.Told {`,
			`now.Told != call.Told && !planted("an answer to an earlier run counts whatever was told") {`,
		}},
	}, {
		name: "the failure of who was refused ends another attempt", seed: 2498, invariant: sim.AnswersFit,
		edits: []edit{{
			"supervisor/session/response.go",
			`	return call.Refused &&`,
			`	return call.Refused && !planted("the failure of who was refused ends another attempt") &&`,
		}},
	}, {
		name: "the failure of who was refused ends another attempt at a question", seed: 650016017, invariant: sim.AnswersFit,
		edits: []edit{{
			"schemas/workflow/call.go",
			`task.Kind != "" && f.Attempt == task.Attempt:`,
			`task.Kind != "" && f.Attempt == task.Attempt && !planted("the failure of who was refused ends another attempt at a question"):`,
		}},
	}, {
		name: "a letter that has not gone out is waited for", seed: 9041, kind: kinds.People, invariant: sim.LettersCount,
		edits: []edit{{
			"schemas/workflow/left.go",
			`	if !f.Undone || at < 0 {`,
			`	if !f.Undone || at < 0 || planted("a letter that has not gone out is waited for") {`,
		}},
	}, {
		name: "who was cancelled by a person while it waited is asked for again", seed: 3, kind: kinds.People, invariant: sim.FinalByPeople,
		edits: []edit{{
			"supervisor/session/message.go",
			`		case head.final:`,
			`		case head.final && !planted("who was cancelled by a person while it waited is asked for again"):`,
		}},
	}, {
		name: "a question that has reached nobody stays open", seed: 850, kind: kinds.People, invariant: sim.InquiriesEndOnce,
		edits: []edit{{
			"supervisor/session/bounce.go",
			`	if nobody := bounced.Recipient != "" &&`,
			`	if nobody := bounced.Recipient != "" && !planted("a question that has reached nobody stays open") &&`,
		}},
	}}
}
