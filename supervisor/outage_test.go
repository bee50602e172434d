package supervisor_test

import (
	"testing"
	"time"

	"podium/schemas"
)

// TestOutageIsNoFailureOfTheAgent: the service was away for longer than the deadlines of what
// it had asked for. Nobody was there to hear the agent, so that nobody is refused for it;
// what is asked from then on, and not begun either, counts.
func TestOutageIsNoFailureOfTheAgent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) { profile.Retry.Attempts = 2 })
	before := d.openAs("before", d.ledger, 0, breaking)
	for number := range 5 {
		d.ask(before, 0, number, "do it")
	}
	requests := func() int {
		distinct := map[string]bool{}
		for _, request := range d.requests("worker") {
			distinct[request.ID] = true // what may not have been stored is published again
		}
		return len(distinct)
	}
	asked := requests()
	if asked != 5 {
		t.Fatalf("%d requests before the outage", asked)
	}
	d.now = d.now.Add(24 * time.Hour)
	after := d.openAs("after", d.ledger, 0, breaking)
	d.spin(after, 2*time.Second)
	if b := d.breaker("worker"); b.State != schemas.BreakerClosed || len(b.Failures) != 0 {
		t.Errorf("after the outage the breaker is %+v", b)
	}
	d.ask(after, 0, 9, "do it")
	if now := requests(); now != 2*asked+1 {
		t.Errorf("%d requests after the outage, want each again and a new one", now-asked)
	}
	d.spin(after, time.Hour)
	if b := d.breaker("worker"); b.State == schemas.BreakerClosed && len(b.Failures) == 0 {
		t.Errorf("what was asked after it and not begun does not count: %+v", b)
	}
}
