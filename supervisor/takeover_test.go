package supervisor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// TestTakeoverOfManySessions: a checkpoint of many sessions takes several
// messages, and whichever is the last that is stored, the next owner has every
// session go on.
func TestTakeoverOfManySessions_X03(t *testing.T) {
	t.Parallel()
	const sessions, messages = 40, 7
	for stays := range messages + 2 {
		t.Run(strconv.Itoa(stays), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			left := 1 << 30
			core := &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
				if message.Subject != bus.ShardSubject(0) {
					return stored
				}
				if left--; left < 0 {
					return silent
				}
				return stored
			}}
			few := func(c *supervisor.Config) { c.CheckpointNames = 7 }
			first := d.openWith(core, few)
			for i := range 10 {
				d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it")
			}
			d.spin(first, 3*time.Second)
			for i := range 5 { // some end before the next checkpoint, others begin
				d.answerOf(fmt.Sprint("thread", i))
				d.must(d.work(first))
				d.answerNewest("chat", "")
			}
			for i := range sessions {
				d.say(fmt.Sprint("thread", 10+i), fmt.Sprint("m", 10+i), "do it")
			}
			d.must(d.work(first))
			before := len(d.events(bus.ShardStream(0), bus.ShardSubject(0)))
			left = stays
			d.spin(first, 3*time.Second)
			if written := len(d.events(bus.ShardStream(0), bus.ShardSubject(0))) - before; written != min(stays, messages) {
				t.Fatalf("%d messages were stored", written)
			}
			config := d.owner("second", d.ledger, 0).Config
			few(&config)
			second := supervisor.NewOwner(config)
			d.must(second.Open(t.Context(), d.now))
			d.deliverAll(second, "worker", "chat")
			for i := range 10 + sessions {
				if run := d.sessionHistory(fmt.Sprint("thread", i)).Run(1); run == nil || run.Status != schemas.RunCompleted {
					t.Errorf("thread %d: the run is %+v", i, run)
				}
			}
			if second.Busy() || second.OpenSessions() != 0 {
				t.Errorf("busy %v, %d sessions open", second.Busy(), second.OpenSessions())
			}
			d.clean()
		})
	}
}

// answerOf answers what the worker was asked for a thread.
func (d *desk) answerOf(thread string) {
	d.tb.Helper()
	for _, request := range d.askedOf(thread) {
		d.answer("worker", &request, "done")
	}
}

// TestOwedByADeadlineTwice: no input leads back to the record of a deadline, so
// the low watermark stays below it until what it owes is acknowledged, whoever owes it.
func TestOwedByADeadlineTwice_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	thread, _ := d.session("thread")
	lost := false
	core := &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if lost && message.Subject == bus.RequestSubject("worker") && strings.Contains(string(message.Body), thread) {
			return silent
		}
		return stored
	}}
	first := d.open("first", core, 0)
	d.say("thread", "m1", "do it")
	d.spin(first, 3*time.Second)
	lost = true
	d.now = d.now.Add(time.Minute)
	d.must(d.work(first))
	d.now = d.now.Add(time.Second)
	d.must(d.work(first))
	if attempt := d.sessionHistory("thread").Run(1).Tasks[0].Attempt; attempt != 2 || len(d.askedOf("thread")) != 1 {
		t.Fatalf("attempt %d, %d requests", attempt, len(d.askedOf("thread")))
	}
	records := d.records("thread")
	if records[len(records)-1].First().Cause.Deadline == nil {
		t.Fatal("the newest record is not a deadline's")
	}
	second := d.open("second", core, 0)
	d.must(d.work(second))
	d.say("other", "m2", "do it") // the low watermark could pass everything now, and a checkpoint say so
	d.spin(second, 5*time.Second)
	if len(d.askedOf("other")) != 1 || len(d.askedOf("thread")) != 1 {
		t.Fatalf("%d and %d requests", len(d.askedOf("other")), len(d.askedOf("thread")))
	}
	third := d.open("third", d.ledger, 0)
	d.must(d.work(third))
	if asked := d.askedOf("thread"); len(asked) != 2 || asked[1].Attempt != 2 {
		t.Errorf("%d requests: what the deadline's record owes was lost", len(asked))
	}
	d.clean()
}

// TestAnswersBeforeDeadlines: what happened while nobody owned the shard counts
// in the order in which it happened, even if the reader delivers late; but a
// deadline does not wait for a reader that has nothing more.
func TestAnswersBeforeDeadlines(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"an answer": true, "no answer": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			first := d.open("first", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.spin(first, 3*time.Second)
			if answered {
				d.answerNewest("worker", "done")
			}
			d.now = d.now.Add(time.Hour)
			core := &late{Core: d.ledger}
			second := d.open("second", core, 0)
			d.spin(second, 900*time.Millisecond)
			task := d.sessionHistory("thread").Run(1).Tasks[0]
			if task.State != workflow.TaskDispatched || task.Failure().Cause != "" {
				t.Fatalf("the deadline came first: the task is %s", task.State)
			}
			core.deliver = true
			d.must(d.work(second))
			d.spin(second, time.Second)
			task = d.sessionHistory("thread").Run(1).Tasks[0]
			if answered != (task.State == workflow.TaskCompleted) || answered != (task.Failure().Cause == "") {
				t.Errorf("the task is %s, %s", task.State, task.Failure().Cause)
			}
			d.clean()
		})
	}
}

// TestTakeoverInOrder: many sessions are loaded at once, and what they owe goes
// out in an order that depends on the ledger alone.
func TestTakeoverInOrder_X03(t *testing.T) {
	t.Parallel()
	const sessions = 1200
	var orders [2][]string
	for i := range orders {
		d := newDesk(t, 1)
		first := d.open("first", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
			if message.Subject == bus.RequestSubject("worker") {
				return silent
			}
			return stored
		}}, 0)
		for j := range sessions {
			d.say(fmt.Sprint("thread", j), fmt.Sprint("m", j), "do it")
		}
		d.spin(first, 3*time.Second)
		d.say("noise", "m", "do it") // behind the last checkpoint
		d.must(d.work(first))
		second := d.open("second", d.ledger, 0)
		d.must(d.work(second))
		for _, request := range d.requests("worker") {
			orders[i] = append(orders[i], request.ID)
		}
		if distinct(d.requests("worker")) != sessions+1 || second.OpenSessions() != sessions+1 {
			t.Fatalf("%d requests, %d sessions open", distinct(d.requests("worker")), second.OpenSessions())
		}
	}
	if !slices.Equal(orders[0], orders[1]) {
		t.Error("the same ledger gave two orders")
	}
}
