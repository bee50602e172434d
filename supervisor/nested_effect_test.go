package supervisor_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/schemas"
)

// A piece of work that a supervisor below begins twice has one effect: whoever acts
// outside knows it again by its effect id.
func TestAnEffectBelowASupervisorIsOne_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		branch := tier("branch", "leaf")
		branch.Agents[0].SideEffects, branch.Agents[0].OnUnknown = schemas.SideEffectsExternal, schemas.OnUnknownResend
		n := newNest(t, 1, tier("top", "branch"), branch)
		var mu sync.Mutex
		effects, times := map[string]bool{}, 0
		n.employ("leaf", func(ctx context.Context, request bus.Request, _ bus.Report) (schemas.Result, error) {
			if err := request.Permit(ctx); err != nil {
				return schemas.Result{}, err
			}
			mu.Lock()
			effects[request.EffectID], times = true, times+1 // the letter is posted
			mu.Unlock()
			time.Sleep(5 * time.Minute) // and the agent hangs, whatever it is told
			return schemas.Result{Text: "posted"}, nil
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		n.ask("top", "work", 1, taskFor("branch", "one"))
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if len(effects) != 1 || times < 2 {
			t.Errorf("one piece of work was done %d times under %d effect ids", times, len(effects))
		}
	})
}
