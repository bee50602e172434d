package session_test

import (
	"runtime"
	"testing"

	"podium/schemas"
	"podium/supervisor/session"
)

// failing is a run all of whose tasks fail by the input that begins it: their agent is not asked now.
func failing(count int) func(tb testing.TB) *recording {
	return func(tb testing.TB) *recording {
		tb.Helper()
		p := record(tb, func(p *schemas.Profile) {
			planFrom(count)(p)
			for i := range p.Agents {
				if p.Agents[i].Name == "clerk" {
					p.Agents[i].Unavailable = "The clerk is on holiday."
				}
			}
		})
		p.request(tb, planOf(count, func(int) []string { return nil }))
		return p
	}
}

// TestFailuresCostInProportion: five times as many tasks that fail by one input cost about five times as much, and not twenty-five times.
func TestFailuresCostInProportion(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	cost := func(count int) uint64 {
		played := failing(count)(t)
		if played.state.Active != nil || len(played.decisions) != 1 {
			t.Fatalf("the run has not ended after %d decisions", len(played.decisions))
		}
		one := played.decisions[0]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		session.Step(one.env, one.state, one.input)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := cost(200), cost(1000); many > 8*few {
		t.Errorf("1,000 failures take %d bytes, and 200 of them %d", many, few)
	}
}
