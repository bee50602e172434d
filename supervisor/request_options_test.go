package supervisor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

// TestArgumentsGoDownTheTiers: a task that a plan gives to a supervisor, and that one
// to another, arrives with its arguments at the agent that does it.
func TestArgumentsGoDownTheTiers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "branch"), tier("branch", "twig"), tier("twig", "leaf"))
		n.employ("leaf", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			context := &request.Task().Context
			return agent.Text(request.Task().Description + string(context.Arguments) + string(context.Constraints)), nil
		})
		for _, supervisor := range []string{"top", "branch", "twig"} {
			n.appoint(supervisor, supervisor)
		}
		with, without := taskFor("branch", "one"), taskFor("branch", "two")
		with.Context.Arguments, with.Context.Constraints = []byte(`{"formula":"2+3"}`), []byte(`{"currency":"EUR"}`)
		n.ask("top", "work", 1, with, without)
		time.Sleep(time.Minute)
		synctest.Wait()
		run := n.sessionHistoryOf("top", schemas.EffectID("work", "all")).Run(1)
		for task, want := range map[int]string{0: `do one{"formula":"2+3"}{"currency":"EUR"}`, 1: `do two{"language":"en"}`} {
			if result := run.Tasks[task].Result; result.Text != want {
				t.Errorf("task %d came to %+v, want %s", task, result, want)
			}
		}
		n.clean()
	})
}
