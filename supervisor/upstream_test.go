package supervisor_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/gateway"
	"podium/supervisor/restore"
)

// TestProgressFoldsUpward: what a leaf says reaches whoever asked the topmost
// supervisor, by way of the runs between them, and no gap is longer than ten
// seconds although nothing changes.
func TestProgressFoldsUpward_M14_M36_M54(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "branch"), tier("branch", "leaf"))
		n.employ("leaf", func(_ context.Context, _ *agent.Request, report agent.Report) (agent.Outcome, error) {
			time.Sleep(5 * time.Second)
			report(40, "half way")
			time.Sleep(25 * time.Second)
			return agent.Text("done"), nil
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		began := time.Now()
		id := n.ask("top", "work", 1, taskFor("branch", "one"), taskFor("branch", "two", "one"))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		task := n.sessionHistoryOf("top", schemas.EffectID("work", "all")).Run(1).Tasks[0]
		if began := task.Started.Sub(task.Dispatched); task.State != workflow.TaskRunning || began > 600*time.Millisecond || task.Message != "half way" {
			t.Errorf("the topmost run sees its task %s after %s, with %q", task.State, began, task.Message)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()

		told, at := n.told("top")
		ended := n.sessionHistoryOf("top", schemas.EffectID("work", "all")).Run(1).Ended
		if len(told) < 8 || at[0].Sub(began) != 500*time.Millisecond || ended.Sub(at[len(at)-1]) > 10*time.Second || at[len(at)-1].After(ended) {
			t.Fatalf("told %d times, from %s until %s before the end", len(told), at[0].Sub(began), ended.Sub(at[len(at)-1]))
		}
		messages, percentage := []string{}, 0
		for i := range told {
			update := &told[i]
			if update.InReplyTo != id || update.From != "top" || update.To != "planner" || update.Payload.PlanID != schemas.PlanID("work") {
				t.Errorf("envelope %+v of plan %s", update.Envelope, update.Payload.PlanID)
			}
			if once := places(&update.Payload); !slices.Equal(once, []string{"one", "two"}) {
				t.Errorf("update %d places %v", i, once)
			}
			if update.Payload.ProgressPercentage < percentage {
				t.Errorf("it fell to %d", update.Payload.ProgressPercentage)
			}
			percentage = update.Payload.ProgressPercentage
			messages = append(messages, update.Payload.Message)
			if i == 0 {
				continue
			}
			if gap := at[i].Sub(at[i-1]); gap < time.Second || gap > 10*time.Second {
				t.Errorf("%s between updates %d and %d", gap, i-1, i)
			}
			if update.MessageID == told[i-1].MessageID {
				t.Errorf("updates %d and %d have one id", i-1, i)
			}
		}
		if messages = slices.Compact(messages); percentage != 50 || !slices.Equal(messages, []string{"", "half way", "", "half way"}) {
			t.Errorf("it came to %d %% and said %q", percentage, messages)
		}
		n.clean()
	})
}

// places lists every task of an update, in lexical order.
func places(p *schemas.ProgressPayload) []string {
	all := slices.Concat(p.TasksCompleted, p.TasksPending, p.TasksFailed, p.TasksSkipped)
	for i := range p.TasksInProgress {
		all = append(all, p.TasksInProgress[i].TaskID)
	}
	for i := range p.TasksBlocked {
		all = append(all, p.TasksBlocked[i].TaskID)
	}
	slices.Sort(all)
	return all
}

// TestQuickRunsAreQuiet: a run that ends within 100 ms says nothing but its answer.
func TestQuickRunsAreQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "branch"), tier("branch", "leaf"))
		n.employ("leaf", func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			time.Sleep(90 * time.Millisecond)
			return agent.Text("done"), nil
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		n.ask("top", "work", 1, taskFor("top", "one"))
		time.Sleep(time.Minute)
		synctest.Wait()
		told, _ := n.told("top")
		if below := n.events(bus.ShardStream(0), "podium.agent.*.progress.0"); len(told) != 0 || len(below) != 0 || len(n.answers("top")) != 1 {
			t.Errorf("%d updates above, %d below, %d answers", len(told), len(below), len(n.answers("top")))
		}
		n.clean()
	})
}

// asked is a desk with an input of somebody upstream. Its clock stands still but
// for what the test does.
func asked(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{tb: tb, now: midnight()}
	d.ledger = memory.New(1, memory.WithClock(func() time.Time { return d.now }))
	profile := tier("desk", "worker")
	profile.Deadlines.Run = schemas.Duration(time.Minute)
	var err error
	d.profiles, err = restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	d.must(err)
	n := nest{desk: d}
	_, event := n.demand("desk", "work", 1, taskFor("worker", "one"), taskFor("worker", "two", "one"))
	event.Profile, event.PartitionKey, event.ReplyTo = "desk", event.EffectID, bus.ResponseSubject("desk", 0)
	d.put(bus.InSubject("agent", 0), &event)
	return d
}

// pass lets time go by in steps of a tenth of a second.
func (d *desk) pass(o *supervisor.Owner, span time.Duration) {
	d.tb.Helper()
	for end := d.now.Add(span); d.now.Before(end); {
		d.now = d.now.Add(100 * time.Millisecond)
		d.must(d.work(o))
	}
}

// TestProgressIsDeterministic: the same moments give the same messages, byte for
// byte, each at the subject that the request names.
func TestProgressIsDeterministic(t *testing.T) {
	t.Parallel()
	var first []schemas.Event
	for range 2 {
		d := asked(t)
		o := d.open("one", d.ledger, 0)
		d.must(d.work(o))
		d.pass(o, 700*time.Millisecond)
		d.answerNewest("worker", "done")
		d.pass(o, 30*time.Second)
		told := d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0))
		if len(told) != 4 { // at 0.5, 1.5, 11.5 and 21.5 s
			t.Fatalf("%d updates", len(told))
		}
		if first == nil {
			first = told
		}
		for i := range told {
			if told[i].ID != first[i].ID || string(told[i].Data) != string(first[i].Data) || !told[i].Time.Equal(first[i].Time) {
				t.Errorf("update %d differs:\n%s\n%s", i, told[i].Data, first[i].Data)
			}
		}
		d.clean()
	}
}

// TestProgressSaysNothingTwice: a record that changes nothing about the run, such
// as one of a message that waits behind it, is no reason for a word.
func TestProgressSaysNothingTwice(t *testing.T) {
	t.Parallel()
	d := asked(t)
	o := d.open("one", d.ledger, 0)
	d.must(d.work(o))
	d.pass(o, 5*time.Second)
	n := nest{desk: d}
	_, other := n.demand("desk", "other work", 1, taskFor("worker", "one"), taskFor("worker", "two"))
	other.Profile, other.PartitionKey = "desk", schemas.EffectID("work", "all")
	d.put(bus.InSubject("agent", 0), &other)
	d.pass(o, 5*time.Second)
	if told := d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0)); len(told) != 1 {
		t.Errorf("%d updates", len(told))
	}
	d.pass(o, time.Second)
	if told := d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0)); len(told) != 2 {
		t.Errorf("%d updates after the tenth second", len(told))
	}
	d.clean()
}

// TestProgressGoesOnAfterATakeover: a new owner tells, and never of a run that
// has ended.
func TestProgressGoesOnAfterATakeover_M54(t *testing.T) {
	t.Parallel()
	d := asked(t)
	o := d.open("one", d.ledger, 0)
	d.must(d.work(o))
	d.pass(o, time.Second)
	two := d.open("two", d.ledger, 0)
	before := len(d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0)))
	d.pass(two, 2*time.Second)
	if after := len(d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0))); before != 1 || after != 2 {
		t.Errorf("%d updates before, %d after the takeover", before, after)
	}
	d.pass(two, 2*time.Minute) // the run expires after one
	told := d.events(bus.ShardStream(0), bus.ProgressSubject("desk", 0))
	said := d.events(bus.ShardStream(0), bus.ResponseSubject("desk", 0))
	if len(said) != 1 || told[len(told)-1].Time.After(said[0].Time) || len(told) > 8 {
		t.Errorf("%d answers after %d updates", len(said), len(told))
	}
}

// TestForwarderLeavesSupervisorsAlone: what a supervisor says to somebody outside
// stays on the work stream; what it says to the ledger's own requests does not.
func TestForwarderLeavesSupervisorsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "leaf"))
		n.employ("leaf", func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			time.Sleep(time.Second)
			return agent.Text("done"), nil
		})
		n.appoint("top", "top")
		forwarder := gateway.Forwarder{Core: n.ledger, Log: zerolog.Nop(), Supervisors: []string{"top"}}
		n.start(forwarder.Run)
		n.ask("top", "work", 1, taskFor("top", "one"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if told, _ := n.told("top"); len(told) == 0 || len(n.answers("top")) != 1 {
			t.Fatalf("%d updates, %d answers", len(told), len(n.answers("top")))
		}
		for shard := range 2 {
			moved := n.events(bus.ShardStream(shard), bus.ResponseSubject("top", shard), bus.ProgressSubject("top", shard))
			if refused := n.quarantined(shard); len(moved) != 0 || len(refused) != 0 {
				t.Errorf("shard %d: %d messages were moved, in quarantine: %+v", shard, len(moved), refused)
			}
		}
		n.bare("podium.agent.top.response", n.response("top", &schemas.Event{ID: schemas.RequestID(1, 1, "run", "t1", 1), CorrelationID: "run"}, "done"))
		n.bare("podium.agent.leaf.response", n.response("leaf", &schemas.Event{ID: schemas.EffectID("nobody", "asked"), CorrelationID: "run"}, "done"))
		time.Sleep(time.Second)
		synctest.Wait()
		if zero, one := n.quarantined(0), n.quarantined(1); len(zero) != 1 || len(one) != 1 || one[0].Reason != schemas.QuarantineUnknownRun {
			t.Errorf("in quarantine: %+v and %+v", zero, one)
		}
		n.clean()
	})
}
