package supervisor_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/bustest"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/restore"
)

// TestSupervisorOfSupervisorsIsAHandler: from outside, a supervisor under a
// supervisor is an agent like any other.
func TestSupervisorOfSupervisorsIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		n := newNest(t, 2, tier("outer", "inner"), tier("inner", "echo"))
		n.employ("echo", say)
		n.appoint("inner", "inner")
		n.appoint("outer", "outer")
		t.Cleanup(n.clean)
		return bustest.HandlerSystem{Core: n.ledger, Agent: "outer", Task: func(i int) schemas.Task {
			return taskFor("", fmt.Sprint("task-", i))
		}}
	})
}

// TestPlanOfSupervisors: a task of a plan is another supervisor's plan. What the
// leaves make is handed on, and comes back as one answer.
func TestPlanOfSupervisors_M08(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 3, tier("top", "branch", "leaf"), tier("branch", "leaf"))
		var mu sync.Mutex
		asked := map[string]string{}
		n.employ("leaf", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			words := request.Task().Description
			if input, ok := request.Task().Context.Inputs["one"]; ok {
				words += " with " + input.Text
			}
			asked[request.Run+"/"+request.Task().TaskID] = words
			return agent.Text("[" + words + "]"), nil
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		id := n.ask("top", "work", 1, taskFor("branch", "one"), taskFor("leaf", "two", "one"), taskFor("branch", "three", "two"))
		time.Sleep(time.Minute)
		synctest.Wait()

		said := n.answers("top")
		if len(said) != 1 || said[0].InReplyTo != id || said[0].Payload.Status != schemas.StatusCompleted || said[0].To != "planner" {
			t.Fatalf("answers: %+v", said)
		}
		summary := said[0].Payload.ExecutionSummary
		if summary.TasksCompleted != 3 || summary.TotalTasks != 3 || summary.CompletionPercentage != 100 {
			t.Errorf("summary %+v", summary)
		}
		want := "[do three\n\n[do two with [do one]]]"
		if result := said[0].Payload.Result; result == nil || result.Text != want {
			t.Errorf("result %+v, want %q", result, want)
		}
		for _, task := range []string{"one", "three"} {
			if below := n.below("branch", schemas.EffectID("work", "all"), task).Run(1); below == nil || below.Status != schemas.RunCompleted || below.Message.Channel != schemas.ChannelAgent {
				t.Errorf("the run below %s is %+v", task, below)
			}
		}
		if len(asked) != 3 {
			t.Errorf("the leaf was asked %v", asked)
		}
		n.clean()
	})
}

// TestCancelFlowsDownward: a hint to the topmost supervisor ends the work of the
// last leaf, and every run on the way, once.
func TestCancelFlowsDownward(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "branch"), tier("branch", "leaf"))
		ended := make(chan error, 8)
		n.employ("leaf", func(ctx context.Context, _ *agent.Request, _ agent.Report) (agent.Outcome, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return agent.Outcome{}, ctx.Err()
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		n.appoint("top", "top") // every process hears the hint
		id := n.ask("top", "work", 1, taskFor("branch", "one"), taskFor("branch", "two"), taskFor("branch", "three", "one"))
		time.Sleep(5 * time.Second)
		began := time.Now()
		n.must(n.ledger.Signal(bus.ServiceSubject("top", bus.SignalCancel), []byte(id)))
		time.Sleep(time.Millisecond)
		n.must(n.ledger.Signal(bus.ServiceSubject("top", bus.SignalCancel), []byte(id)))
		n.must(n.ledger.Signal(bus.ServiceSubject("top", bus.SignalCancel), []byte("a request of nobody")))
		time.Sleep(time.Second)
		synctest.Wait()

		if len(ended) != 2 || time.Since(began) > 2*time.Second {
			t.Fatalf("%d leaves have ended", len(ended))
		}
		for range 2 {
			if cause := <-ended; strings.Contains(cause.Error(), "expired") {
				t.Errorf("a leaf ended because %v", cause)
			}
		}
		said := n.answers("top")
		if len(said) != 1 || said[0].Payload.Status != schemas.StatusFailed || said[0].InReplyTo != id {
			t.Errorf("answers: %+v", said)
		}
		top := n.sessionHistoryOf("top", schemas.EffectID("work", "all"))
		if run := top.Run(1); run.Reason != schemas.StopCancelled || run.Phase != workflow.PhaseComplete {
			t.Errorf("the topmost run is %s (%s)", run.Phase, run.Reason)
		}
		if len(top.Messages) != 2 {
			t.Errorf("the word counts %d times", len(top.Messages)-1)
		}
		for _, task := range []string{"one", "two"} {
			if run := n.below("branch", schemas.EffectID("work", "all"), task).Run(1); run.Reason != schemas.StopCancelled {
				t.Errorf("the run below %s ended with %q", task, run.Reason)
			}
		}
		if refused := append(n.quarantined(0), n.quarantined(1)...); len(refused) != 0 {
			t.Errorf("in quarantine: %+v", refused)
		}
		n.clean()
	})
}

// TestCancelOvertakesItsRequest: a hint that comes before its request is not lost.
func TestCancelOvertakesItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "leaf"))
		n.declare("leaf")
		n.appoint("top", "top")
		_, event := n.demand("top", "work", 1, taskFor("leaf", "one"), taskFor("leaf", "two"))
		synctest.Wait()
		n.must(n.ledger.Signal(bus.ServiceSubject("top", bus.SignalCancel), []byte(event.ID)))
		synctest.Wait()
		n.put(bus.RequestSubject("top"), &event)
		time.Sleep(time.Second)
		synctest.Wait()
		if run := n.sessionHistoryOf("top", event.EffectID).Run(1); run == nil || run.Reason != schemas.StopCancelled {
			t.Errorf("the run is %+v", run)
		}
		n.clean()
	})
}

// TestExpiryIsTheTruth: when every hint is lost, the nested runs end by themselves
// at the moment from which on nobody waits.
func TestExpiryIsTheTruth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "branch"), tier("branch", "leaf"))
		ended := make(chan time.Time, 8)
		n.employ("leaf", func(ctx context.Context, _ *agent.Request, _ agent.Report) (agent.Outcome, error) {
			<-ctx.Done()
			ended <- time.Now()
			return agent.Outcome{}, ctx.Err()
		})
		n.appoint("branch", "branch")
		n.appoint("top", "top")
		_, event := n.demand("top", "work", 1, taskFor("branch", "one"), taskFor("branch", "two", "one"))
		expires := time.Now().Add(20 * time.Second).UTC()
		event.Expires = expires
		n.put(bus.RequestSubject("top"), &event)
		time.Sleep(time.Minute)
		synctest.Wait()

		if len(ended) != 1 {
			t.Fatalf("%d leaves have ended", len(ended))
		}
		if at := <-ended; at.Sub(expires).Abs() > time.Second {
			t.Errorf("the leaf worked until %s, want %s", at, expires)
		}
		run := n.sessionHistoryOf("top", event.EffectID).Run(1)
		below := n.below("branch", event.EffectID, "one").Run(1)
		if run.Reason != schemas.StopExpired || run.Ended.Sub(expires).Abs() > time.Second {
			t.Errorf("the run ended at %s with %q", run.Ended, run.Reason)
		}
		if below.Expires.After(expires) || below.Phase != workflow.PhaseComplete {
			t.Errorf("the run below is %s and expires at %s", below.Phase, below.Expires)
		}
		if said := n.answers("top"); len(said) != 1 || said[0].Payload.Status != schemas.StatusFailed {
			t.Errorf("answers: %+v", said)
		}
		n.clean()
	})
}

// TestSecondAttemptSupersedesTheFirst: two attempts are one piece of work in one
// session. The first ends when the second comes, and only the second is answered.
func TestSecondAttemptSupersedesTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 2, tier("top", "leaf"))
		interrupted := make(chan error, 8)
		n.employ("leaf", func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			select {
			case <-ctx.Done():
				interrupted <- context.Cause(ctx)
				return agent.Outcome{}, ctx.Err()
			case <-time.After(10 * time.Second):
				return agent.Text("done in " + request.Run[len(request.Run)-2:]), nil
			}
		})
		n.appoint("top", "top")
		began := time.Now()
		work := []schemas.Task{taskFor("top", "one")}
		n.ask("top", "work", 1, work...)
		time.Sleep(5 * time.Second)
		second := n.ask("top", "work", 2, work...)
		time.Sleep(time.Minute)
		synctest.Wait()

		said := n.answers("top")
		if len(said) != 1 || said[0].InReplyTo != second || said[0].Payload.Result == nil || said[0].Payload.Result.Text != "done in -2" {
			t.Errorf("answers: %+v", said)
		}
		if len(interrupted) != 1 {
			t.Errorf("%d leaves were told that nobody waits", len(interrupted))
		}
		told, at := n.told("top")
		for i := range told {
			if wants := at[i].Sub(began) > 5*time.Second; wants != (told[i].InReplyTo == second) {
				t.Errorf("after %s it speaks about %s", at[i].Sub(began), told[i].InReplyTo)
			}
		}
		if len(told) != 2 { // of each run, when its leaf has begun
			t.Errorf("%d updates", len(told))
		}
		folded := n.sessionHistoryOf("top", schemas.EffectID("work", "all"))
		if len(folded.Runs) != 2 || folded.Run(1).Reason != schemas.StopSuperseded || folded.Run(2).Status != schemas.RunCompleted {
			t.Errorf("runs %+v", folded.Runs)
		}
		n.clean()
	})
}

// TestSupersededWorkIsCalledOff: whoever works for a run that another has taken
// the place of hears that nobody waits, whoever asked for it.
func TestSupersededWorkIsCalledOff(t *testing.T) {
	t.Parallel()
	profile := deskProfile()
	profile.Conversation.WhileRunning = schemas.WhileRunningSupersede
	d := newDesk(t, 1)
	var err error
	d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	d.must(err)
	worker := d.ledger.Worker("worker")
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do this")
	d.must(d.work(o))
	d.say("thread", "m2", "no, do that")
	d.must(d.work(o))
	requests := d.requests("worker")
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	select {
	case off := <-worker.Cancelled():
		if off != requests[0].ID {
			t.Errorf("%s was called off, want %s", off, requests[0].ID)
		}
	default:
		t.Error("nothing was called off")
	}
	d.clean()
}

// TestPartitionOfARequest: what names the session of a request is what its
// attempts have in common, else what its sender says, else its own id.
func TestPartitionOfARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*schemas.Event)
		key    func(schemas.Event) string
	}{
		"Effect":    {func(e *schemas.Event) { e.PartitionKey = "a thread" }, func(e schemas.Event) string { return e.EffectID }},
		"Partition": {func(e *schemas.Event) { e.PartitionKey, e.EffectID = "a thread", "" }, func(schemas.Event) string { return "a thread" }},
		"ID":        {func(e *schemas.Event) { e.EffectID = "" }, func(e schemas.Event) string { return e.ID }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNest(t, 2, tier("top", "leaf"))
				n.employ("leaf", say)
				n.appoint("top", "top")
				_, event := n.demand("top", "work", 1, taskFor("top", "one"))
				c.change(&event)
				n.put(bus.RequestSubject("top"), &event)
				time.Sleep(time.Second)
				synctest.Wait()
				folded := n.sessionHistoryOf("top", c.key(event))
				if run := folded.Run(1); run == nil || run.Message.ID != event.ID || run.Message.Upstream.Effect != event.EffectID {
					t.Errorf("its session has %+v", folded.Runs)
				}
				if len(n.answers("top")) != 1 {
					t.Errorf("%d answers", len(n.answers("top")))
				}
				n.clean()
			})
		})
	}
}

// A forgetful worker's process dies before its acknowledgment is noted.
type forgetful struct{ bus.Worker }

var errDied = errors.New("the process died")

func (w forgetful) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	deliveries, err := w.Worker.Fetch(ctx, n)
	for i := range deliveries {
		deliveries[i] = forgotten{deliveries[i]}
	}
	return deliveries, err
}

type forgotten struct{ bus.Delivery }

func (forgotten) Ack(context.Context) error { return errDied }

// TestKillBeforeTheAck: a process that dies between the re-publication and the
// acknowledgment costs a repeat, and no second run.
func TestKillBeforeTheAck_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "leaf"))
		worked := make(chan string, 8)
		n.employ("leaf", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			worked <- request.MessageID
			return agent.Text("done"), nil
		})
		n.declare("top")
		n.receive(n.ledger, forgetful{n.ledger.Worker("top")}, "top")
		id := n.ask("top", "work", 1, taskFor("leaf", "one"), taskFor("leaf", "two"))
		time.Sleep(leaseTime / 2)
		n.receive(n.ledger, n.ledger.Worker("top"), "top")
		time.Sleep(3 * leaseTime)
		synctest.Wait()

		if inputs := n.events(bus.ShardStream(0), bus.InSubject("agent", 0)); len(inputs) < 2 || inputs[0].ID != id || inputs[1].ID != id {
			t.Fatalf("%d inputs", len(inputs))
		}
		if folded := n.sessionHistoryOf("top", schemas.EffectID("work", "all")); len(folded.Runs) != 1 || len(worked) != 2 {
			t.Errorf("%d runs, %d tasks were worked on", len(folded.Runs), len(worked))
		}
		var bodies [][]byte
		for _, event := range n.events(bus.WorkStream, "podium.agent.top.response") {
			bodies = append(bodies, event.Data)
		}
		if len(bodies) < 2 || slices.ContainsFunc(bodies, func(body []byte) bool { return !bytes.Equal(body, bodies[0]) }) {
			t.Errorf("%d answers that differ", len(bodies))
		}
		n.clean()
	})
}

// A sealed core takes no inputs for a while.
type sealed struct {
	bus.Core
	mu   sync.Mutex
	left int
	err  error
}

func (c *sealed) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if subject, err := bus.ParseSubject(message.Subject); err == nil && (subject.Kind == bus.KindIn || subject.Kind == bus.KindQuarantine) {
		c.mu.Lock()
		c.left--
		refuse := c.left >= 0
		c.mu.Unlock()
		if refuse {
			done(bus.Ack{}, c.err)
			return
		}
	}
	c.Core.Publish(message, expect, done)
}

// TestReceiverGivesBack: a ledger that takes nothing for now costs time and no request.
func TestReceiverGivesBack_X03(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"Full":      bus.ErrFull,
		"Temporary": &bus.TemporaryError{Op: "publish", Err: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNest(t, 1, tier("top", "leaf"))
				n.employ("leaf", say)
				n.declare("top")
				n.receive(&sealed{Core: n.ledger, left: 3, err: err}, n.ledger.Worker("top"), "top")
				n.bare(bus.RequestSubject("top"), []byte("garbage"))
				id := n.ask("top", "work", 1, taskFor("leaf", "one"), taskFor("leaf", "two"))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if said := n.answers("top"); len(said) != 1 || said[0].InReplyTo != id || said[0].Payload.Status != schemas.StatusCompleted {
					t.Errorf("answers: %+v", said)
				}
				if refused := n.quarantined(0); len(refused) != 1 || string(refused[0].Body) != "garbage" {
					t.Errorf("in quarantine: %+v", refused)
				}
				if left := n.ledger.Worker("top").TryFetch(8); len(left) != 0 {
					t.Errorf("%d requests come again", len(left))
				}
				n.clean()
			})
		})
	}
}

// TestReceiverKeepsWhatItCannotRead: what cannot be answered stays visible, byte
// for byte; what says enough gets an answer; nobody makes a supervisor speak for
// another agent.
func TestReceiverKeepsWhatItCannotRead_X06_G40(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "leaf"))
		n.employ("leaf", say)
		n.appoint("top", "top")
		garbage := []byte("\xff\x00 not JSON")
		n.bare(bus.RequestSubject("top"), garbage)
		_, nowhere := n.demand("top", "nowhere", 1, taskFor("leaf", "one"))
		nowhere.Data, nowhere.Artifact = nil, &schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}
		n.put(bus.RequestSubject("top"), &nowhere)
		_, forged := n.demand("victim", "forged", 1, taskFor("leaf", "one"), taskFor("leaf", "two"))
		n.put(bus.RequestSubject("top"), &forged)
		_, toVictim := n.demand("top", "sideways", 1, taskFor("leaf", "one"), taskFor("leaf", "two"))
		toVictim.ReplyTo = bus.ResponseSubject("victim", 0)
		n.put(bus.RequestSubject("top"), &toVictim)
		time.Sleep(time.Second)
		synctest.Wait()

		refused := n.quarantined(0)
		slices.SortFunc(refused, func(a, b schemas.Quarantined) int { return cmp.Compare(a.Sequence, b.Sequence) }) // requests are read side by side
		if len(refused) != 2 || !bytes.Equal(refused[0].Body, garbage) || refused[0].Stream != bus.WorkStream ||
			refused[0].Reason != schemas.QuarantineMalformed || refused[1].Headers["ce-dataref"] == nil {
			t.Errorf("in quarantine: %+v", refused)
		}
		if said := n.answers("victim"); len(said) != 0 {
			t.Errorf("the victim says %+v", said)
		}
		var answered []string
		for _, event := range n.events(bus.WorkStream, "podium.agent.top.response") {
			answered = append(answered, event.CausationID)
			var response schemas.ExecutionResponse
			n.must(schemas.Unmarshal(event.Data, &response))
			if want := event.CausationID == toVictim.ID; want != (response.Payload.Status == schemas.StatusCompleted) {
				t.Errorf("the answer to %s is %+v", event.CausationID, response.Payload)
			}
		}
		if len(answered) != 2 || !slices.Contains(answered, forged.ID) || !slices.Contains(answered, toVictim.ID) {
			t.Errorf("answered: %v", answered)
		}
		n.clean()
	})
}

// TestReceiverIsRegistered: a supervisor is in the registry like any agent.
func TestReceiverIsRegistered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("top", "leaf"))
		n.appoint("top", "top")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		agents, err := registry.Agents(t.Context(), n.ledger)
		if err != nil || len(agents) != 1 {
			t.Fatalf("agents %+v, %v", agents, err)
		}
		if a := agents[0]; a.Name != "top" || a.Kind != "supervisor" || a.Description == "" || !a.LastSeen.After(a.Announced) {
			t.Errorf("registered %+v", a)
		}
	})
}
