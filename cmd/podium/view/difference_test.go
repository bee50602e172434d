package view_test

import (
	"testing"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
)

// TestDifference: two lines that a person can tell apart, whatever differs.
func TestDifference(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	routed := func(agent string) schemas.Facts {
		return schemas.Facts{&schemas.TaskRouted{Run: 1, Task: "t1", Decision: schemas.RouteDecision{NextAgent: agent, Reasons: []schemas.Reason{schemas.Because(schemas.RouteDefault)}}}}
	}
	asked := func(attempt int, queue time.Time) schemas.Facts {
		return schemas.Facts{&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "a", Attempt: attempt, Queue: queue}}
	}
	beats := func(at time.Time) schemas.Facts {
		return schemas.Facts{&schemas.TaskHeartbeat{Run: 1, Task: "t1", Silence: at}}
	}
	for name, test := range map[string]struct {
		was, would  schemas.Facts
		is, wouldBe string
	}{
		"another agent":  {routed("a"), routed("b"), "t1 → a: The default agent takes it.", "t1 → b: The default agent takes it."},
		"nothing before": {nil, routed("b"), "nothing more", "t1 → b: The default agent takes it."},
		"nothing after":  {routed("a"), nil, "t1 → a: The default agent takes it.", "nothing more"},
		"a member that no line tells": {
			asked(1, now), asked(1, now.Add(time.Minute)),
			`t1: request to a, attempt 1; queue "2026-01-01T08:00:00Z"`, `t1: request to a, attempt 1; queue "2026-01-01T08:01:00Z"`,
		},
		"a fact that no line tells": {beats(now), beats(now.Add(time.Second)), `task heartbeat; silence "2026-01-01T08:00:00Z"`, `task heartbeat; silence "2026-01-01T08:00:01Z"`},
		"a member that is not there": {
			schemas.Facts{&schemas.TaskHeartbeat{Run: 1, Task: "t1"}},
			schemas.Facts{&schemas.TaskStarted{Run: 1, Task: "t1"}},
			"task heartbeat", "t1: the agent works on it",
		},
		"only there": {
			schemas.Facts{&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "a", Attempt: 1, Told: "x"}},
			schemas.Facts{&schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "a", Attempt: 1}},
			`t1: request to a, attempt 1; told "x"`, "t1: request to a, attempt 1; told none",
		},
	} {
		if was, would := view.Difference("s", test.was, test.would, now); was != test.is || would != test.wouldBe {
			t.Errorf("%s: it says %q and %q, want %q and %q", name, was, would, test.is, test.wouldBe)
		}
	}
}
