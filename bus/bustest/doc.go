// Package bustest pins the guarantees of package bus: [TestCore] holds every
// implementation of bus.Core and bus.Worker to them, [TestHandler] every agent, by one call
// as in agents/echo/handler_test.go.
package bustest

import (
	"context"
	"testing"
	"time"

	"podium/bus"
)

// A System is one ledger and the means to attach agents to it.
type System struct {
	// Core has at least two shards and no agent yet.
	Core bus.Core
	// Worker attaches one more process of an agent that is declared. Every call
	// gives a worker of its own.
	Worker func(t *testing.T, agent string) bus.Worker
}

// patience bounds every wait of the suites: far more than any of them needs.
const patience = 2 * time.Minute

// TestCore runs the conformance suite. Each group of tests opens a new, empty
// system; open registers its own clean-up with t.
func TestCore(t *testing.T, open func(t *testing.T) System) {
	t.Helper()
	for _, group := range []struct {
		name string
		test func(*testing.T, System)
	}{
		{"Append", testAppend},
		{"Intake", testIntake},
		{"Read", testRead},
		{"Lookup", testLookup},
		{"Store", testStore},
		{"Artifacts", testArtifacts},
		{"Queue", testQueue},
		{"First", testFirst},
		{"Services", testServices},
		{"Agents", testAgents},
		{"Reservations", testReservations},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			group.test(t, open(t))
		})
	}
}

// deadline returns a context that ends with the test, or when patience does.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
