package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// An unaware desk has two owners. The former one, which has not heard yet that it is
// one, has made an attempt after the takeover; the owner knows of the one before it.
type unawareDesk struct {
	*desk
	owner   *supervisor.Owner
	former  *supervisor.Owner
	request *schemas.Event // the second attempt's
}

func newUnawareDesk(t *testing.T, core func(bus.Core) bus.Core) *unawareDesk {
	t.Helper()
	u := &unawareDesk{desk: newDesk(t, 1)}
	taken := false
	u.former = u.open("former", &trouble{Core: u.ledger, lose: func(message bus.Message) fate {
		if taken && message.Subject == bus.ShardSubject(0) {
			return silent // by its checkpoint it would hear of it
		}
		return stored
	}}, 0)
	u.say("thread", "m1", "do it")
	u.must(u.work(u.former))
	u.refuse("worker", u.last("worker"))
	u.must(u.work(u.former))
	u.owner = u.open("owner", core(u.ledger), 0)
	u.must(u.work(u.owner))
	taken = true
	u.now = u.now.Add(time.Second)
	u.must(u.work(u.former)) // its append is the next one, so that it succeeds
	if u.request = u.last("worker"); u.request.Attempt != 2 || u.task().Attempt != 2 {
		t.Fatalf("attempt %d is under way", u.request.Attempt)
	}
	return u
}

func healthy(core bus.Core) bus.Core { return core }

func (u *unawareDesk) task() *workflow.Task { return u.sessionHistory("thread").Run(1).Tasks[0] }

// goOn lets the owner work for a while, and fails when anything is in quarantine.
func (u *unawareDesk) goOn(t *testing.T) {
	t.Helper()
	u.must(u.work(u.owner))
	u.spin(u.owner, 2*time.Second)
	for _, refused := range u.refusals() {
		t.Errorf("%s is in quarantine: %s, %s", refused.Subject, refused.Reason, refused.Detail)
	}
}

// TestAnswerToAFormerOwnersRequest: an answer to a request that a former owner has
// made after the takeover is nobody's by what the owner remembers. It looks again.
func TestAnswerToAFormerOwnersRequest_X03(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(d *desk, agent string, request *schemas.Event, text string) uint64{
		"an event": (*desk).answer, "a bare message": (*desk).answerBare,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUnawareDesk(t, healthy)
			answer(u.desk, "worker", u.request, "done at last")
			u.goOn(t)
			if task := u.task(); task.State != workflow.TaskCompleted || task.Attempt != 2 {
				t.Errorf("attempt %d is %s: its answer is lost", task.Attempt, task.State)
			}
			u.clean()
		})
	}
}

// TestSignOfLifeToAFormerOwnersRequest: nor is a sign of life passed by, whatever it
// names: without it, the attempt would count as not begun.
func TestSignOfLifeToAFormerOwnersRequest_X03(t *testing.T) {
	t.Parallel()
	bare := func(u *unawareDesk, inReplyTo string) {
		u.bare(bus.ProgressSubject("worker", 0), schemas.ProgressUpdate{
			Envelope: schemas.Envelope{
				MessageID: schemas.EffectID("progress", "1"), From: "worker", To: "supervisor",
				Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: u.now, InReplyTo: inReplyTo,
			},
			Payload: schemas.ProgressPayload{
				PlanID:          schemas.PlanID(u.request.CorrelationID),
				TasksInProgress: []schemas.TaskInProgress{{TaskID: "t1", Agent: "worker", StartedAt: u.now}},
			},
		})
	}
	for name, progress := range map[string]func(u *unawareDesk){
		"an event":                   func(u *unawareDesk) { u.progress("worker", u.request) },
		"bare, it names its request": func(u *unawareDesk) { bare(u, u.request.ID) },
		"bare, it names its plan":    func(u *unawareDesk) { bare(u, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUnawareDesk(t, healthy)
			progress(u)
			u.goOn(t)
			if task := u.task(); task.State != workflow.TaskRunning {
				t.Errorf("attempt %d is %s", task.Attempt, task.State)
			}
			u.clean()
		})
	}
}

// TestQuestionAboutAFormerOwnersRequest: an agent that asks for a permit by such a
// request gets it, and is not told that nobody waits for it.
func TestQuestionAboutAFormerOwnersRequest_X03(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]func(bus.Header) bus.Header{
		"an event":       func(header bus.Header) bus.Header { return header },
		"a bare message": func(bus.Header) bus.Header { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUnawareDesk(t, healthy)
			id := schemas.PlanID("question")
			message, _, err := agent.PermitRequest("worker", u.request, id, "", u.now)
			u.must(err)
			message.Header = header(message.Header)
			_, err = bus.Append(t.Context(), u.ledger, message, bus.Expect{})
			u.must(err)
			worker := u.ledger.Worker("worker")
			u.goOn(t)
			u.mustHear(worker, granted(id))
			u.clean()
		})
	}
}

// TestLeaveThatAFormerOwnerHasEnded: who has not heard that it may act, and asks
// again, is told what holds by the ledger, and not what the owner remembers.
func TestLeaveThatAFormerOwnerHasEnded_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	taken := false
	former := d.open("former", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if taken && message.Subject == bus.ShardSubject(0) {
			return silent
		}
		return stored
	}}, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(former))
	request := d.last("worker")
	worker := d.ledger.Worker("worker")
	id := d.question("worker", request)
	d.must(d.work(former))
	d.mustHear(worker, granted(id))
	owner := d.open("owner", d.ledger, 0)
	d.must(d.work(owner))
	hear(worker) // whoever loads a session says again what its last record says
	taken = true
	d.now = d.now.Add(time.Minute)
	d.must(d.work(former)) // by its clock, the attempt has taken too long
	if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state == workflow.TaskRunning {
		t.Fatalf("the attempt is %s", state)
	}
	d.now = d.now.Add(-time.Second)
	d.questionAgain("worker", request, id)
	d.must(d.work(owner))
	d.mustHear(worker, refusedAs(id, schemas.PermitStale))
	d.clean()
}

// TestRequestThatAFormerOwnerHasAnswered: a request that comes again is answered
// again when its run has ended, also if a former owner has ended it.
func TestRequestThatAFormerOwnerHasAnswered_X03(t *testing.T) {
	t.Parallel()
	d := asked(t)
	taken := false
	former := d.open("former", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if taken && message.Subject == bus.ShardSubject(0) {
			return silent
		}
		return stored
	}}, 0)
	d.must(d.work(former))
	owner := d.open("owner", d.ledger, 0)
	d.must(d.work(owner))
	taken = true
	answers := func() int { return len(d.events(bus.ShardStream(0), bus.ResponseSubject("desk", 0))) }
	d.now = d.now.Add(time.Minute + time.Second)
	d.must(d.work(former)) // by its clock, the run has expired
	if n := answers(); n != 1 {
		t.Fatalf("%d answers by the former owner", n)
	}
	d.now = d.now.Add(-10 * time.Second)
	again := d.events(bus.ShardStream(0), bus.InSubject("agent", 0))[0]
	d.put(bus.InSubject("agent", 0), &again)
	d.must(d.work(owner))
	if n := answers(); n < 2 {
		t.Errorf("%d answers: whoever has asked again hears nothing", n)
	}
	d.clean()
}

// TestUnstorableByAnOldState: what cannot be stored because of what an owner
// remembers may be storable by what the ledger says.
func TestUnstorableByAnOldState_X03(t *testing.T) {
	t.Parallel()
	old := 0
	u := newUnawareDesk(t, func(core bus.Core) bus.Core {
		return &expecting{Core: core, refuse: func(message bus.Message, expect bus.Expect) error {
			newest, err := core.Last(context.Background(), message.Subject)
			if message.Subject == bus.ShardSubject(0) || !expect.Check || err == nil && newest.Sequence == expect.Last || errors.Is(err, bus.ErrNotFound) {
				return nil
			}
			old++
			return fmt.Errorf("publish: %w", bus.ErrTooLarge)
		}}
	})
	u.now = u.now.Add(-time.Second) // by the owner's clock it is no time for the next attempt yet
	u.say("thread", "m2", "and this")
	u.must(u.work(u.owner))
	if found := u.refusals(); len(found) != 0 || old == 0 {
		t.Errorf("%d in quarantine after %d tries by an old state", len(found), old)
	}
	if u.facts("thread", func(f schemas.Fact) bool {
		return schemas.As[*schemas.MessageReceived](f) != nil && schemas.As[*schemas.MessageReceived](f).ID == "m2"
	}) != 1 {
		t.Error("the message is lost")
	}
	u.clean()
}

// An expecting ledger never takes some appends.
type expecting struct {
	bus.Core
	refuse func(bus.Message, bus.Expect) error
}

func (c *expecting) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if err := c.refuse(message, expect); err != nil {
		done(bus.Ack{}, err)
		return
	}
	c.Core.Publish(message, expect, done)
}

// TestFormerOwnerRefusesNothing: a former owner that reads the answer to a request
// of its successor hears by it that it is one, and puts nothing into quarantine.
func TestFormerOwnerRefusesNothing_X03(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(d *desk, agent string, request *schemas.Event, text string) uint64{
		"an event": (*desk).answer, "a bare message": (*desk).answerBare,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			former := d.open("former", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(former))
			d.refuse("worker", d.last("worker"))
			d.must(d.work(former))
			owner := d.open("owner", d.ledger, 0)
			d.must(d.work(owner))
			d.now = d.now.Add(time.Second)
			d.must(d.work(owner))
			request := d.last("worker")
			if request.Attempt != 2 {
				t.Fatalf("attempt %d is under way", request.Attempt)
			}
			d.now = d.now.Add(-time.Second) // by its clock it is no time for the next attempt yet
			answer(d, "worker", request, "done")
			if err := d.work(former); !errors.Is(err, supervisor.ErrNotOwner) {
				t.Errorf("the former owner works on: %v", err)
			}
			if found := d.refusals(); len(found) != 0 {
				t.Errorf("%d in quarantine", len(found))
			}
			d.must(d.work(owner))
			if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state != workflow.TaskCompleted {
				t.Errorf("the task is %s", state)
			}
			d.clean()
		})
	}
}

// counting counts how often the newest records are asked for.
type counting struct {
	bus.Core
	sessions int  // one at a time
	shards   int  // many at a time
	fail     int  // so many times from now on
	blind    bool // many at a time are never found
}

func (c *counting) Last(ctx context.Context, subject string) (bus.Message, error) {
	if parsed, err := bus.ParseSubject(subject); err == nil && parsed.Kind == bus.KindSession {
		c.sessions++
		if c.fail > 0 {
			c.fail--
			return bus.Message{}, &bus.TemporaryError{Op: "get", Err: context.DeadlineExceeded}
		}
	}
	return c.Core.Last(ctx, subject)
}

func (c *counting) LastOf(ctx context.Context, shard int, subjects []string) ([]bus.Message, error) {
	c.shards++
	if c.fail > 0 || c.blind {
		c.fail--
		return nil, &bus.TemporaryError{Op: "get many", Err: context.DeadlineExceeded}
	}
	return c.Core.LastOf(ctx, shard, subjects)
}

// TestUsualWayLooksAtNothing: as long as nothing is refused, no session is read that
// is in memory, however many signs of life change nothing.
func TestUsualWayLooksAtNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core := &counting{Core: d.ledger}
	o := d.open("one", core, 0)
	before := core.shards
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	request := d.last("worker")
	for range 5 {
		d.progress("worker", request)
		d.must(d.work(o))
	}
	d.say("thread", "m1", "do it") // a repeat
	d.deliverAll(o, "worker", "chat")
	d.answer("worker", request, "done") // another one
	d.must(d.work(o))
	if core.sessions != 0 || core.shards != before {
		t.Errorf("%d and %d looks", core.sessions, core.shards-before)
	}
	d.clean()
}

// TestFloodOfRefusalsIsBounded: what an agent makes up about a session is refused by
// one look at it for all that has been read, and not by one for each.
func TestFloodOfRefusalsIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core := &counting{Core: d.ledger}
	o := d.open("one", core, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	request := *d.last("worker")
	const flood = 500
	made := request
	for n := range flood {
		made.ID = schemas.RequestID(0, 1, "nobody", "t1", n+1)
		d.answer("worker", &made, "made up")
		d.progress("worker", &made)
	}
	d.answer("worker", &request, "done")
	core.fail = 2 // a look that fails is tried again, and refuses nothing
	d.spin(o, time.Second)
	if found := d.refusals(); len(found) != flood {
		t.Errorf("%d of %d are in quarantine", len(found), flood)
	}
	if core.sessions > 3 {
		t.Errorf("%d looks", core.sessions)
	}
	if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state != workflow.TaskCompleted {
		t.Errorf("the task is %s", state)
	}
	d.clean()
}
