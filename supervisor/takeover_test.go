package supervisor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
)

// TestTakeoverOfManySessions: a checkpoint that is too large for a message stands
// in the object store, also the one that takes a shard over.
func TestTakeoverOfManySessions_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, memory.WithMaxMessage(bus.ClaimLimit+16<<10))
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.spin(first, 3*time.Second)
	point := d.checkpoint(0)
	for range 8000 {
		point.Open = append(point.Open, uuid.NewString())
	}
	body, err := schemas.Marshal(point)
	d.must(err)
	event := schemas.Event{
		ID: "c", Source: "/podium/supervisor", Type: schemas.TypeCheckpoint, Time: d.now, DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(bus.Offload(t.Context(), d.ledger.Artifacts(), &event))
	d.put(bus.ShardSubject(0), &event)
	second := d.open("second", d.ledger, 0)
	message, err := d.ledger.Last(t.Context(), bus.ShardSubject(0))
	d.must(err)
	taken, err := bus.Decode(message)
	d.must(err)
	if taken.Artifact == nil || taken.Artifact.Size <= bus.ClaimLimit {
		t.Fatalf("the checkpoint stands in the message: %d bytes", len(message.Body))
	}
	d.must(bus.Resolve(t.Context(), d.ledger.Artifacts(), &taken))
	var read schemas.Checkpoint
	d.must(schemas.Unmarshal(taken.Data, &read))
	if read.Owner != "second" || read.Epoch != point.Epoch+1 || len(read.Open) != len(point.Open) {
		t.Errorf("owner %s, epoch %d, %d open", read.Owner, read.Epoch, len(read.Open))
	}
	d.deliverAll(second, "worker", "chat")
	if run := d.conversation("thread").Run(1); run.Status != schemas.RunCompleted {
		t.Errorf("the run is %s", run.Status)
	}
}

// TestOwedByADeadlineTwice: no input leads back to the record of a deadline, so
// the floor stays below it until what it owes is acknowledged, whoever owes it.
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
	if attempt := d.conversation("thread").Run(1).Tasks[0].Attempt; attempt != 2 || len(d.askedOf("thread")) != 1 {
		t.Fatalf("attempt %d, %d requests", attempt, len(d.askedOf("thread")))
	}
	records := d.records("thread")
	if records[len(records)-1].Cause.Deadline == nil {
		t.Fatal("the newest record is not a deadline's")
	}
	second := d.open("second", core, 0)
	d.must(d.work(second))
	d.say("other", "m2", "do it") // the floor could pass everything now, and a checkpoint say so
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
func TestAnswersBeforeDeadlines_M44(t *testing.T) {
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
			task := d.conversation("thread").Run(1).Tasks[0]
			if task.State != schemas.TaskStateDispatched || task.Failure != "" {
				t.Fatalf("the deadline came first: the task is %s", task.State)
			}
			core.deliver = true
			d.must(d.work(second))
			d.spin(second, time.Second)
			task = d.conversation("thread").Run(1).Tasks[0]
			if answered != (task.State == schemas.TaskStateCompleted) || answered != (task.Failure == "") {
				t.Errorf("the task is %s, %s", task.State, task.Failure)
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
