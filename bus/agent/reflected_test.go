package agent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// TestCallIsNoAnswer: a call is signed with the secret that its answer is signed with, and says where to post that. Whoever posts the call itself there has not
// answered it.
func TestCallIsNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.core(t)
		request := asked()
		request.Type = schemas.EnvelopeTypeExecutionRequest
		call, err := schemas.Marshal(request.ExecutionRequest)
		if err != nil {
			t.Fatal(err)
		}
		ticket := agent.Ticket{
			Request: request.MessageID, From: "supervisor", Plan: "p", Task: "t1", Attempt: 1,
			ReplyTo: bus.ResponseSubject(agentName, 0), Started: time.Now(),
		}
		err = s.answerer(t).Answer(t.Context(), &ticket, call, "")
		if responses := s.responses(t); !errors.Is(err, agent.ErrUnreadable) || len(responses) != 0 {
			t.Errorf("the call %s is taken (%v) as %+v", call, err, responses)
		}
	})
}

// TestUsageThatIsNoneBecomesAFailure: what a response cannot say of its cost is a failed response, which can be read.
func TestUsageThatIsNoneBecomesAFailure(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		`{"status": "completed", "result": {"text": "5"}, "resource_usage": {"tokens_used": -5}}`,
		`{"status": "failed", "issues_encountered": [{"description": "no paper"}], "resource_usage": {"tokens_used": -5}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.core(t)
			ticket := agent.Ticket{
				Request: schemas.RequestID(0, 1, "run", "t1", 1), From: "supervisor", Plan: "p", Task: "t1", Attempt: 1,
				ReplyTo: bus.ResponseSubject(agentName, 0), Started: time.Now(),
			}
			if err := s.answerer(t).Answer(t.Context(), &ticket, []byte(said), ""); err != nil {
				t.Fatal(err)
			}
			if responses := s.responses(t); len(responses) != 1 || responses[0].Payload.Status != schemas.StatusFailed { // it fails on one that cannot be read
				t.Errorf("%s becomes %+v", said, responses)
			}
		})
	}
}
