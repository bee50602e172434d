package supervisor_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/admission"
)

// sharing is a profile whose texts name what their one task needs for itself.
func sharing(profile *schemas.Profile) {
	template := func(word string, priority schemas.Priority, resources ...string) schemas.Template {
		return schemas.Template{
			Name: word, Keywords: []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}},
			Tasks: []schemas.TemplateTask{{Task: "t1", Description: word, Agent: "worker", Priority: priority, Resources: resources}},
		}
	}
	profile.Planner = &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: []schemas.Template{
		template("print", "", "printer"), template("scan", "", "scanner"),
		template("copy", "", "scanner", "printer", "scanner"), template("urgent", schemas.PriorityCritical, "printer"),
	}}
	profile.Execution.Mode = schemas.ExecutionDAG
}

// ask begins a session in a shard, a little later than the one before, and
// returns its thread.
func (d *desk) ask(o *supervisor.Owner, shard, number int, words string) (thread string) {
	d.tb.Helper()
	thread = d.threadOf(shard, number)
	d.now = d.now.Add(10 * time.Millisecond)
	d.say(thread, thread, words)
	d.must(d.work(o))
	return thread
}

// state is how far the first task of a thread's first run is.
func (d *desk) state(thread string) workflow.TaskState {
	d.tb.Helper()
	return d.sessionHistory(thread).Run(1).Tasks[0].State
}

// expect names the threads whose tasks are under way.
func (d *desk) expect(want ...string) {
	d.tb.Helper()
	var under []string
	for _, request := range d.requests("worker") {
		run, _, err := schemas.ParseRunID(request.CorrelationID)
		d.must(err)
		for _, thread := range d.threads() {
			if id, _ := d.session(thread); id == run && d.state(thread) == workflow.TaskDispatched && !slices.Contains(under, thread) {
				under = append(under, thread)
			}
		}
	}
	slices.Sort(under)
	slices.Sort(want)
	if !slices.Equal(under, want) {
		d.tb.Fatalf("under way: %q, want %q", under, want)
	}
}

// threads lists the sessions that anybody has begun.
func (d *desk) threads() []string {
	d.tb.Helper()
	var threads []string
	for shard := range d.ledger.Shards() {
		for _, event := range d.events(bus.ShardStream(shard), bus.InSubject("chat", shard)) {
			if !slices.Contains(threads, event.PartitionKey) {
				threads = append(threads, event.PartitionKey)
			}
		}
	}
	return threads
}

// finish answers the request of a thread's task.
func (d *desk) finish(thread string) {
	d.tb.Helper()
	id, _ := d.session(thread)
	for _, request := range slices.Backward(d.requests("worker")) {
		if session, _, _ := schemas.ParseRunID(request.CorrelationID); session == id {
			d.answer("worker", &request, "done")
			return
		}
	}
	d.tb.Fatalf("%s has asked nobody", thread)
}

// settle lets several owners work until none has anything to do.
func (d *desk) settle(owners ...*supervisor.Owner) {
	d.tb.Helper()
	for range 4 {
		for _, o := range owners {
			d.must(d.work(o))
		}
	}
}

// TestLeaseOneAtATime: a task that needs a resource waits until no other task has
// it, in whatever shard that is, and those that need it one after the other all
// get it.
func TestLeaseOneAtATime_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	local := &admission.LocalOwners{}
	together := func(config *supervisor.Config) { config.LocalOwners = local }
	zero, one := d.openAs("zero", d.ledger, 0, together), d.openAs("one", d.ledger, 1, together)
	first := d.ask(zero, 0, 1, "print")
	second := d.ask(one, 1, 2, "print")
	third := d.ask(zero, 0, 3, "print")
	other := d.ask(one, 1, 4, "scan")
	d.expect(first, other)
	if task := d.sessionHistory(second).Run(1).Tasks[0]; task.State != workflow.TaskReady || !slices.Equal(task.Resources(), []string{"printer"}) {
		t.Errorf("who waits is shown as %s, for %q", task.State, task.Resources())
	}
	d.finish(first)
	d.settle(zero, one)
	d.expect(second, other) // at once, and the other shard goes first
	d.finish(second)
	d.settle(one, zero)
	d.expect(third, other)
	d.clean()
}

// TestLeaseBetweenProcesses: without local owners, who waits tries again soon.
func TestLeaseBetweenProcesses_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	second := d.ask(one, 1, 2, "print")
	d.finish(first)
	d.settle(zero, one)
	d.expect()
	if next, ok := one.Next(); !ok || next.After(d.now.Add(500*time.Millisecond)) {
		t.Errorf("it tries again at %s", next)
	}
	d.now = d.now.Add(500 * time.Millisecond)
	d.settle(zero, one)
	d.expect(second)
	d.clean()
}

// TestLeaseAllOrNothing: a task that needs several resources keeps none while it
// waits, and nobody behind it takes what it waits for.
func TestLeaseAllOrNothing_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	printing := d.ask(zero, 0, 1, "print")
	copying := d.ask(one, 1, 2, "copy")
	scanning := d.ask(zero, 0, 3, "scan") // free, but promised
	d.expect(printing)
	pass := func() {
		t.Helper()
		for range 4 {
			d.now = d.now.Add(250 * time.Millisecond)
			d.settle(zero, one)
		}
	}
	pass()
	d.expect(printing)
	d.finish(printing)
	pass()
	d.expect(copying)
	d.finish(copying)
	pass()
	d.expect(scanning)
	d.clean()
}

// TestLeaseGoesByPriority: of those who wait the most urgent is first (M-17).
func TestLeaseGoesByPriority_M17_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	d.ask(zero, 0, 2, "print")
	urgent := d.ask(one, 1, 3, "urgent")
	d.finish(first)
	d.must(d.work(zero)) // its own waits longer, and tries first
	d.expect()
	d.now = d.now.Add(500 * time.Millisecond)
	d.settle(zero, one)
	d.expect(urgent)
	d.clean()
}

// TestLeaseOfAFailedAttempt: what an attempt has had is free when it has ended, and
// the next attempt stands in line again.
func TestLeaseOfAFailedAttempt_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(sharing)
	o := d.open("one", d.ledger, 0)
	first := d.ask(o, 0, 1, "print")
	second := d.ask(o, 0, 2, "print")
	d.refuse("worker", d.last("worker"))
	d.must(d.work(o))
	d.expect(second)
	d.now = d.now.Add(10 * time.Second)
	d.must(d.work(o))
	d.expect(second)
	d.finish(second)
	d.must(d.work(o))
	d.expect(first)
	if attempt := d.sessionHistory(first).Run(1).Tasks[0].Attempt; attempt != 2 {
		t.Errorf("attempt %d", attempt)
	}
	d.clean()
}

// TestLeaseIsKept: a lease lasts as long as the work, however long that is, and
// whoever takes the shard over keeps it.
func TestLeaseIsKept_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(func(profile *schemas.Profile) {
		sharing(profile)
		profile.Deadlines.Queue = schemas.Duration(time.Hour)
	})
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	second := d.ask(one, 1, 2, "print")
	pass := func(span time.Duration) {
		t.Helper()
		for end := d.now.Add(span); d.now.Before(end); d.now = d.now.Add(5 * time.Second) {
			d.settle(zero, one)
			d.expect(first)
		}
	}
	until := func() time.Time {
		t.Helper()
		keys, err := d.ledger.KeyValue(bus.LeaseBucket).Keys(t.Context())
		d.must(err)
		body, _, err := d.ledger.KeyValue(bus.LeaseBucket).Get(t.Context(), keys[0])
		d.must(err)
		var lease struct {
			Until time.Time `json:"until"`
		}
		d.must(schemas.Unmarshal(body, &lease))
		return lease.Until
	}
	pass(5 * time.Minute)
	zero = d.open("successor", d.ledger, 0)
	pass(5 * time.Minute)
	if left := until().Sub(d.now); left < 30*time.Second {
		t.Errorf("the lease of work under way ends in %s", left)
	}

	// Nobody is there to renew it; the ledger says that the work goes on.
	away := zero
	zero = one
	pass(5 * time.Minute)
	zero = away
	d.finish(first)
	d.settle(zero, one)
	d.now = d.now.Add(time.Second)
	d.settle(zero, one)
	d.expect(second)

	// A successor gives back what it has taken over.
	third := d.ask(zero, 0, 3, "print")
	one = d.open("successor of one", d.ledger, 1)
	d.settle(zero, one)
	d.finish(second)
	d.settle(one, zero)
	d.now = d.now.Add(time.Second)
	d.settle(zero)
	d.expect(third)
	d.clean()
}

// TestLeaseLapses: who has a lease and does not use it, because its process died
// in between, keeps nobody waiting for long; neither does a request that has expired.
func TestLeaseLapses_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	mute := &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if id, _ := d.session(d.threadOf(0, 1)); message.Subject == bus.SessionSubject(id, 2) && len(d.events(bus.ShardStream(0), message.Subject)) > 0 {
			return silent // its second record, which begins the task
		}
		return stored
	}}
	zero, one := d.open("zero", mute, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	second := d.ask(one, 1, 2, "print")
	d.expect()
	d.now = d.now.Add(59 * time.Second)
	d.must(d.work(one))
	d.expect()
	d.now = d.now.Add(2 * time.Second)
	d.must(d.work(one))
	d.expect(second)

	// The other dies as well: its request expires two minutes after it was made.
	zero = d.open("successor", d.ledger, 0)
	for range 10 {
		d.now = d.now.Add(10 * time.Second)
		d.must(d.work(zero))
		d.expect(second)
	}
	d.now = d.now.Add(21 * time.Second)
	d.must(d.work(zero))
	d.expect(first, second) // on record it is under way, and no agent works on it any more
	d.clean()
}

// TestLeaseOfACancelledTask: who does not wait any more leaves its place.
func TestLeaseOfACancelledTask_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(sharing)
	o := d.open("one", d.ledger, 0)
	first := d.ask(o, 0, 1, "print")
	second := d.ask(o, 0, 2, "copy")
	third := d.ask(o, 0, 3, "scan")
	d.expect(first)
	d.cancel(second)
	d.must(d.work(o))
	d.expect(first, third)
	d.finish(first)
	d.must(d.work(o))
	d.expect(third)
	keys, err := d.ledger.KeyValue(bus.LeaseBucket).Keys(context.Background())
	d.must(err)
	if len(keys) != 2 {
		t.Errorf("%d resources are known", len(keys))
	}
	d.clean()
}

// TestLeaseTakesNoRoom: who waits for a resource takes nobody's place at the agent.
func TestLeaseTakesNoRoom_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(sharing)
	o := d.openAs("one", d.ledger, 0, func(config *supervisor.Config) {
		config.PoolSize = func(string) int { return 1 } // and two more
	})
	printing := d.ask(o, 0, 1, "print")
	for number := range 5 {
		d.ask(o, 0, 2+number, "print")
	}
	scanning := d.ask(o, 0, 10, "scan")
	free := d.ask(o, 0, 11, "anything")
	d.expect(printing, scanning, free)
	waits := d.ask(o, 0, 12, "anything")
	d.expect(printing, scanning, free)
	d.finish(scanning)
	d.must(d.work(o))
	d.expect(printing, free, waits)
	d.clean()
}

// TestLeaseWithoutTheLedger: while leases cannot be read nobody goes, and
// afterwards everybody does.
func TestLeaseWithoutTheLedger_M19(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]deafness{"NothingIsRead": deaf, "NothingIsConfirmed": storesDeafly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(sharing)
			ear := hears
			o := d.open("one", deafStore{d.ledger, &ear}, 0)
			ear = trouble
			first := d.ask(o, 0, 1, "copy")
			second := d.ask(o, 0, 2, "print")
			d.expect()
			ear = hears
			d.now = d.now.Add(time.Second)
			d.must(d.work(o))
			d.expect(first)
			ear = trouble
			d.finish(first)
			d.must(d.work(o))
			d.expect()
			ear = hears
			d.now = d.now.Add(time.Second)
			d.must(d.work(o))
			d.expect(second)
			d.clean()
		})
	}
}

// TestLeaseIsNotGivenBackLate: what is being given back is not used meanwhile, and
// a former owner that gives back late gives back nothing of its successor's.
func TestLeaseIsNotGivenBackLate_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	var late []func()
	slow := false
	zero := d.openAs("zero", d.ledger, 0, func(config *supervisor.Config) {
		config.Go = func(operation func()) {
			if slow {
				late = append(late, operation)
				return
			}
			operation()
		}
	})
	one := d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	slow = true
	d.refuse("worker", d.last("worker"))
	d.must(d.work(zero))
	d.now = d.now.Add(time.Second)
	d.must(d.work(zero))
	d.expect() // the second attempt is due, and what the first has had is on its way back
	successor := d.open("successor", d.ledger, 0)
	d.must(d.work(successor))
	d.expect(first)
	for _, operation := range late {
		operation()
	}
	second := d.ask(one, 1, 2, "print")
	for range 4 {
		d.now = d.now.Add(500 * time.Millisecond)
		d.settle(one, successor)
		d.expect(first)
	}
	d.finish(first)
	d.settle(successor)
	d.now = d.now.Add(500 * time.Millisecond)
	d.settle(one)
	d.expect(second)
	d.clean()
}

// TestLeaseInLineIsGivenBack: a task that has leases and cannot use them stands in
// line again without them: whoever comes first there would wait for it.
func TestLeaseInLineIsGivenBack_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(sharing)
	first, ill := d.threadOf(0, 1), true
	id, _ := d.session(first)
	ear := hears
	o := d.open("one", &trouble{Core: deafStore{d.ledger, &ear}, lose: func(message bus.Message) fate {
		if ill && message.Subject == bus.SessionSubject(id, 1) && strings.Contains(string(message.Body), "task_dispatched") {
			return refused
		}
		return stored
	}}, 0)
	d.ask(o, 0, 1, "print") // it takes the lease, and its request cannot be stored
	ear = deaf
	urgent := d.ask(o, 0, 2, "urgent")
	d.spin(o, 50*time.Second)
	d.expect()
	ear, ill = hears, false
	d.spin(o, 20*time.Second)
	d.expect(urgent)
	d.finish(urgent)
	d.spin(o, time.Second)
	d.expect(first)
	d.clean()
}
