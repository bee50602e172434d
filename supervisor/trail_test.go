package supervisor_test

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

// shown reads one run of a session, as everybody does who shows it.
func (d *desk) shown(ledger bus.Ledger, session string, number int) *workflow.RunHistory {
	d.tb.Helper()
	opened, err := history.OpenSession(context.Background(), ledger, session)
	d.must(err)
	excerpt := workflow.Excerpt{Session: session, Number: number}
	for record, err := range opened.Run(context.Background(), number) {
		d.must(err)
		d.must(excerpt.Apply(&record.Record))
	}
	return excerpt.Run()
}

// TestARunOfALongConversation: what it takes to show a run does not grow with the
// others of its session, be it the first, one in the midst or the last, and
// whether they waited for each other or not.
func TestARunOfALongConversation(t *testing.T) {
	t.Parallel()
	const queued, runs, most = 600, 1800, 200
	d := newDesk(t, 1)
	id, _ := d.session("thread")
	o := d.open("one", d.ledger, 0)
	s := &serving{desk: d}
	for i := range queued {
		d.say("thread", "q"+strconv.Itoa(i), "do it")
	}
	s.rounds(o, 2*queued+1)
	for i := range runs - queued {
		if d.say("thread", "m"+strconv.Itoa(i), "do it"); i == runs/3 {
			o = d.open("two", d.ledger, 0) // what is appended goes on from what is read
		}
		s.rounds(o, 3)
	}
	want := d.sessionHistory("thread").Runs
	if len(want) != runs {
		t.Fatalf("%d runs", len(want))
	}
	for number := range runs {
		if number%97 == 0 && !reflect.DeepEqual(d.shown(d.ledger, id, number+1), &want[number]) {
			t.Errorf("run %d is shown as %+v, want %+v", number+1, d.shown(d.ledger, id, number+1), want[number])
		}
	}
	core := &bustest.Meter{Core: d.ledger}
	for _, number := range []int{1, 2, queued, runs / 2, runs - 1, runs} {
		core.Reset()
		if run := d.shown(core, id, number); !reflect.DeepEqual(run, &want[number-1]) {
			t.Errorf("run %d is shown as %+v, want %+v", number, run, want[number-1])
		}
		messages, bytes := core.Count()
		if messages > most {
			t.Errorf("run %d of %d: %d messages are read", number, runs, messages)
		}
		t.Logf("run %d: %d messages, %d bytes", number, messages, bytes)
	}
	d.clean()
}

// TestARequestThatComesAgain: whoever asks again has the answer that was given, and
// finding it costs no more in a long session.
func TestARequestThatComesAgain_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core := &bustest.Meter{Core: d.ledger}
	o := d.open("one", core, 0)
	s := &serving{desk: d}
	request := schemas.EffectID("request", "again")
	ask := func() {
		body, err := schemas.Marshal(schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: request, From: "planner", To: "desk", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: d.now},
			Payload:  schemas.RequestPayload{PlanID: request, RequestID: request, Tasks: []schemas.Task{planTask("only")}},
		})
		d.must(err)
		d.put(bus.InSubject("agent", 0), &schemas.Event{
			ID: request, Source: "/podium/planner", Type: schemas.TypeExecutionRequest, Time: d.now, Profile: "desk", PartitionKey: "thread",
			DataContentType: schemas.MediaTypeJSON, Data: body,
		})
	}
	answers := func() []schemas.Event {
		return slices.DeleteFunc(d.events(bus.WorkStream, bus.ServiceSubject("desk", "response")), func(e schemas.Event) bool {
			return !strings.Contains(string(e.Data), request)
		})
	}
	d.say("thread", "first", "do it")
	s.rounds(o, 3)
	ask()
	s.rounds(o, 3)
	const runs = 400
	for i := range runs {
		d.say("thread", "m"+strconv.Itoa(i), "do it")
	}
	s.rounds(o, 2*runs+1)
	given := answers()
	core.Reset()
	ask()
	d.must(d.work(o))
	again := answers()
	if len(given) != 1 || len(again) != 2 || !reflect.DeepEqual(given[0], again[1]) {
		t.Fatalf("answered with %+v, then with %+v", given, again)
	}
	// The end of the run is found, then the state is read that led to it.
	if messages, _ := core.Count(); messages > 200 {
		t.Errorf("%d messages are read to answer again", messages)
	}
	d.clean()
}
