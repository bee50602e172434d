package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// deliverAll answers what is asked until nothing is open any more.
func (d *desk) deliverAll(o *supervisor.Owner, agents ...string) {
	d.tb.Helper()
	answered := map[string]bool{}
	for again := true; again; {
		again = false
		d.must(d.work(o))
		for _, agent := range agents {
			for _, request := range d.requests(agent) {
				if !answered[request.ID] {
					answered[request.ID], again = true, true
					d.answer(agent, &request, "done")
				}
			}
		}
	}
}

// TestDeepDataIsRefused: data that no later message could carry on costs the
// agent its attempt, and the run goes on with the next.
func TestDeepDataIsRefused_X06(t *testing.T) {
	t.Parallel()
	for depth, taken := range map[int]bool{1: true, 256: true, 257: false, 4000: false, 9996: false} {
		t.Run(strconv.Itoa(depth), func(t *testing.T) {
			t.Parallel()
			d := newSequenceDesk(t)
			first := d.open("first", d.ledger, 0)
			d.say("thread", "m1", "calculate this then summarize that")
			d.must(d.work(first))
			d.answerWithData(&d.requests("worker")[0], nested(depth))
			d.must(d.work(first))
			o := d.open("second", d.ledger, 0) // nothing of it halts a successor either
			d.must(d.work(o))
			found := d.refusals()
			if taken != (len(found) == 0) || !taken && (len(found) != 1 || found[0].Reason != schemas.QuarantineMalformed) {
				t.Fatalf("in quarantine: %d", len(found))
			}
			if !taken {
				if task := d.sessionHistory("thread").Run(1).Tasks[0]; task.Failure().Cause != schemas.FailureMalformed || task.Failure().Quarantine == "" {
					t.Errorf("its attempt failed by %q, in quarantine %q", task.Failure().Cause, task.Failure().Quarantine)
				}
				d.spin(o, 2*time.Second)
				asked := d.askedOf("thread")
				if len(asked) != 2 || asked[1].Attempt != 2 {
					t.Fatalf("%d requests", len(asked))
				}
				d.answer("worker", &asked[1], "done")
			}
			d.deliverAll(o, "worker", "chat")
			run := d.sessionHistory("thread").Run(1)
			if len(run.Tasks) != 2 || run.Phase != workflow.PhaseComplete || run.Status != schemas.RunCompleted {
				t.Errorf("the run of %d tasks is %s, %s", len(run.Tasks), run.Phase, run.Status)
			}
			d.clean()
		})
	}
}

// TestUnwritableOutputsStopNobody: when what a record owes cannot be written, the
// attempt fails by its deadline; the owner and the other sessions go on.
func TestUnwritableOutputsStopNobody(t *testing.T) {
	t.Parallel()
	d := newSequenceDesk(t)
	var answer uint64
	var deep *bus.Message
	core := &forged{Core: d.ledger, change: func(message bus.Message) bus.Message {
		if deep != nil && message.Sequence == answer {
			message.Header, message.Body = deep.Header, deep.Body
		}
		return message
	}}
	o := d.open("one", core, 0)
	d.say("thread", "m1", "calculate this then summarize that")
	d.must(d.work(o))
	request := d.requests("worker")[0]
	forgery, err := binding.Encode(bus.ResponseSubject("worker", 0), d.dataEvent(&request, nested(9996)))
	d.must(err)
	deep = &forgery
	large := "[" + strings.Repeat("0,", schemas.RecordInlineLimit) + "0]" // held by reference
	answer = d.answerWithData(&request, large)
	d.must(d.work(o))
	if asked := d.askedOf("thread"); len(asked) != 1 {
		t.Fatalf("%d requests; the second was meant to be unwritable", len(asked))
	}
	if tasks := d.sessionHistory("thread").Run(1).Tasks; tasks[1].State != workflow.TaskDispatched {
		t.Fatalf("the second task is %s", tasks[1].State)
	}
	d.say("other", "m2", "calculate this")
	d.must(d.work(o))
	if len(d.askedOf("other")) != 1 || o.Busy() {
		t.Errorf("the other session got %d requests; busy %v", len(d.askedOf("other")), o.Busy())
	}
	deep = nil
	d.spin(o, time.Minute+2*time.Second)
	d.deliverAll(o, "worker", "chat")
	run := d.sessionHistory("thread").Run(1)
	if run.Tasks[1].Attempt != 2 || run.Status != schemas.RunCompleted {
		t.Errorf("attempt %d, the run is %s", run.Tasks[1].Attempt, run.Status)
	}
	d.clean()
}

// TestLongAttributesAreMalformed: what records carry on from an answer is
// bounded; an answer beyond the bound costs the agent its attempt, and no more.
func TestLongAttributesAreMalformed_X06(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id    string
		taken bool
	}{
		"1 KiB":          {strings.Repeat("i", 1<<10), true},
		"1 KiB and one":  {strings.Repeat("i", 1<<10+1), false},
		"400 KiB, UTF-8": {strings.Repeat("é", 200<<10), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			request := d.requests("worker")[0]
			data, err := schemas.Marshal(d.response("worker", &request, "done"))
			d.must(err)
			_, err = bus.Append(t.Context(), d.ledger, bus.Message{
				Subject: bus.ResponseSubject("worker", 0), Header: bus.Header{"content-type": {"application/cloudevents+json"}},
				Body: fmt.Appendf(nil, `{"specversion":"1.0","id":"%s","source":"/x","type":"%s","datacontenttype":"application/json","data":%s}`,
					test.id, schemas.TypeExecutionResponse, data),
			}, bus.Expect{})
			d.must(err)
			d.must(d.work(o))
			found := d.refusals()
			task := d.sessionHistory("thread").Run(1).Tasks[0]
			if test.taken {
				if len(found) != 0 || task.State != workflow.TaskCompleted {
					t.Errorf("the task is %s, %d in quarantine", task.State, len(found))
				}
				return
			}
			if len(found) != 1 || found[0].Reason != schemas.QuarantineMalformed || o.Busy() ||
				task.State != workflow.TaskWaiting || task.Failure().Cause != schemas.FailureMalformed || task.Attempt != 1 {
				t.Fatalf("the task is %s by %q, %d in quarantine, busy %v", task.State, task.Failure().Cause, len(found), o.Busy())
			}
			d.spin(o, 2*time.Second)
			d.deliverAll(o, "worker", "chat")
			if run := d.sessionHistory("thread").Run(1); run.Status != schemas.RunCompleted {
				t.Errorf("the run is %s", run.Status)
			}
			d.clean()
		})
	}
}

// TestUnstorableInputsAreQuarantined: an input whose record the ledger can never
// take is given up, not tried forever.
func TestUnstorableInputsAreQuarantined_X06(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"too large": bus.ErrTooLarge, "no event": schemas.ErrInvalidEvent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			unstorable := ""
			core := &strict{Core: d.ledger, refuse: func(message bus.Message) error {
				if id, _ := d.session(unstorable); message.Subject == bus.SessionSubject(id, 1) {
					return fmt.Errorf("publish: %w", cause)
				}
				return nil
			}}
			o := d.open("one", core, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			unstorable = "thread"
			request := d.requests("worker")[0]
			sequence := d.answer("worker", &request, "done")
			d.must(d.work(o))
			found := d.refusals()
			if len(found) != 1 || found[0].Reason != schemas.QuarantineMalformed || found[0].Sequence != sequence || o.Busy() {
				t.Fatalf("%d in quarantine, busy %v", len(found), o.Busy())
			}
			unstorable = "new"
			sequence = d.say("new", "m2", "do it")
			d.must(d.work(o))
			if found = d.refusals(); len(found) != 2 || found[1].Sequence != sequence || o.Busy() || o.Watermark() != sequence {
				t.Fatalf("%d in quarantine, busy %v, low watermark %d of %d", len(found), o.Busy(), o.Watermark(), sequence)
			}
			unstorable = ""
			d.say("new", "m3", "do it")
			d.spin(o, time.Minute+2*time.Second)
			d.deliverAll(o, "worker", "chat")
			for _, thread := range []string{"thread", "new"} {
				if run := d.sessionHistory(thread).Run(1); run == nil || run.Status != schemas.RunCompleted {
					t.Errorf("%s: the run is %+v", thread, run)
				}
			}
			d.clean()
		})
	}
}

// TestAGivenUpSessionKeepsNoOrphanWaiting: a session that was forgotten before the ledger
// took anything of it does not make every later orphan wait for the low watermark.
func TestAGivenUpSessionKeepsNoOrphanWaiting(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	gone, _ := d.session("gone")
	bad, _ := d.session("bad")
	slow, heal := refusing(d.ledger, func(m bus.Message) bool {
		return m.Subject == bus.RequestSubject("worker") && strings.Contains(string(m.Body), bad)
	})
	o := d.open("one", &strict{Core: slow, refuse: func(message bus.Message) error {
		if message.Subject == bus.SessionSubject(gone, 1) {
			return bus.ErrTooLarge
		}
		return nil
	}}, 0)
	d.say("gone", "m1", "do it")
	d.spin(o, 5*time.Second)
	d.say("bad", "m2", "do it")
	d.must(d.work(o))
	d.bareAnswer()
	d.say("thread", "m3", "do it")
	d.spin(o, 5*time.Second)
	if len(d.askedOf("thread")) != 1 || len(d.refusals()) != 2 {
		t.Errorf("%d requests, %d in quarantine", len(d.askedOf("thread")), len(d.refusals()))
	}
	heal()
	d.spin(o, 10*time.Second)
	d.clean()
}

// TestManyMailsWithLongSubjects: a thread's queue stays small, whatever the mails
// in it bring along, and each of them is answered.
func TestManyMailsWithLongSubjects_G33(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(func(profile *schemas.Profile) { profile.Conversation.RepliesPerHour = schemas.MaxRepliesPerHour })
	o := d.open("one", d.ledger, 0)
	subject := strings.Repeat("s", 1<<20)
	const mails = 48
	for i := range uint32(mails) {
		body, err := schemas.Marshal(schemas.EmailReceived{
			Account: "a", Mailbox: "INBOX", UIDValidity: 1, UID: i + 1,
			From: []schemas.Address{{Name: subject[:1<<10], Address: "ana@example.org"}}, AnswerTo: schemas.Address{Name: subject[:1<<10], Address: "ana@example.org"}, Subject: subject, Received: d.now,
			Text: "how much?", Class: schemas.MailHuman, Parse: schemas.ParseOK, References: []string{"root"}, MessageID: strconv.FormatUint(uint64(i), 10),
			Raw: schemas.Artifact{SHA256: strings.Repeat("a", 64), Size: 1, MediaType: "message/rfc822"},
		})
		d.must(err)
		event := schemas.Event{
			ID: fmt.Sprint("mail", i), Source: "/imap", Type: schemas.TypeEmailReceived, Time: d.now, Profile: "desk",
			PartitionKey: "thread", DataContentType: schemas.MediaTypeJSON, Data: body,
		}
		d.must(artifact.Offload(t.Context(), d.ledger.Artifacts(), &event))
		d.put(bus.InSubject("mail", 0), &event)
	}
	d.must(d.work(o))
	queued := 0
	for _, record := range d.records("thread") {
		for fact := range record.AllFacts() {
			f := schemas.As[*schemas.MessageReceived](fact)
			if f == nil || f.Disposition != schemas.DispositionQueued {
				continue
			}
			queued++
			if f.Message.Text.Sequence != f.Sequence || f.Message.Text.Result.Text != "" {
				t.Fatalf("the words of message %d stand in its record", f.Sequence)
			}
		}
		if body, err := schemas.Marshal(record); err != nil || len(body) > mails*4<<10 {
			t.Fatalf("record %d has %d bytes (%v)", record.Number, len(body), err)
		}
	}
	if queued != mails-1 {
		t.Fatalf("%d mails in the queue", queued)
	}
	d.deliverAll(o, "worker", "mail")
	folded := d.sessionHistory("thread")
	for i := range folded.Runs {
		if run := &folded.Runs[i]; run.Phase != workflow.PhaseComplete || run.Status != schemas.RunCompleted {
			t.Errorf("run %d is %s, %s", run.Number, run.Phase, run.Status)
		}
	}
	if found := d.refusals(); len(found) != 0 || len(folded.Runs) != mails || o.Busy() {
		t.Errorf("%d runs, %d in quarantine, busy %v", len(folded.Runs), len(found), o.Busy())
	}
	d.clean()
}

// records are those of a thread, oldest first.
func (d *desk) records(thread string) (records []schemas.Record) {
	d.tb.Helper()
	id, shard := d.session(thread)
	for _, event := range d.events(bus.ShardStream(shard), bus.SessionSubject(id, d.ledger.Shards())) {
		d.must(artifact.Resolve(context.Background(), d.ledger.Artifacts(), &event))
		var record schemas.Record
		d.must(schemas.Unmarshal(event.Data, &record))
		records = append(records, record)
	}
	return records
}

// TestABodyThatBreaksOffIsReadAgain: an error of the connection is no fault of
// the message.
func TestABodyThatBreaksOffIsReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core := &flaky{Core: d.ledger}
	o := d.open("one", core, 0)
	d.sayByReference("thread", "m1")
	core.left = 3
	d.must(d.work(o))
	if len(d.requests("worker")) != 0 || core.left != 2 {
		t.Fatalf("%d requests after %d tries", len(d.requests("worker")), 3-core.left)
	}
	d.spin(o, 5*time.Second)
	if len(d.requests("worker")) != 1 || len(d.refusals()) != 0 || core.left != 0 || o.Busy() {
		t.Errorf("%d requests, %d in quarantine, busy %v", len(d.requests("worker")), len(d.refusals()), o.Busy())
	}
	d.clean()
}

// TestAMissingBodyIsQuarantined: what the object store does not have is given up
// before anything behind it is decided, also when the owner dies in between.
func TestAMissingBodyIsQuarantined_X06(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core, _ := refusing(d.ledger, func(m bus.Message) bool { return strings.HasPrefix(m.Subject, "podium.dead.") })
	first := d.open("first", core, 0)
	missing := d.put(bus.InSubject("chat", 0), &schemas.Event{
		ID: "m1", Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "desk", PartitionKey: "thread",
		DataContentType: schemas.MediaTypeJSON, Artifact: &schemas.Artifact{SHA256: strings.Repeat("a", 64), Size: 1 << 20},
	})
	d.say("thread", "m2", "do it")
	d.spin(first, 5*time.Second)
	id, _ := d.session("thread")
	if _, err := d.ledger.Last(t.Context(), bus.SessionSubject(id, 1)); !errors.Is(err, bus.ErrNotFound) || first.Watermark() >= missing {
		t.Fatalf("the session went on before the quarantine was stored (%v), low watermark %d", err, first.Watermark())
	}
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	found := d.refusals()
	if len(found) != 1 || found[0].Sequence != missing || found[0].Reason != schemas.QuarantineMalformed {
		t.Errorf("in quarantine: %d", len(found))
	}
	if len(d.askedOf("thread")) != 1 || second.Busy() {
		t.Errorf("%d requests for the message behind it, busy %v", len(d.askedOf("thread")), second.Busy())
	}
	d.clean()
}
