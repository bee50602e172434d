package plan_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/plan"
)

// threeFailures opens after three failures in a row within ten seconds, for a minute.
func threeFailures() plan.BreakerPolicy {
	return plan.BreakerPolicy{Failures: 3, Within: 10 * time.Second, Open: time.Minute}
}

func second(n int) time.Time { return start().Add(time.Duration(n) * time.Second) }

func failed(n int) plan.BreakerEvent {
	return plan.BreakerEvent{Kind: plan.BreakerFailed, Request: fmt.Sprint("r", n), At: second(n)}
}

func event(kind plan.BreakerEventKind, request string, n int) plan.BreakerEvent {
	return plan.BreakerEvent{Kind: kind, Request: request, At: second(n)}
}

func TestBreakerChanges_M28(t *testing.T) {
	t.Parallel()
	open := []plan.BreakerEvent{failed(1), failed(2), failed(3)} // until second 63
	for name, c := range map[string]struct {
		events []plan.BreakerEvent
		want   schemas.Breaker
	}{
		"nothing has happened": {nil, schemas.Breaker{}},
		"a success is nothing": {[]plan.BreakerEvent{event(plan.BreakerSucceeded, "r1", 1)}, schemas.Breaker{}},
		"two failures":         {open[:2], schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}, {Request: "r2", At: second(2)}}}},
		"three failures":       {open, schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)}},
		"one failure told twice": {
			[]plan.BreakerEvent{failed(1), failed(1), failed(1)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}}},
		},
		"three failures too far apart": {
			[]plan.BreakerEvent{failed(1), failed(2), failed(11)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r2", At: second(2)}, {Request: "r11", At: second(11)}}},
		},
		"a success between failures": {
			[]plan.BreakerEvent{failed(1), failed(2), event(plan.BreakerSucceeded, "x", 3), failed(4), failed(5)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r4", At: second(4)}, {Request: "r5", At: second(5)}}},
		},
		"a success that was before": {
			[]plan.BreakerEvent{failed(1), failed(3), event(plan.BreakerSucceeded, "x", 2)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r3", At: second(3)}}},
		},
		"a refusal for good says nothing": {
			[]plan.BreakerEvent{failed(1), failed(2), event(plan.BreakerEnded, "x", 3)},
			schemas.Breaker{Failures: []schemas.BreakerFailure{{Request: "r1", At: second(1)}, {Request: "r2", At: second(2)}}},
		},
		"open: what was asked before": {
			append(open[:3:3], failed(20), event(plan.BreakerSucceeded, "y", 21)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)},
		},
		"open: a claim before its time": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 62)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(3), Until: second(63)},
		},
		"half open: the first claim wins": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerProbeClaimed, "q", 64)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(123), Probe: "p"},
		},
		"half open: asked": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), plan.BreakerEvent{Kind: plan.BreakerDispatched, Request: "p", At: second(64), Until: second(300)}),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(300), Probe: "p"},
		},
		"half open: others say nothing": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerSucceeded, "q", 64), event(plan.BreakerFailed, "r", 65), event(plan.BreakerEnded, "s", 66)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(63), Until: second(123), Probe: "p"},
		},
		"half open: success": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerSucceeded, "p", 70)),
			schemas.Breaker{State: schemas.BreakerClosed, Since: second(70)},
		},
		"half open: failure": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerFailed, "p", 70)),
			schemas.Breaker{State: schemas.BreakerOpen, Since: second(70), Until: second(130)},
		},
		"half open: cancelled": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerEnded, "p", 70), event(plan.BreakerProbeClaimed, "q", 70)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(70), Until: second(130), Probe: "q"},
		},
		"half open: a probe that nobody hears of": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerProbeClaimed, "q", 123)),
			schemas.Breaker{State: schemas.BreakerHalfOpen, Since: second(123), Until: second(183), Probe: "q"},
		},
		"closed again: counts anew": {
			append(open[:3:3], event(plan.BreakerProbeClaimed, "p", 63), event(plan.BreakerSucceeded, "p", 64), failed(65)),
			schemas.Breaker{State: schemas.BreakerClosed, Since: second(64), Failures: []schemas.BreakerFailure{{Request: "r65", At: second(65)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed := threeFailures().Change(schemas.Breaker{}, c.events...)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if equal := reflect.DeepEqual(got, schemas.Breaker{}); !changed && !equal {
				t.Error("a change that is not reported")
			}
			if never, _ := (plan.BreakerPolicy{}).Change(schemas.Breaker{}, c.events...); !reflect.DeepEqual(never, schemas.Breaker{}) {
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
		want    plan.BreakerVerdict
		shown   schemas.BreakerState
	}{
		"closed":                      {schemas.Breaker{}, "", 0, plan.VerdictAllow, schemas.BreakerClosed},
		"open":                        {open, "p", 59, plan.VerdictDeny, schemas.BreakerOpen},
		"open, its time is over":      {open, "", 60, plan.VerdictProbing, schemas.BreakerHalfOpen},
		"half open, the probe":        {half, "p", 61, plan.VerdictAllow, schemas.BreakerHalfOpen},
		"half open, another":          {half, "q", 61, plan.VerdictDeny, schemas.BreakerHalfOpen},
		"half open, one without name": {half, "", 61, plan.VerdictDeny, schemas.BreakerHalfOpen},
		"half open, no answer":        {half, "q", 90, plan.VerdictProbing, schemas.BreakerHalfOpen},
		"half open, the probe, late":  {half, "p", 90, plan.VerdictProbing, schemas.BreakerHalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := threeFailures().Verdict(&c.breaker, c.request, second(c.at)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
			if got := (plan.BreakerPolicy{}).Verdict(&c.breaker, c.request, second(c.at)); got != plan.VerdictAllow {
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
		want plan.BreakerEventKind
	}{
		{cause(schemas.FailureTimeout), plan.BreakerFailed},
		{cause(schemas.FailureNotStarted), plan.BreakerFailed},
		{cause(schemas.FailureAgent), plan.BreakerFailed},
		{cause(schemas.FailureInvalidResult), plan.BreakerFailed},
		{cause(schemas.FailureCrashed), plan.BreakerFailed},
		{cause(schemas.FailurePermanent), plan.BreakerEnded},
		{cause(schemas.FailureBlocked), plan.BreakerEnded},
		{cause(schemas.FailureUnknownEffect), plan.BreakerEnded},
		{cause(schemas.FailureUnavailable), plan.BreakerEnded},
		{&schemas.TaskFailed{Cause: schemas.FailureAgent, Category: schemas.CategoryResource}, plan.BreakerEnded},
		{&schemas.TaskFailed{Cause: schemas.FailureAgent, Category: schemas.CategoryExecution}, plan.BreakerFailed},
		{&schemas.TaskCompleted{}, plan.BreakerSucceeded},
		{&schemas.TaskCancelled{}, plan.BreakerEnded},
		{&schemas.TaskStarted{}, ""},
		{&schemas.RunEnded{}, ""},
	} {
		if got, says := plan.BreakerEventOf(c.fact); got != c.want || says != (c.want != "") {
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
			e := plan.BreakerEvent{
				Kind: rapid.SampledFrom([]plan.BreakerEventKind{
					plan.BreakerFailed, plan.BreakerFailed, plan.BreakerSucceeded, plan.BreakerEnded, plan.BreakerProbeClaimed, plan.BreakerDispatched,
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
