package runlog_test

import (
	"testing"

	"podium/bus"
	"podium/cmd/podium/runlog"
	"podium/schemas"
)

// TestConcerns: what a replay of one run shows. A record that speaks of several
// runs belongs to each of them, though its attributes name only the first.
func TestConcerns(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("desk", "thread")
	other := schemas.SessionID("desk", "other")
	first, second := schemas.RunID(session, 1), schemas.RunID(session, 2)
	record := func(transitions ...schemas.Fact) []byte {
		r := schemas.Record{Session: session, Number: 1}
		for i := range transitions {
			r.Transitions = append(r.Transitions, schemas.Transition{Facts: transitions[i : i+1]})
		}
		body, err := schemas.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	ended := &schemas.RunEnded{Run: 1}
	started := &schemas.RunStarted{Run: 2}
	refused := &schemas.MessageReceived{ID: "m", Disposition: schemas.DispositionIgnored}
	place := bus.SessionSubject(session, 1)
	for name, test := range map[string]struct {
		event         schemas.Event
		subject       string
		first, second bool
	}{
		"a record of one run": {
			schemas.Event{Type: schemas.TypeRecord, CorrelationID: first, Data: record(ended)}, place, true, false,
		},
		"a record of two runs": {
			schemas.Event{Type: schemas.TypeRecord, CorrelationID: first, Data: record(ended, started)}, place, true, true,
		},
		"a record of no run":         {schemas.Event{Type: schemas.TypeRecord, Data: record(refused)}, place, true, true},
		"a record out of the ledger": {schemas.Event{Type: schemas.TypeRecord, CorrelationID: second}, place, false, true},
		"a record of another session": {
			schemas.Event{Type: schemas.TypeRecord, Data: record(ended)}, bus.SessionSubject(other, 1), false, false,
		},
		"a request of one run": {
			schemas.Event{Type: schemas.TypeExecutionRequest, Subject: second + "/t1", CorrelationID: second},
			bus.RequestSubject("worker"), false, true,
		},
		"a message of the session": {
			schemas.Event{Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "thread"}, bus.InSubject("chat", 0), true, true,
		},
		"a message of another session": {
			schemas.Event{Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: "other"}, bus.InSubject("chat", 0), false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := bus.Message{Subject: test.subject}
			if runlog.Concerns(&test.event, &message, session, first) != test.first || runlog.Concerns(&test.event, &message, session, second) != test.second {
				t.Errorf("it concerns the first run: %v, the second: %v",
					runlog.Concerns(&test.event, &message, session, first), runlog.Concerns(&test.event, &message, session, second))
			}
		})
	}
}
