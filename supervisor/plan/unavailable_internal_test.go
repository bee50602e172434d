package plan

import (
	"fmt"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A barredAgent is not asked: its circuit breaker has opened, or it says that it cannot do its work, and there is no moment.
type barredAgent struct {
	Unlimited
	since time.Time
}

func (b barredAgent) OpenSince(string) (since, probe time.Time) {
	return b.since, b.since.Add(time.Minute)
}

// TestWhyUnavailable: an agent that is not asked has a reason as long as one is known. Without it, whoever looks after a letter that has failed would read
// why only until the next attempt.
func TestWhyUnavailable(t *testing.T) {
	t.Parallel()
	refused := &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureAgent, Detail: "The mail server cannot be reached."}
	moved := &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureAgent, Detail: "The mail server cannot be reached.", Agent: "mail"}
	unfit := &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureInvalidResult, Detail: "The result is not what was asked for."}
	again := &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureUnavailable, Detail: "The mail server cannot be reached."}
	closed := &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureUnavailable, Reasons: []schemas.Reason{schemas.Because(schemas.CircuitOpen, "agent", "mail")}}
	for name, c := range map[string]struct {
		since  time.Time
		failed *schemas.TaskFailed
		want   string
	}{
		"its breaker is open":       {time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC), refused, "[{circuit_open map[agent:mail probe:2026-11-30T13:01:00Z since:2026-11-30T13:00:00Z]}]"},
		"it has said why":           {time.Time{}, refused, "The mail server cannot be reached.[]"},
		"another agent has said it": {time.Time{}, moved, "[]"},
		"it has said why before":    {time.Time{}, again, "The mail server cannot be reached.[]"},
		"it was something else":     {time.Time{}, unfit, "[]"},
		"its breaker has closed":    {time.Time{}, closed, "[]"},
		"nobody has said anything":  {time.Time{}, nil, "[]"},
	} {
		v := View{Admission: barredAgent{since: c.since}}
		failed := unavailable(&v, &workflow.Task{ID: "ask:1:1", Agent: "mail", LastFailure: c.failed})
		if got := fmt.Sprint(failed.Detail, failed.Reasons); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
