package supervisor_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// run starts an owner as in production, with goroutines of its own.
func (d *desk) run(ctx context.Context, name string, core bus.Core) (ended chan error) {
	o := supervisor.NewOwner(supervisor.Config{Shard: 0, Name: name, Core: core, Profiles: d.profiles, Log: zerolog.Nop()})
	ended = make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	return ended
}

// distinct counts requests by their id: what a last record owes may go out again.
func distinct(requests []schemas.Event) int {
	ids := map[string]bool{}
	for i := range requests {
		ids[requests[i].ID] = true
	}
	return len(ids)
}

// TestRunStopsInOrder: the last checkpoint is clean and above every input, and a
// successor goes on without deciding anything again.
func TestRunStopsInOrder_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		ctx, stop := context.WithCancel(t.Context())
		ended := d.run(ctx, "one", d.ledger)
		d.say("thread", "m1", "do it")
		synctest.Wait()
		d.answerNewest("worker", "done")
		synctest.Wait()
		d.answerNewest("chat", "")
		last := d.say("open", "m2", "still under way")
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Fatalf("it ended with %v", err)
		}
		point := d.checkpoint(0)
		open, _ := d.session("open")
		if !point.Clean || point.LowWatermark != last || !slices.Contains(point.Open, open) || point.Owner != "one" || point.Epoch != 1 {
			t.Errorf("the last checkpoint is %+v", point)
		}
		before := distinct(d.requests("worker"))
		ctx, stop = context.WithCancel(t.Context())
		ended = d.run(ctx, "two", d.ledger)
		synctest.Wait()
		if after := distinct(d.requests("worker")); after != before {
			t.Errorf("%d requests became %d", before, after)
		}
		d.answerNewest("worker", "done")
		synctest.Wait()
		d.answerNewest("chat", "")
		synctest.Wait()
		if state := d.sessionHistory("open").Run(1).Phase; state != workflow.PhaseComplete {
			t.Errorf("the open run is %s", state)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if point = d.checkpoint(0); !point.Clean || point.Epoch != 2 {
			t.Errorf("the last checkpoint is %+v", point)
		}
		d.clean()
	})
}

// TestRunWakesForDeadlines: nothing but time passes, and what is due is done.
func TestRunWakesForDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		ctx, stop := context.WithCancel(t.Context())
		ended := d.run(ctx, "one", d.ledger)
		d.say("thread", "m1", "do it")
		synctest.Wait()
		began := time.Now()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		run := d.sessionHistory("thread").Run(1)
		if run.Phase != workflow.PhaseComplete || run.Reason != schemas.StopReplyFailed || run.Status != schemas.RunFailed {
			t.Fatalf("the run is %s, %s (%s)", run.Phase, run.Status, run.Reason)
		}
		// Two attempts at the work and two at the delivery, a second between them.
		if took := run.Ended.Sub(began); took < 242*time.Second || took > 243*time.Second {
			t.Errorf("it took %s", took)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		d.clean()
	})
}

// TestRunYieldsToASecondOwner: whoever writes the next checkpoint owns the shard;
// the former owner notices with the next thing it does, and stops.
func TestRunYieldsToASecondOwner_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		first := d.run(t.Context(), "first", d.ledger)
		d.say("thread", "m1", "do it")
		synctest.Wait()
		ctx, stop := context.WithCancel(t.Context())
		second := d.run(ctx, "second", d.ledger)
		synctest.Wait()
		d.say("thread", "m2", "and that")
		d.answerNewest("worker", "done")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		select {
		case err := <-first:
			if !errors.Is(err, supervisor.ErrNotOwner) {
				t.Errorf("the first ended with %v", err)
			}
		default:
			t.Error("the first still believes in itself")
		}
		for range 2 {
			d.answerNewest("chat", "")
			synctest.Wait()
			d.answerNewest("worker", "done")
			synctest.Wait()
		}
		folded := d.sessionHistory("thread")
		if len(folded.Messages) != 2 || len(folded.Runs) != 2 || folded.Runs[1].Phase != workflow.PhaseComplete {
			t.Errorf("%d messages, runs %+v", len(folded.Messages), folded.Runs)
		}
		stop()
		if err := <-second; err != nil {
			t.Errorf("the second ended with %v", err)
		}
		if point := d.checkpoint(0); point.Owner != "second" || point.Epoch != 2 || !point.Clean {
			t.Errorf("the last checkpoint is %+v", point)
		}
		d.clean()
	})
}

// TestOpenRace: of two that take a shard over from the same checkpoint, one wins.
func TestOpenRace_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	late := &trouble{Core: d.ledger}
	other := false
	late.lose = func(message bus.Message) fate {
		if !other {
			other = true
			d.open("other", d.ledger, 0)
		}
		return stored
	}
	if err := d.owner("late", late, 0).Open(t.Context(), d.now); !errors.Is(err, supervisor.ErrNotOwner) {
		t.Errorf("got %v", err)
	}
}

// TestStopDoesNotWaitForever: a ledger that takes nothing more does not keep the
// process from stopping; it says that something is left to do.
func TestStopDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		ctx, stop := context.WithCancel(t.Context())
		ended := d.run(ctx, "one", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
			if message.Subject == bus.RequestSubject("worker") {
				return refused
			}
			return stored
		}})
		d.say("thread", "m1", "do it")
		synctest.Wait()
		began := time.Now()
		stop()
		if err := <-ended; err == nil || time.Since(began) > time.Minute {
			t.Errorf("it ended with %v after %s", err, time.Since(began))
		}
		if d.checkpoint(0).Clean {
			t.Error("the last checkpoint claims a stop in order")
		}
		successor := d.open("two", d.ledger, 0)
		d.must(d.work(successor))
		if len(d.requests("worker")) != 1 {
			t.Error("the successor did not send what was owed")
		}
		d.clean()
	})
}

// TestLastCheckpointIsTriedAgain: a ledger that refuses it once gets it the next time.
func TestLastCheckpointIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		ctx, stop := context.WithCancel(t.Context())
		left := 3
		ended := d.run(ctx, "one", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
			if bytes.Contains(message.Body, []byte(`"clean":true`)) && left > 0 {
				left--
				return refused
			}
			return stored
		}})
		d.say("thread", "m1", "do it")
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if point := d.checkpoint(0); !point.Clean || left > 0 {
			t.Errorf("the last checkpoint is %+v", point)
		}
	})
}
