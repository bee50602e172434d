package supervisor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/session"
)

// resend publishes a person's word that the answer of a run is to be sent again.
func (d *desk) resend(thread, id string, run int, allowDuplicate bool) {
	d.tb.Helper()
	of, shard := d.session(thread)
	body, err := schemas.Marshal(schemas.Control{
		Action: schemas.ControlResend, Run: schemas.RunID(of, run), By: "desk", AllowDuplicate: allowDuplicate,
	})
	d.must(err)
	d.put(bus.ControlSubject(shard), &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeControl, Time: d.now, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// refuseForGood has an agent say that no attempt can help.
func (d *desk) refuseForGood(agent, why string) {
	d.tb.Helper()
	requests := d.requests(agent)
	request := &requests[len(requests)-1]
	response := d.response(agent, request, "")
	response.Payload.Status, response.Payload.Result = schemas.StatusFailed, nil
	response.Payload.IssuesEncountered = []schemas.Issue{{
		IssueID: "1", TaskID: "reply", Agent: agent, Severity: "high", Description: why, Resolution: schemas.ResolutionEscalated,
	}}
	body, err := schemas.Marshal(response)
	d.must(err)
	shard, _ := schemas.ShardOfRequest(request.ID)
	d.put(bus.ResponseSubject(agent, shard), &schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf(agent), Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// TestFailedAnswerIsSentAgain: a person has an answer sent again that was refused for
// good, whatever came since, whoever owns the shard by then: the same words, by the same
// effect and one more attempt. Deciding all of it again says the same.
func TestFailedAnswerIsSentAgain(t *testing.T) {
	t.Parallel()
	const large = 8 << 10 // of which the record holds a reference
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	turn := func(question, answer string) {
		t.Helper()
		d.say("thread", question, question)
		d.must(d.work(o))
		d.answerNewest("worker", answer)
		d.must(d.work(o))
	}
	turn("m1", strings.Repeat("1", large))
	d.refuseForGood("chat", "HTTP 403")
	d.must(d.work(o))
	for i := range 20 {
		turn(fmt.Sprint("n", i), "2")
		d.answerNewest("chat", "")
		d.must(d.work(o))
	}
	first := d.requests("chat")[0]

	d.now = d.now.Add(time.Hour)
	o = d.open("two", d.ledger, 0) // it has never seen the run
	d.resend("thread", "x1", 1, false)
	d.must(d.work(o))
	again := d.requests("chat")[21]
	if again.EffectID != first.EffectID || again.CorrelationID != first.CorrelationID || again.Attempt != 2 || again.ID == first.ID || again.Permit != "" {
		t.Errorf("it is sent again as %+v, after %+v", again, first)
	}
	sentFirst, errFirst := schemas.DecodeExecutionRequest(first.Data)
	sentAgain, errAgain := schemas.DecodeExecutionRequest(again.Data)
	if errFirst != nil || errAgain != nil || string(sentFirst.Payload.Tasks[0].Context.Arguments) != string(sentAgain.Payload.Tasks[0].Context.Arguments) {
		t.Errorf("other words are sent: %v %v", errFirst, errAgain)
	}
	turnBehind := d.requests("worker")
	d.say("thread", "m2", "and now?")
	d.must(d.work(o))
	if waits := d.requests("worker"); len(waits) != len(turnBehind) {
		t.Error("the next message does not wait")
	}
	d.answerNewest("chat", "")
	d.must(d.work(o))
	if begun := d.requests("worker"); len(begun) != len(turnBehind)+1 {
		t.Error("the next message waits for ever")
	}

	run := d.sessionHistory("thread").Run(1)
	if run.Phase != workflow.PhaseComplete || run.Reason != schemas.StopCompleted || run.Delivery.State != workflow.TaskCompleted || run.Resends != 1 {
		t.Errorf("the run is %+v", run)
	}
	d.clean()
}

// TestAnswersThatAreNotSentAgain: what was delivered, is under way, or may have been
// delivered is not sent again; a person may say that the last is.
func TestAnswersThatAreNotSentAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	var seen []string
	o := supervisor.NewOwner(supervisor.Config{
		Shard: 0, Name: "one", Core: d.ledger, Profiles: d.profiles, Go: func(operation func()) { operation() },
		Observe: func(_ *session.State, record *schemas.Record) {
			for fact := range record.AllFacts() {
				seen = append(seen, fact.Name())
			}
		},
	})
	d.must(o.Open(t.Context(), d.now))
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	d.answerNewest("worker", "1")
	d.must(d.work(o))
	d.resend("thread", "under way", 1, false)
	d.must(d.work(o))
	for range 3 { // nobody answers
		d.now = d.now.Add(3 * time.Minute)
		d.must(d.work(o))
	}
	tries := len(d.requests("chat"))
	d.resend("thread", "in doubt", 1, false)
	d.must(d.work(o))
	if len(d.requests("chat")) != tries {
		t.Fatal("it is sent again, and nobody knows what became of it")
	}
	d.resend("thread", "all the same", 1, true)
	d.must(d.work(o))
	if len(d.requests("chat")) != tries+1 {
		t.Fatal("it is not sent again")
	}
	d.answerNewest("chat", "")
	d.must(d.work(o))
	d.resend("thread", "delivered", 1, true)
	d.must(d.work(o))
	if len(d.requests("chat")) != tries+1 {
		t.Fatal("it is sent again though it was delivered")
	}
	folded := d.sessionHistory("thread")
	for id, want := range map[string]string{
		"under way": schemas.ResendNotEnded, "in doubt": schemas.ResendUncertain, "all the same": "", "delivered": schemas.ResendAnswered,
	} {
		if got := folded.Message(id); got == nil || got.Reason != want || got.Run != 1 {
			t.Errorf("%s: %+v, want %q", id, got, want)
		}
	}
	var stored []string
	id, shard := d.session("thread")
	for _, event := range d.events(bus.ShardStream(shard), bus.SessionSubject(id, 1)) {
		var record schemas.Record
		d.must(schemas.Unmarshal(event.Data, &record))
		for fact := range record.AllFacts() {
			stored = append(stored, fact.Name())
		}
	}
	if strings.Join(seen, " ") != strings.Join(stored, " ") {
		t.Errorf("who looks on has seen\n%q\nof\n%q", seen, stored)
	}
	d.clean()
}
