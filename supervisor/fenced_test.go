package supervisor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// answerBare publishes an answer as any client may write it: only the request that
// it names says whose it is.
func (d *desk) answerBare(agent string, request *schemas.Event, text string) uint64 {
	d.tb.Helper()
	body, err := schemas.Marshal(d.response(agent, request, text))
	d.must(err)
	shard, _ := schemas.ShardOfRequest(request.ID)
	ack, err := bus.Append(d.tb.Context(), d.ledger, bus.Message{Subject: bus.ResponseSubject(agent, shard), Body: body}, bus.Expect{})
	d.must(err)
	return ack.Sequence
}

// isNobodys reports whether a message is an answer to nobody, in quarantine.
func isNobodys(message bus.Message) bool {
	return strings.HasPrefix(message.Subject, "podium.dead.")
}

// TestOrphanIsNotPassed: an owner that does not know of a request, because
// a former one has made it, has to look whose the answer is. If it dies before it has,
// no session has taken anything behind it, and its successor finds it.
func TestOrphanIsNotPassed_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	unaware, dies := false, false
	former := d.open("former", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if unaware && message.Subject == bus.ShardSubject(0) {
			return silent // by its checkpoint it would learn that it is a former one
		}
		return stored
	}}, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(former))
	owner := d.openWith(d.ledger, func(config *supervisor.Config) {
		config.Go = func(operation func()) {
			if !dies {
				operation()
			}
		}
	})
	unaware = true
	d.refuse("worker", d.last("worker"))
	d.must(d.work(former))
	d.must(d.work(owner))
	d.now = d.now.Add(time.Second)
	d.must(d.work(former)) // makes the second attempt, by its clock
	d.now = d.now.Add(-time.Second)
	request := d.last("worker")
	if request.Attempt != 2 {
		t.Fatalf("attempt %d is under way", request.Attempt)
	}
	dies = true
	d.answerBare("worker", request, "done at last")
	d.say("thread", "m2", "and more")
	d.must(d.work(owner))
	d.now = d.now.Add(100 * time.Millisecond)
	d.must(d.work(owner))
	if found := d.refusals(); len(found) != 0 || d.sessionHistory("thread").Run(1).Tasks[0].State != workflow.TaskDispatched {
		t.Fatalf("%d are in quarantine, and it has looked already", len(found))
	}
	successor := d.open("successor", d.ledger, 0)
	d.must(d.work(successor))
	if task := d.sessionHistory("thread").Run(1).Tasks[0]; task.State != workflow.TaskCompleted || task.Attempt != 2 {
		t.Errorf("attempt %d is %s, and its answer is lost", task.Attempt, task.State)
	}
	d.clean()
}

// TestOrphansHoldNobodyUp: what was read behind an answer to nobody goes on, whether
// that is in quarantine or not, and other orphans do not wait for it.
func TestOrphansHoldNobodyUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	view, heal := refusing(d.ledger, isNobodys)
	o := d.open("one", view, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	orphan := *d.last("worker")
	for n := range 3 {
		orphan.ID = schemas.RequestID(0, 1, "nobody", "t1", n+1)
		d.answerBare("worker", &orphan, "hello")
	}
	d.answerBare("worker", d.last("worker"), "done")
	d.must(d.work(o))
	if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state != workflow.TaskCompleted || len(d.refusals()) != 0 {
		t.Errorf("the task is %s, while what came before waits for the quarantine", state)
	}
	heal()
	d.spin(o, time.Second)
	if orphans := d.refusals(); len(orphans) != 3 {
		t.Errorf("%d messages are in quarantine", len(orphans))
	}
	d.clean()
}

// TestLaterOwnerEndsTheFormerOne: whoever finds the record of a later owner in a
// session, known to it or not, does not own the shard and stops there.
func TestLaterOwnerEndsTheFormerOne_X03(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"Known": true, "Unknown": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			former := d.open("former", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
				if message.Subject == bus.ShardSubject(0) && strings.Contains(string(message.Body), `"since"`) {
					return silent // by its checkpoint it would learn that it is a former one
				}
				return stored
			}}, 0)
			if begins {
				d.say("thread", "m1", "do it")
				d.must(d.work(former))
			}
			owner := d.open("owner", d.ledger, 0)
			d.say("thread", "m2", "do this, too")
			d.must(d.work(owner))
			records := len(d.records("thread"))
			if err := d.work(former); !errors.Is(err, supervisor.ErrNotOwner) {
				t.Errorf("the former owner works on: %v", err)
			}
			if after := len(d.records("thread")); after != records {
				t.Errorf("it has written %d records", after-records)
			}
			d.clean()
		})
	}
}

// overtaken is a view of the ledger on which somebody else is quicker: once, before
// the sessions of a shard are loaded.
type overtaken struct {
	bus.Core
	before func()
}

func (o *overtaken) LastOf(ctx context.Context, shard int, subjects []string) ([]bus.Message, error) {
	if before := o.before; before != nil {
		o.before = nil
		before()
	}
	return o.Core.LastOf(ctx, shard, subjects)
}

// TestOvertakenTakeover: a takeover ends when somebody else has taken the shard over
// in the middle of it, and has written to a session.
func TestOvertakenTakeover_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.spin(first, 3*time.Second)
	slow := d.owner("slow", &overtaken{Core: d.ledger, before: func() {
		quick := d.open("quick", d.ledger, 0)
		d.answerNewest("worker", "done")
		d.must(d.work(quick))
	}}, 0)
	if err := slow.Open(t.Context(), d.now); !errors.Is(err, supervisor.ErrNotOwner) {
		t.Errorf("the takeover ends with %v", err)
	}
	d.clean()
}

// TestAnswerOvertakenByAFormerOwner: an owner that knows of a run gives it an answer,
// while a former one has ended the run and lets what comes behind the answer pass. When
// the former one dies, the answer is in quarantine, or on record if it was taken.
func TestAnswerOvertakenByAFormerOwner_X06(t *testing.T) {
	t.Parallel()
	for name, inTime := range map[string]bool{"TooLate": false, "InTime": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			taken, dies := false, false
			former := d.openAs("former", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
				if taken && message.Subject == bus.ShardSubject(0) {
					return silent // by its checkpoint it would learn that it is a former one
				}
				return stored
			}}, 0, func(config *supervisor.Config) {
				config.Go = func(operation func()) {
					if !dies {
						operation()
					}
				}
			})
			d.say("thread", "m1", "do it")
			d.must(d.work(former))
			request := d.last("worker")
			owner := d.open("owner", d.ledger, 0)
			d.must(d.work(owner))
			taken = true
			if inTime {
				d.answerBare("worker", request, "done")
			}
			d.cancel("thread")
			d.must(d.work(former))
			d.answerNewest("chat", "sent")
			d.must(d.work(former))
			dies = true
			want := 0
			if !inTime {
				want = 1
				d.answerBare("worker", request, "done")
			}
			d.say("thread", "m2", "and more")
			d.must(d.work(former))
			if d.sessionHistory("thread").Run(2) == nil || len(d.refusals()) != 0 {
				t.Fatal("the former owner has not taken what came behind the answer, and that alone")
			}
			d.must(d.work(owner))
			d.spin(owner, time.Second)
			if found := d.refusals(); len(found) != want {
				t.Errorf("%d messages are in quarantine, want %d", len(found), want)
			}
			d.clean()
		})
	}
}
