package supervisor_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

// A piece of work that a supervisor below begins twice has one effect: whoever acts
// outside knows it again by its effect id, and where a person is to judge what is
// not known, it is done once.
func TestAnEffectBelowASupervisorIsOne_X03(t *testing.T) {
	t.Parallel()
	for onUnknown, valid := range map[schemas.OnUnknown]func(times int) bool{
		schemas.OnUnknownResend: func(times int) bool { return times >= 2 },
		schemas.OnUnknownAsk:    func(times int) bool { return times == 1 },
	} {
		t.Run(string(onUnknown), func(t *testing.T) {
			t.Parallel()
			testEffectBelow(t, onUnknown, valid)
		})
	}
}

func testEffectBelow(t *testing.T, onUnknown schemas.OnUnknown, valid func(times int) bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		branch := tier("branch", "leaf")
		branch.Agents[0].SideEffects, branch.Agents[0].OnUnknown = schemas.SideEffectsExternal, onUnknown
		n := newNest(t, 1, tier("top", "branch"), branch)
		var mu sync.Mutex
		effects, times := map[string]bool{}, 0
		n.employ("leaf", func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			if err := request.Permit(ctx); err != nil {
				return agent.Outcome{}, err
			}
			mu.Lock()
			effects[request.EffectID], times = true, times+1 // the letter is posted
			mu.Unlock()
			time.Sleep(5 * time.Minute) // and the agent hangs, whatever it is told
			return agent.Text("posted"), nil
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		n.ask("top", "work", 1, taskFor("branch", "one"))
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if len(effects) != 1 || !valid(times) {
			t.Errorf("one piece of work was done %d times under %d effect ids", times, len(effects))
		}
	})
}
