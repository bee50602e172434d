package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfUpstream are those that concern decisions from upstream which runs wait for.
func mutationsOfUpstream() []mutation {
	return []mutation{{
		name: "a plan from upstream counts when its time is over", seed: 36, kind: kinds.Upstream, invariant: sim.WordsInTime,
		edits: []edit{{
			"supervisor/session/control.go",
			`	case inquiry.Closed == schemas.InquiryExpired || inquiry.Open() && !d.inTime(inquiry):`,
			`	case inquiry.Closed == schemas.InquiryExpired || inquiry.Open() && !d.inTime(inquiry) && !planted("a plan from upstream counts when its time is over"):`,
		}},
	}, {
		name: "whoever is upstream has to say the same for each task", seed: 14, kind: kinds.Upstream, invariant: sim.UpstreamIsHeard,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`		if inquiry.Upstream && other.Upstream &&`,
			`		if !planted("whoever is upstream has to say the same for each task") && inquiry.Upstream && other.Upstream &&`,
		}},
	}, {
		name: "nobody upstream is waited for", seed: 2, kind: kinds.Upstream, invariant: sim.FailuresAreMet,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`	waits := channel != nil && channel.Upstream && channel.Wait > 0 &&`,
			`	waits := !planted("nobody upstream is waited for") && channel != nil && channel.Upstream && channel.Wait > 0 &&`,
		}},
	}, {
		name: "whoever is upstream decides what people are asked", seed: 16, kind: kinds.Upstream, invariant: sim.UpstreamIsHeard,
		edits: []edit{{
			"supervisor/session/control.go",
			`	if d.ofUpstream(control) {`,
			`	if d.ofUpstream(control) && !planted("whoever is upstream decides what people are asked") {`,
		}},
	}, {
		name: "a plan from upstream that cannot be carried out ends the wait", seed: 13, kind: kinds.Upstream, invariant: sim.RecoveredAsSaid,
		edits: []edit{{
			"supervisor/session/inquiry_decision.go",
			`	case said.Choice == schemas.ChoiceReplan && !d.planDecision(`,
			`	case said.Choice == schemas.ChoiceReplan && !planted("a plan from upstream that cannot be carried out ends the wait") && !d.planDecision(`,
		}},
	}, {
		name: "a wait for whoever is upstream has no end", seed: 2, kind: kinds.Upstream, invariant: sim.FailuresAreMet,
		edits: []edit{{
			"supervisor/plan/failure.go",
			`		opened.Upstream, opened.Expire, asks = true, channel.Wait, true`,
			`		opened.Upstream, opened.Expire, asks = true, channel.Wait*either[schemas.Duration]("a wait for whoever is upstream has no end", 100, 1), true`,
		}},
	}}
}
