package session_test

import (
	"testing"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestAnswersOfALostPast: after a loss of power a shard goes on from an earlier moment. What
// agents say to a request that it has forgotten counts for nothing, though the present has one for
// the same attempt of the same task; a request of an earlier epoch of the same past counts as ever.
func TestAnswersOfALostPast_X03(t *testing.T) {
	t.Parallel()
	s := newStage(t, storyProfile())
	s.lost = 2 // the third epoch; two epochs before it are lost with what they had asked
	asked := s.takes(t, s.event(t, "m1", schemas.TypeChatReceived, schemas.ChatReceived{
		Provider: "p", Channel: "c", Thread: "thread", MessageID: "m1", Text: "calculate 6 * 7",
	}))
	request := s.request(1, "t1", 1)
	if len(asked.outputs) != 1 || asked.outputs[0].Event.ID != request || request == schemas.AttemptKey(request) {
		t.Fatalf("it asks %+v, want %s", asked.outputs, request)
	}
	result := schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "41"}}
	failed := schemas.ResponsePayload{Status: schemas.StatusFailed}
	for _, past := range []uint64{0, 1, 7} {
		s.lost = past
		said := map[string]schemas.Event{
			"an answer":  s.answerTo(t, "calculator", 1, "t1", 1, result),
			"progress":   s.progressOf(t, "calculator", 1, "t1", 1, 50, "half way"),
			"a question": s.permitOf(t, "11111111-1111-4111-8111-11111111111"+string(rune('0'+past)), "calculator", 1, "t1", 1, ""),
		}
		for name, event := range said {
			decided, err := s.take(t, event, "calculator")
			if err != nil || len(decided.outcome.Facts) > 0 || outputOf(&decided.outcome, session.OutputPermitAnswer) != nil || !decided.outcome.Doubtful {
				t.Errorf("%s of epoch %d: %+v, %v", name, past+1, decided.outcome, err)
			}
			if refused := outputOf(&decided.outcome, session.OutputQuarantine); name != "progress" && (refused == nil || refused.Refusal.Reason != schemas.QuarantineUnknownRun) {
				t.Errorf("%s of epoch %d is refused for %+v", name, past+1, refused)
			}
		}
	}

	s.lost = 2
	answer := s.answerTo(t, "calculator", 1, "t1", 1, failed)
	s.lost = 4 // another owner, and the answer to its predecessor's request
	if decided, err := s.take(t, answer, "calculator"); err != nil || len(decided.outcome.Facts) == 0 || schemas.As[*schemas.TaskFailed](decided.outcome.Facts[0]) == nil {
		t.Fatalf("%+v, %v", decided.outcome, err)
	}
	deadline, _ := s.due(s.now.AddDate(1, 0, 0))
	s.now = deadline.At
	again := s.expire(t, deadline)
	if second := s.request(1, "t1", 2); len(again.outputs) != 1 || again.outputs[0].Event.ID != second {
		t.Fatalf("the second attempt is %+v, want %s", again.outputs, second)
	}
	if late, err := s.take(t, answer, "calculator"); err != nil || len(late.outcome.Facts) != 1 || schemas.As[*schemas.ResponseLate](late.outcome.Facts[0]) == nil {
		t.Errorf("once more, after the next attempt: %+v, %v", late.outcome, err)
	}
	want := s.request(1, "t1", 2)
	s.lost = 6
	deadline, _ = s.due(s.now.AddDate(1, 0, 0))
	s.now = deadline.At
	over := s.expire(t, deadline)
	if len(over.outputs) == 0 || over.outputs[0].Request != want {
		t.Errorf("with its time over, it tells %+v, want that nobody waits for %s", over.outputs, want)
	}
}

// TestLateAnswersNameTheirAgent: the id of a request follows from its run, so that any agent can say something about a run
// that is over. It changes nothing, and the record names the agent.
func TestLateAnswersNameTheirAgent(t *testing.T) {
	t.Parallel()
	profile := storyProfile()
	s := newStage(t, profile)
	s.takes(t, s.event(t, "m1", schemas.TypeChatReceived, schemas.ChatReceived{
		Provider: "p", Channel: "c", Thread: "thread", MessageID: "m1", Text: "calculate 6 * 7",
	}))
	result := schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "42"}}
	answer := s.answerTo(t, "calculator", 1, "t1", 1, result)
	settled, err := s.take(t, answer, "calculator")
	if err != nil || len(settled.outputs) != 1 {
		t.Fatalf("%+v, %v", settled.outcome, err)
	}
	delivery := settled.outputs[0].Agent
	if _, err = s.take(t, s.answerTo(t, delivery, 1, schemas.DeliveryTask, 1, result), delivery); err != nil || s.state.Active != nil {
		t.Fatalf("the run has not ended: %+v, %v", s.state.Active, err)
	}
	forged := s.answerTo(t, "clerk", 1, "t1", 2, result)
	late, err := s.take(t, forged, "clerk")
	if err != nil || len(late.outcome.Facts) != 1 {
		t.Fatalf("%+v, %v", late.outcome, err)
	}
	if f := schemas.As[*schemas.ResponseLate](late.outcome.Facts[0]); f == nil || f.Agent != "clerk" {
		t.Errorf("on record is %+v", late.outcome.Facts[0])
	}
}
