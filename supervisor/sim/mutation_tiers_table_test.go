package sim_test

import (
	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

// mutationsOfTiers are those that concern supervisors which give places back while they wait.
func mutationsOfTiers() []mutation {
	return []mutation{{
		name: "what works again takes no place", seed: 1002, kind: kinds.Tiers, invariant: sim.PoolsHold,
		edits: []edit{{
			"schemas/workflow/apply.go",
			`		t.Heartbeat, t.Silence = now, f.Silence
		t.letGo(f.WaitingUntil)`,
			`		t.Heartbeat, t.Silence = now, f.Silence
		if !f.WaitingUntil.IsZero() || !planted("what works again takes no place") {
			t.letGo(f.WaitingUntil)
		}`,
		}},
	}, {
		name: "whoever says so takes no place", seed: 2, kind: kinds.Tiers, invariant: sim.WaitsAreTold,
		edits: []edit{{
			"supervisor/plan/progress.go",
			`|| !d.Profile.Supervisor(task.Agent) {`,
			`|| !d.Profile.Supervisor(task.Agent) && !planted("whoever says so takes no place") {`,
		}},
	}, {
		name: "who waits has crashed when it is silent", seed: 3, kind: kinds.Tiers, invariant: sim.WaitsAreTold,
		edits: []edit{{
			"supervisor/plan/progress.go",
			`	if !waiting.IsZero() && heartbeat > 0 {`,
			`	if !waiting.IsZero() && heartbeat > 0 && !planted("who waits has crashed when it is silent") {`,
		}},
	}, {
		name: "a parked approval keeps its place", seed: 61, kind: kinds.Tiers, invariant: sim.RoomIsGiven,
		edits: []edit{{
			"supervisor/admission/demand.go",
			`		if task.WaitingUntil() != nil {`,
			`		if task.WaitingUntil() != nil && !planted("a parked approval keeps its place") {`,
		}},
	}}
}
