package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"podium/bus/agent"
)

// TestUnreadableIsLoggedWithoutItsWords: what a program has printed is about people, and stands in no line of the log.
func TestUnreadableIsLoggedWithoutItsWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		stop := s.serve(t, func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			outcome, err := agent.ReadOutcome([]byte(`{"type": "execution_response", "payload": {"status": "waiting for ana@example.org"}}`), request)
			if err != nil {
				err = &agent.Failure{Message: "It cannot be read.", Permanent: true, Err: err} // as agents/exec does
			}
			return outcome, err
		})
		s.ask(t, 1, nil)
		s.one(t)
		if strings.Contains(s.log.String(), "ana@example.org") {
			t.Errorf("personal data in the log:\n%s", s.log)
		}
		mustStop(t, stop)
	})
}
