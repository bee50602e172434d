package session_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"podium/schemas"
	"podium/supervisor/session"
)

// ask is an agent's question for a permit, named so that a person can read it.
func (s *story) ask(tb testing.TB, d *datadriven.TestData) (event schemas.Event, agent string) {
	tb.Helper()
	run, task := number(tb, d, "run", 1), text(d, "task", "")
	agent = text(d, "agent", s.asked[fmt.Sprint(run, "/", task)])
	id := text(d, "id", "")
	event = s.permitOf(tb, identify(id), agent, run, task, number(tb, d, "attempt", 1))
	if d.HasArg("bare") {
		event.Subject, event.Attempt = "", 0
	}
	s.events[id] = event
	s.names = set(s.names, event.ID, id)
	return event, agent
}

func (s *stage) permitOf(tb judge, id, agent string, run int, task string, attempt int) schemas.Event {
	tb.Helper()
	event := s.event(tb, id, schemas.TypePermitRequest, schemas.PermitRequest{Envelope: schemas.Envelope{
		MessageID: id, From: agent, To: session.Supervisor, Type: schemas.EnvelopeTypePermitRequest,
		Timestamp: s.now, InReplyTo: s.request(run, task, attempt),
	}})
	return s.about(event, run, task, attempt)
}

// permit writes down what becomes of a question.
func (s *story) permit(f schemas.Fact) string {
	if granted := schemas.As[*schemas.PermitGranted](f); granted != nil {
		again := ""
		if granted.Again {
			again = ", again"
		}
		return fmt.Sprintf("attempt %d: %s is granted%s", granted.Attempt, s.called(granted.Permit), again)
	}
	refused := schemas.As[*schemas.PermitRefused](f)
	return fmt.Sprintf("attempt %d: %s of %s is refused, %s", refused.Attempt, s.called(refused.Permit), refused.Agent, refused.Reason)
}

// permitted is what an agent hears about its question.
func (s *story) permitted(answer *schemas.PermitAnswer) string {
	if answer.Granted {
		return s.called(answer.Permit) + ", go on"
	}
	return fmt.Sprintf("%s, do not (%s)", s.called(answer.Permit), answer.Reason)
}
