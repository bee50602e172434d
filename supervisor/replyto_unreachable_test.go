package supervisor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
)

// Requests that want their answers on a shard which is not there take no agent's
// slots for ever (promise 19 of package bus: what cannot be read stops nobody).
func TestRepliesToNowhereStopNoAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "leaf"))
		var handled atomic.Int32
		n.employ("leaf", func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			handled.Add(1)
			return agent.Text("done"), nil
		})
		for i := range 8 { // as many as the agent has slots
			_, event := n.demand("leaf", fmt.Sprint("work", i), 1, taskFor("leaf", "one"))
			event.ReplyTo = "podium.agent.leaf.response.999"
			n.put(bus.RequestSubject("leaf"), &event)
		}
		time.Sleep(time.Minute)
		_, event := n.demand("leaf", "good", 1, taskFor("leaf", "one"))
		n.put(bus.RequestSubject("leaf"), &event)
		time.Sleep(24 * time.Hour)
		if answers := n.answers("leaf"); len(answers) == 0 {
			t.Errorf("a day later nobody has answered the request behind them (%d handled)", handled.Load())
		}
	})
}
