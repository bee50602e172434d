package supervisor_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor"
)

// withheld has an owner whose operations wait until they are let go.
func (d *desk) withheld() (o *supervisor.Owner, held *[]func()) {
	d.tb.Helper()
	held, holding := &[]func(){}, false
	o = supervisor.NewOwner(supervisor.Config{
		Shard: 0, Name: "one", Core: d.ledger, Profiles: d.profiles, Log: zerolog.Nop(),
		Go: func(operation func()) {
			if holding {
				*held = append(*held, operation)
				return
			}
			operation()
		},
	})
	d.must(o.Open(d.tb.Context(), d.now))
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	holding = true
	return o, held
}

// respondBy publishes a response of the worker to a request, with a body by reference, and returns the event.
func (d *desk) respondBy(request *schemas.Event, causation string, text string) {
	d.tb.Helper()
	response := d.response("worker", request, text)
	body, err := schemas.Marshal(response)
	d.must(err)
	event := schemas.Event{
		ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: causation, Attempt: 1, DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(artifact.Offload(context.Background(), d.ledger.Artifacts(), &event))
	d.put(bus.ResponseSubject("worker", 0), &event)
}

// TestAStallIsSeen: a shard stalls when an input has waited for ten seconds and nothing was decided meanwhile, and no longer once
// something is. A shard without an input does not, however long it has nothing to do.
func TestAStallIsSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o, held := d.withheld()
	stalls := func(after time.Duration) bool {
		d.now = d.now.Add(after)
		_, stalled := o.CheckStall(d.now)
		return stalled
	}
	if stalls(0) || stalls(time.Hour) {
		t.Error("a shard stalls without an input")
	}
	d.respondBy(d.last("worker"), d.last("worker").ID, strings.Repeat("x", artifact.MessageInlineLimit+1))
	d.must(d.work(o))
	if stalls(0) || stalls(supervisor.StalledAfter-time.Second) {
		t.Error("it stalls too early")
	}
	if !stalls(time.Second) {
		t.Error("it does not stall, with an input that has waited for ten seconds")
	}
	for len(*held) > 0 {
		next := (*held)[0]
		*held = (*held)[1:]
		next()
		d.must(d.work(o))
	}
	if stalls(0) {
		t.Error("it stalls once the input was decided")
	}
}

// TestLongBodiesAreReadBesideTheLoop: while the body of a response is fetched and parsed, or a long one of a message is parsed, other
// sessions go on.
func TestLongBodiesAreReadBesideTheLoop(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(d *desk){
		"by reference": func(d *desk) {
			d.respondBy(d.last("worker"), d.last("worker").ID, strings.Repeat("x", artifact.MessageInlineLimit+1))
		},
		"in the message": func(d *desk) { d.answer("worker", d.last("worker"), strings.Repeat("x", 100<<10)) },
		"of a person":    func(d *desk) { d.say("long", "m2", strings.Repeat("x ", 50<<10)) },
		"of persons, more than a shard holds at a time": func(d *desk) {
			for i := range 30 {
				d.say("long"+strconv.Itoa(i), "m2", strings.Repeat("x ", 50<<10))
			}
		},
	} {
		d := newDesk(t, 1)
		o, held := d.withheld()
		o.MaxBytes = 2 << 20
		send(d)
		d.must(d.work(o))
		if loads := *held; len(loads) > 1 { // of sessions that are not known yet
			*held = nil
			for _, load := range loads {
				load()
			}
			d.must(d.work(o))
		}
		if len(*held) != 1 {
			t.Fatalf("%s: %d operations are under way, want the one that reads the body", name, len(*held))
		}
		d.say("other", "m3", "do this")
		d.must(d.work(o))
		if len(d.requests("worker")) != 2 {
			t.Errorf("%s: the other session does not go on", name)
		}
	}
}

// TestUnknownResponsesAreRefusedByTheirHeaders: the body that a response refers to is not looked for when its headers name no request,
// or none that its session has made; here there is none.
func TestUnknownResponsesAreRefusedByTheirHeaders(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o, request := d.asks()
	missing := strings.Repeat("b", 64)
	for _, causation := range []string{"", uuid.NewString()} {
		d.put(bus.ResponseSubject("worker", 0), &schemas.Event{
			ID: uuid.NewString(), Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now, CausationID: causation,
			DataContentType: schemas.MediaTypeJSON, Artifact: &schemas.Artifact{SHA256: missing, Size: 58 << 20, Grant: d.grants().Put("worker", missing)},
		})
	}
	d.must(d.work(o))
	found := d.quarantined(0)
	if len(found) != 2 {
		t.Fatalf("%d in quarantine, want 2", len(found))
	}
	for i := range found {
		if found[i].Reason != schemas.QuarantineUnknownRun || !strings.Contains(found[i].Detail, "its body was not read") {
			t.Errorf("%s: %s", found[i].Reason, found[i].Detail)
		}
	}
	d.answer("worker", request, "done")
	d.must(d.work(o))
	if run := d.sessionHistory("thread").Run(1); run.Tasks[0].Failure().Cause != "" {
		t.Errorf("the attempt has failed: %s", run.Tasks[0].Failure().Cause)
	}
}

// TestProgressByReferenceIsRefused: nothing is fetched for it.
func TestProgressByReferenceIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o, request := d.asks()
	missing := strings.Repeat("b", 64)
	d.put(bus.ProgressSubject("worker", 0), &schemas.Event{
		ID: uuid.NewString(), Source: "/podium/worker", Type: schemas.TypeProgressUpdate, Subject: request.Subject, Time: d.now, CausationID: request.ID,
		DataContentType: schemas.MediaTypeJSON, Artifact: &schemas.Artifact{SHA256: missing, Size: 58 << 20, Grant: d.grants().Put("worker", missing)},
	})
	d.must(d.work(o))
	if found := d.quarantined(0); len(found) != 1 || !strings.Contains(found[0].Detail, "its body is a reference") {
		t.Errorf("%+v", found)
	}
}

// TestTooManyValuesFailTheAttempt: a response of few bytes and very many values is not parsed; the attempt that it answers has failed.
func TestTooManyValuesFailTheAttempt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o, request := d.asks()
	response := d.response("worker", request, "")
	response.Payload.Result = &schemas.Result{Data: []byte("[" + strings.Repeat("0,", schemas.MaxValues) + "0]")}
	body, err := schemas.Marshal(response)
	d.must(err)
	event := schemas.Event{
		ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, Attempt: 1, DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(artifact.Offload(context.Background(), d.ledger.Artifacts(), &event))
	d.put(bus.ResponseSubject("worker", 0), &event)
	d.must(d.work(o))
	failure := d.sessionHistory("thread").Run(1).Tasks[0].Failure()
	if failure.Cause != schemas.FailureMalformed || !strings.Contains(failure.Detail, "JSON values") {
		t.Errorf("the attempt has failed as %q: %s", failure.Cause, failure.Detail)
	}
}
