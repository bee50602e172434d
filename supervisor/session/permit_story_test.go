package session_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/session"
)

// ask is an agent's question for a permit, named so that a person can read it.
func (s *story) ask(tb testing.TB, d *datadriven.TestData) (event schemas.Event, agent string) {
	tb.Helper()
	run, task := number(tb, d, "run", 1), text(d, "task", "")
	agent = text(d, "agent", s.asked[fmt.Sprint(run, "/", task)])
	id := text(d, "id", "")
	event = s.permitOf(tb, identify(id), agent, run, task, number(tb, d, "attempt", 1), s.call(tb, d.Input))
	if d.HasArg("bare") {
		event.Subject, event.Attempt = "", 0
	}
	s.events[id] = event
	s.names = set(s.names, event.ID, id)
	return event, agent
}

func (s *stage) permitOf(tb judge, id, agent string, run int, task string, attempt int, call string) schemas.Event {
	tb.Helper()
	event := s.event(tb, id, schemas.TypePermitRequest, schemas.PermitRequest{Envelope: schemas.Envelope{
		MessageID: id, From: agent, To: session.Supervisor, Type: schemas.EnvelopeTypePermitRequest,
		Timestamp: s.now, InReplyTo: s.request(run, task, attempt),
	}, Call: call})
	return s.about(event, run, task, attempt)
}

// call names what an agent is about to do, which a person can read below the question; nothing is no name.
func (s *story) call(tb testing.TB, data string) string {
	tb.Helper()
	if data == "" {
		return ""
	}
	action := schemas.Action{Data: jsontext.Value(data)}
	call, err := action.Call()
	if err != nil {
		tb.Fatal(err)
	}
	s.names = set(s.names, call, data)
	return call
}

// handlePermit writes down what becomes of a question.
func (s *story) permit(f schemas.Fact) string {
	if granted := schemas.As[*schemas.PermitGranted](f); granted != nil {
		again := ""
		if granted.Again {
			again = ", again"
		}
		return fmt.Sprintf("attempt %d: %s is granted%s%s", granted.Attempt, s.called(granted.Permit), again, s.does(granted.Call))
	}
	refused := schemas.As[*schemas.PermitRefused](f)
	return fmt.Sprintf("attempt %d: %s of %s is refused, %s%s", refused.Attempt, s.called(refused.Permit), refused.Agent, refused.Reason, s.does(refused.Call))
}

// does is what a permit was asked for, if the agent has said that.
func (s *story) does(call string) string {
	if call == "" {
		return ""
	}
	return ", to do " + s.called(call)
}

// permitted is what an agent hears about its question.
func (s *story) permitted(answer *schemas.PermitAnswer) string {
	if answer.Granted {
		return s.called(answer.Permit) + ", go on"
	}
	return fmt.Sprintf("%s, do not (%s)", s.called(answer.Permit), answer.Reason)
}
