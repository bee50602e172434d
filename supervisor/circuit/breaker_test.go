package circuit_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/circuit"
)

// threeFailures opens after three failures in a row within ten seconds, for a minute.
func threeFailures() circuit.Policy {
	return circuit.Policy{Failures: 3, Within: 10 * time.Second, Open: time.Minute}
}

func start() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func second(n int) time.Time { return start().Add(time.Duration(n) * time.Second) }

func failed(n int) circuit.Event {
	return circuit.Event{Kind: circuit.Failed, Request: fmt.Sprint("r", n), At: second(n)}
}

func event(kind circuit.EventKind, request string, n int) circuit.Event {
	return circuit.Event{Kind: kind, Request: request, At: second(n)}
}

func TestBreakerChanges_M28(t *testing.T) {
	t.Parallel()
	open := []circuit.Event{failed(1), failed(2), failed(3)} // until second 63
	open[2].Cause, open[2].Run = schemas.FailureTimeout, "run-1"
	opened := &schemas.BreakerFailure{Request: "r3", At: second(3), Cause: "timeout", Run: "run-1"}
	for name, c := range map[string]struct {
		events []circuit.Event
		want   schemas.Breaker
	}{
		"nothing has happened": {nil, schemas.Breaker{}},
		"a success is nothing": {[]circuit.Event{event(circuit.Succeeded, "r1", 1)}, schemas.Breaker{}},
		"two failures":         {open[:2], schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}, {Request: "r2", At: second(2)}}}},
		"three failures":       {open, schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)}},
		"one failure told twice": {
			[]circuit.Event{failed(1), failed(1), failed(1)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}}},
		},
		"three failures too far apart": {
			[]circuit.Event{failed(1), failed(2), failed(11)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r2", At: second(2)}, {Request: "r11", At: second(11)}}},
		},
		"a success between failures": {
			[]circuit.Event{failed(1), failed(2), event(circuit.Succeeded, "x", 3), failed(4), failed(5)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r4", At: second(4)}, {Request: "r5", At: second(5)}}},
		},
		"a success that was before": {
			[]circuit.Event{failed(1), failed(3), event(circuit.Succeeded, "x", 2)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r3", At: second(3)}}},
		},
		"a refusal for good says nothing": {
			[]circuit.Event{failed(1), failed(2), event(circuit.Ended, "x", 3)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}, {Request: "r2", At: second(2)}}},
		},
		"open: what was asked before": {
			append(open[:3:3], failed(20), event(circuit.Succeeded, "y", 21)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)},
		},
		"open: a claim before its time": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 62)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)},
		},
		"half open: the first claim wins": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.ProbeClaimed, "q", 64)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(123), Probe: "p"},
		},
		"half open: asked": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), circuit.Event{Kind: circuit.Dispatched, Request: "p", At: second(64), Until: second(300)}),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(300), Probe: "p", Asked: true},
		},
		"half open: a claim is given back": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Released, "p", 70), event(circuit.ProbeClaimed, "q", 70)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(70), Until: second(130), Probe: "q"},
		},
		"half open: a claim is given back, and another owner has asked": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), circuit.Event{Kind: circuit.Dispatched, Request: "p", At: second(64), Until: second(300)}, event(circuit.Released, "p", 70)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(300), Probe: "p", Asked: true},
		},
		"half open: asked for a time that is over sooner": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), circuit.Event{Kind: circuit.Dispatched, Request: "p", At: second(64), Until: second(100)}),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(123), Probe: "p", Asked: true},
		},
		"half open: others say nothing": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Succeeded, "q", 64), event(circuit.Failed, "r", 65), event(circuit.Ended, "s", 66)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(123), Probe: "p"},
		},
		"half open: success": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Succeeded, "p", 70)),
			schemas.Breaker{State: schemas.BreakerClosed, Since: second(70)},
		},
		"half open: failure": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Failed, "p", 70)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(70), Until: second(130), Opened: &schemas.BreakerFailure{Request: "p", At: second(70)}},
		},
		"half open: cancelled": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Ended, "p", 70), event(circuit.ProbeClaimed, "q", 70)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(70), Until: second(130), Probe: "q"},
		},
		"half open: a probe that nobody hears of": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.ProbeClaimed, "q", 123)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(123), Until: second(183), Probe: "q"},
		},
		"closed again: counts anew": {
			append(open[:3:3], event(circuit.ProbeClaimed, "p", 63), event(circuit.Succeeded, "p", 64), failed(65)),
			schemas.Breaker{State: schemas.BreakerClosed, Since: second(64), Failures: []schemas.BreakerFailure{{Request: "r65", At: second(65)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed := threeFailures().Change(schemas.Breaker{}, c.events...)
			if c.want.Opened == nil && circuit.Blocks(&c.want) {
				c.want.Opened = opened
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if equal := reflect.DeepEqual(got, schemas.Breaker{}); !changed && !equal {
				t.Error("a change that is not reported")
			}
			if never, _ := (circuit.Policy{}).Change(schemas.Breaker{}, c.events...); !reflect.DeepEqual(never, schemas.Breaker{}) {
				t.Errorf("without a policy: %+v", never)
			}
		})
	}
}

func TestBreakerVerdict_M28(t *testing.T) {
	t.Parallel()
	open := schemas.Breaker{State: schemas.BreakerOpen, Since: second(0), Until: second(60)}
	half := schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(60), Until: second(90), Probe: "p"}
	for name, c := range map[string]struct {
		breaker schemas.Breaker
		request string
		at      int
		want    circuit.Verdict
		shown   schemas.BreakerState
	}{
		"closed":                      {schemas.Breaker{}, "", 0, circuit.Allow, schemas.BreakerClosed},
		"open":                        {open, "p", 59, circuit.Deny, schemas.BreakerOpen},
		"open, its time is over":      {open, "", 60, circuit.Probing, schemas.BreakerHalfOpen},
		"half open, the probe":        {half, "p", 61, circuit.Allow, schemas.BreakerHalfOpen},
		"half open, another":          {half, "q", 61, circuit.Deny, schemas.BreakerHalfOpen},
		"half open, one without name": {half, "", 61, circuit.Deny, schemas.BreakerHalfOpen},
		"half open, no answer":        {half, "q", 90, circuit.Probing, schemas.BreakerHalfOpen},
		"half open, the probe, late":  {half, "p", 90, circuit.Probing, schemas.BreakerHalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := threeFailures().Verdict(&c.breaker, c.request, second(c.at)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
			if got := (circuit.Policy{}).Verdict(&c.breaker, c.request, second(c.at)); got != circuit.Allow {
				t.Errorf("without a policy: %d", got)
			}
			if got := c.breaker.At(second(c.at)); got != c.shown {
				t.Errorf("shown as %s, want %s", got, c.shown)
			}
		})
	}
}

// TestBreakerCounts: what an agent is not to blame for does not count, and neither
// does what it was not asked.
func TestBreakerCounts_M28(t *testing.T) {
	t.Parallel()
	cause := func(kind schemas.FailureKind) schemas.Fact {
		return &schemas.TaskFailed{Cause: kind}
	}
	for _, c := range []struct {
		fact schemas.Fact
		want circuit.EventKind
	}{
		{cause(schemas.FailureTimeout), circuit.Failed},
		{cause(schemas.FailureNotStarted), circuit.Failed},
		{cause(schemas.FailureAgent), circuit.Failed},
		{cause(schemas.FailureInvalidResult), circuit.Failed},
		{cause(schemas.FailureCrashed), circuit.Failed},
		{cause(schemas.FailurePermanent), circuit.Ended},
		{cause(schemas.FailureBlocked), circuit.Ended},
		{cause(schemas.FailureUnknownEffect), circuit.Ended},
		{cause(schemas.FailureUnavailable), circuit.Ended},
		{&schemas.TaskFailed{Cause: schemas.FailureAgent, Category: schemas.CategoryResource}, circuit.Ended},
		{&schemas.TaskFailed{Cause: schemas.FailureAgent, Category: schemas.CategoryExecution}, circuit.Failed},
		{&schemas.TaskCompleted{}, circuit.Succeeded},
		{&schemas.TaskCancelled{}, circuit.Ended},
		{&schemas.TaskStarted{}, ""},
		{&schemas.RunEnded{}, ""},
	} {
		if got, says := circuit.EventOf(c.fact); got != c.want || says != (c.want != "") {
			t.Errorf("%s: %q %t, want %q", c.fact.Name(), got, says, c.want)
		}
	}
}

// TestBreakerLaws: whatever several owners tell, at most one probe is out at a
// time, an event that is told again changes nothing, and what is stored is bounded.
func TestBreakerLaws_M28(t *testing.T) {
	t.Parallel()
	policy := threeFailures()
	rapid.Check(t, func(t *rapid.T) {
		var b schemas.Breaker
		now := 0
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now += rapid.IntRange(0, 20).Draw(t, "seconds")
			e := circuit.Event{
				Kind: rapid.SampledFrom([]circuit.EventKind{
					circuit.Failed, circuit.Failed, circuit.Succeeded, circuit.Ended, circuit.ProbeClaimed, circuit.Dispatched,
				}).Draw(t, "kind"),
				Request: fmt.Sprint("r", rapid.IntRange(0, 9).Draw(t, "request")),
				At:      second(now), Until: second(now + 90),
			}
			before := b
			after, changed := policy.Change(b, e)
			if changed == reflect.DeepEqual(before, after) {
				t.Fatalf("changed is %t, from %+v to %+v by %+v", changed, before, after, e)
			}
			if _, again := policy.Change(after, e); again {
				t.Fatalf("told again, %+v changes %+v", e, after)
			}
			out := before.State == schemas.BreakerHalfOpen && second(now).Before(before.Until)
			if out && after.State == schemas.BreakerHalfOpen && after.Probe != before.Probe {
				t.Fatalf("a second probe, %+v after %+v", after, before)
			}
			if before.State == schemas.BreakerOpen && after.State == schemas.BreakerClosed {
				t.Fatalf("it closed without a probe, by %+v", e)
			}
			if len(after.Failures) >= policy.Failures || after.State == schemas.BreakerHalfOpen && after.Probe == "" {
				t.Fatalf("%+v", after)
			}
			b = after
		}
	})
}
