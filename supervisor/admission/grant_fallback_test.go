package admission_test

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// TestAFallbackTakesRoomOfItsOwn: when the agent of a granted task is not asked any more and its fallback takes the task over, the fallback's place is taken before
// another session decides. The grant has kept a place at the other agent alone.
func TestAFallbackTakesRoomOfItsOwn(t *testing.T) {
	t.Parallel()
	barred := false
	s := newLedger(t, 1).open(0, func(c *admission.Config) {
		c.PoolSize = func(string) int { return 1 } // and two requests ahead
		c.Barred = func(agent string, _ time.Time) bool { return barred && agent == "worker" }
	})
	s.profile = withFallback(t)
	s.ask("low", "first", "second", "third", "waits")
	s.ask("write", "one", "two") // of the three places of the fallback
	waits := s.conversation("waits")
	waits.busy = true
	s.ledger.settle()
	barred = true
	s.finish("first")
	grant, granted := waits.demand.Granted()
	if !granted {
		t.Fatal("the session has no grant")
	}
	fallback := s.decide(waits, session.Input{Grant: &grant})
	other := s.decide(s.conversation("other"), s.message("other", "write"))
	s.store(fallback)
	s.store(other)
	under := 0
	for _, c := range s.conversations {
		for task := range c.state.UnderWay {
			if task.Agent == "writer" {
				under++
			}
		}
	}
	if under != 3 {
		t.Errorf("%d requests are under way at the fallback, want as many as it has places", under)
	}
}

// withFallback is a profile in which the agent writer takes over what worker does not do.
func withFallback(tb testing.TB) *plan.Profile {
	tb.Helper()
	template := func(word, agent string) schemas.Template {
		return schemas.Template{
			Name: word, Keywords: []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}}, Tasks: []schemas.TemplateTask{{Task: "t1", Description: word, Agent: agent}},
		}
	}
	agents := []schemas.AgentUse{{Name: "worker", Fallback: "writer"}, {Name: "writer"}}
	return desk(tb, agents, schemas.Router{Kind: schemas.RouterAssigned}, template("low", "worker"), template("write", "writer"))
}
