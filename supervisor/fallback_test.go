package supervisor_test

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/circuit"
)

// TestPermitOfAFallback: nobody knows what became of an agent's effect, and its
// profile wants a person asked: then its fallback is not permitted either. Where
// the agent has said that nothing was done, it is.
func TestPermitOfAFallback(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		says    bool
		granted int
	}{"it says nothing": {false, 1}, "it says that it failed": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(func(profile *schemas.Profile) {
				profile.Retry.Attempts = 1
				profile.Agents = []schemas.AgentUse{
					{Name: "worker", SideEffects: schemas.SideEffectsExternal, OnTainted: schemas.OnTaintedAllow, OnUnknown: schemas.OnUnknownAsk, Fallback: "other"},
					{Name: "other", SideEffects: schemas.SideEffectsExternal, OnTainted: schemas.OnTaintedAllow},
				}
			})
			o := d.open("one", d.ledger, 0)
			other := d.ledger.Worker("other")
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			d.question("worker", d.last("worker"))
			d.must(d.work(o))
			if test.says {
				d.refuse("worker", d.last("worker"))
			}
			d.now = d.now.Add(3 * time.Minute)
			d.must(d.work(o))
			second := d.question("other", d.last("other"))
			d.must(d.work(o))
			if test.says {
				d.mustHear(other, granted(second))
			} else {
				d.mustHear(other, refusedAs(second, schemas.PermitUnknown))
				if task := d.sessionHistory("thread").Run(1).Tasks[0]; task.Failure().Cause != schemas.FailureUnknownEffect {
					t.Errorf("the task failed as %q", task.Failure().Cause)
				}
			}
			if n := d.facts("thread", permits); n != test.granted {
				t.Errorf("%d permits are on record, want %d", n, test.granted)
			}
			d.clean()
		})
	}
}

// TestGrantOfAnotherAgent: a task whose agent is not asked any more goes to the
// fallback, and waits there like any other: for room, and for what it needs.
func TestGrantOfAnotherAgent_M19_M28(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) {
		sharing(profile)
		profile.Retry.Attempts = 1
		profile.Agents = []schemas.AgentUse{{Name: "worker", Fallback: "other"}, {Name: "other"}}
	})
	o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
		config.Breaker = func(agent string) circuit.Policy {
			return map[string]circuit.Policy{"worker": {Failures: 1, Within: time.Minute, Open: time.Hour}}[agent]
		}
	})
	d.ask(o, 0, 1, "print")
	d.refuse("worker", d.last("worker")) // from now on it is not asked, and its fallback prints
	d.must(d.work(o))
	second := d.ask(o, 0, 2, "print")
	if n := len(d.requests("other")); n != 1 {
		t.Fatalf("%d print at a time", n)
	}
	d.answerNewest("other", "done")
	d.must(d.work(o))
	if id, _ := d.session(second); len(d.requests("other")) != 2 || d.last("other").CorrelationID != schemas.RunID(id, 1) {
		t.Errorf("%d have printed, the last for %s", len(d.requests("other")), d.last("other").CorrelationID)
	}
	d.answerNewest("other", "done")
	d.must(d.work(o))
	d.clean()
}

// TestLeaseOfAFallback: what an agent has had is free when its fallback is to do
// the work, which stands in line for it like any other.
func TestLeaseOfAFallback_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) {
		sharing(profile)
		profile.Retry.Attempts = 1
		profile.Agents = []schemas.AgentUse{{Name: "worker", Fallback: "other"}, {Name: "other"}}
	})
	o := d.open("one", d.ledger, 0)
	first := d.ask(o, 0, 1, "print")
	second := d.ask(o, 0, 2, "urgent")
	d.expect(first)
	d.refuse("worker", d.last("worker"))
	d.must(d.work(o))
	d.expect(second)
	if n := len(d.requests("other")); n != 0 {
		t.Fatalf("the fallback is asked %d times while another task prints", n)
	}
	d.finish(second)
	d.must(d.work(o))
	if n := len(d.requests("other")); n != 1 {
		t.Fatalf("the fallback is asked %d times", n)
	}
	d.answerNewest("other", "done")
	d.must(d.work(o))
	d.clean()
}
