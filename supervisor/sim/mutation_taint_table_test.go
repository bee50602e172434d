package sim_test

import "podium/supervisor/sim"

// mutationsOfTaint are those that concern what strangers may have done.
func mutationsOfTaint() []mutation {
	return []mutation{{
		name: "a stranger's request is one of ours", seed: 112, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/session/upstream_request.go",
			`len(context.Tainted) > 0 || len(context.Answers) > 0`,
			`len(context.Tainted) > 0 && !planted("a stranger's request is one of ours") || len(context.Answers) > 0`,
		}},
	}, {
		name: "whoever sees everything is asked", seed: 176, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	case schemas.ActionNamed:
		return false`,
			`	case schemas.ActionNamed, either("whoever sees everything is asked", schemas.ActionKnown(""), schemas.ActionNamed):
		return false`,
		}},
	}, {
		name: "arguments are not compared", seed: 112, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`return !d.Profile.holds(task.Agent, approval.Call(d.arguments(task)))`,
			`return !d.Profile.holds(task.Agent, approval.Call(d.arguments(task))) && !planted("arguments are not compared")`,
		}},
	}, {
		name: "a fallback may act for strangers", seed: 176, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	if task.Tells() || !d.needsApproval(task) {
		return false`,
			`	if task.Tells() || !d.needsApproval(task) || task.PreviousAgent != "" && planted("a fallback may act for strangers") {
		return false`,
		}},
	}, {
		name: "whatever has a name is permitted", seed: 176, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`	case d.needsApproval(task) && !d.Profile.holds(task.Agent, asked.Call) && !d.agreedOutside(task):`,
			`	case d.needsApproval(task) && !d.Profile.holds(task.Agent, asked.Call) && !(planted("whatever has a name is permitted") && asked.Call != "") &&
		!(planted("who says nothing is permitted") && asked.Call == "") && !d.agreedOutside(task):`,
		}},
	}, {
		name: "who says nothing is permitted", seed: 112, invariant: sim.StrangersAreNotObeyed,
	}, {
		name: "the permit of an answer travels all the same", seed: 304, invariant: sim.StrangersAreNotObeyed,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`!d.deliveryNeedsApproval() &&`,
			`(!d.deliveryNeedsApproval() || planted("the permit of an answer travels all the same")) &&`,
		}},
	}, {
		name: "requests of ours are strangers'", seed: 112, invariant: sim.OursIsDone,
		edits: []edit{{
			"supervisor/plan/permit.go",
			`return d.Run.Message.FromOutside() && task.Kind`,
			`return (d.Run.Message.FromOutside() || planted("requests of ours are strangers'")) && task.Kind`,
		}},
	}}
}
