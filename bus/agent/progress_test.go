package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

// TestServeGivesSignsOfLife: whoever waits hears of a request at least every
// ProgressEvery, also when its handler has nothing to say.
func TestServeGivesSignsOfLife_M36_M47(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every, want time.Duration
	}{
		"ByDefault": {0, 10 * time.Second},
		"AsOftenAs": {2 * time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.config.ProgressEvery = c.every
				stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
					time.Sleep(time.Minute)
					return agent.Text("x"), nil
				})
				s.ask(t, 1, nil)
				time.Sleep(2 * time.Minute)
				updates, at := s.progress(t)
				if want := int(time.Minute / c.want); len(updates) != want {
					t.Fatalf("%d updates, want %d", len(updates), want)
				}
				for i := range updates {
					if i > 0 && at[i].Sub(at[i-1]) != c.want {
						t.Errorf("update %d follows after %v", i, at[i].Sub(at[i-1]))
					}
					if p := updates[i].Payload; p.ProgressPercentage != 0 || len(p.TasksInProgress) != 1 {
						t.Errorf("an update without news says %+v", p)
					}
				}
				mustStop(t, stop)
			})
		})
	}
}

// TestServeNewsAreSignsOfLife: an update without news is for those times only in
// which there are none.
func TestServeNewsAreSignsOfLife_M36(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(_ context.Context, _ *agent.Request, report agent.Report) (agent.Outcome, error) {
			for i := range 5 {
				time.Sleep(9 * time.Second)
				report(10+i, "")
			}
			return agent.Text("x"), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(time.Minute)
		if updates, _ := s.progress(t); len(updates) != 1+5 {
			t.Errorf("%d updates, want that it has begun and five with news", len(updates))
		}
		mustStop(t, stop)
	})
}

// TestServeGivesNoSignOfADeadRequest: a handler that goes on although nobody
// waits any more is not taken for one that works on the request.
func TestServeGivesNoSignOfADeadRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			time.Sleep(10 * time.Minute) // deaf
			return agent.Text("x"), nil
		})
		begun := time.Now()
		s.ask(t, 1, func(e *schemas.Event) { e.Expires = begun.Add(25 * time.Second) })
		time.Sleep(11 * time.Minute)
		_, at := s.progress(t)
		if last := at[len(at)-1].Sub(begun); last > 25*time.Second {
			t.Errorf("a sign of life came %v after the request, which had expired", last)
		}
		mustStop(t, stop)
	})
}
