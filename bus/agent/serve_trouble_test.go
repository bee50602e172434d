package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

// A flaky worker fails where it is told to.
type flaky struct {
	bus.Worker
	publish    func(bus.Message) error
	inProgress func() error
	ack        func() error
}

func (f *flaky) Publish(ctx context.Context, m bus.Message) (bus.Ack, error) {
	if f.publish != nil {
		if err := f.publish(m); err != nil {
			return bus.Ack{}, err
		}
	}
	return f.Worker.Publish(ctx, m)
}

func (f *flaky) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	deliveries, err := f.Worker.Fetch(ctx, n)
	for i := range deliveries {
		deliveries[i] = &flakyDelivery{deliveries[i], f}
	}
	return deliveries, err
}

type flakyDelivery struct {
	bus.Delivery
	worker *flaky
}

func (d *flakyDelivery) InProgress() error {
	if d.worker.inProgress != nil {
		if err := d.worker.inProgress(); err != nil {
			return err
		}
	}
	return d.Delivery.InProgress()
}

func (d *flakyDelivery) Ack(ctx context.Context) error {
	if d.worker.ack != nil {
		if err := d.worker.ack(); err != nil {
			return err
		}
	}
	return d.Delivery.Ack(ctx)
}

var errDown = &bus.TemporaryError{Op: "test", Err: errors.New("down")}

func TestServeEndsBeforeItsLeaseLapses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.wrap = func(w bus.Worker) bus.Worker {
			return &flaky{Worker: w, inProgress: func() error { return errDown }}
		}
		var ended []time.Duration
		start := time.Now()
		stop := s.serve(t, func(ctx context.Context, _ *agent.Request, _ agent.Report) (agent.Outcome, error) {
			<-ctx.Done()
			ended = append(ended, time.Since(start))
			return agent.Text("too late"), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(ackWait - time.Millisecond)
		synctest.Wait()
		if len(ended) != 1 || ended[0] < ackWait/2 || ended[0] >= ackWait {
			t.Errorf("the handler ended at %v of an ack-wait of %v", ended, ackWait)
		}
		if got := s.responses(t); len(got) != 0 {
			t.Errorf("a response without a lease: %+v", got[0].ExecutionResponse)
		}
		mustStop(t, stop)
	})
}

func TestServeDoesLostWorkAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var down atomic.Bool
		down.Store(true)
		s.wrap = func(w bus.Worker) bus.Worker {
			return &flaky{Worker: w, inProgress: func() error {
				if down.Load() {
					return errDown
				}
				return nil
			}}
		}
		var calls atomic.Int32
		stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
			call := calls.Add(1)
			if r.Deliveries != int(call) || r.Attempt != 1 {
				t.Errorf("attempt %d is said to be handed out for the %d. time, want %d", r.Attempt, r.Deliveries, call)
			}
			if call == 1 {
				<-ctx.Done()
				down.Store(false)
				return agent.Outcome{}, ctx.Err()
			}
			return agent.Text("second try"), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(2 * ackWait)
		if got := s.one(t); got.Payload.Status != schemas.StatusCompleted || calls.Load() != 2 {
			t.Errorf("after %d calls: %+v", calls.Load(), got.ExecutionResponse)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

func TestServeRetriesThePublish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var tries, calls atomic.Int32
		s.wrap = func(w bus.Worker) bus.Worker {
			return &flaky{Worker: w, publish: func(bus.Message) error {
				if tries.Add(1) <= 30 { // minutes of outage: several ack-waits
					return errDown
				}
				return nil
			}}
		}
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			calls.Add(1)
			return agent.Text("x"), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(10 * time.Minute)
		s.one(t)
		if calls.Load() != 1 {
			t.Errorf("the work was done %d times", calls.Load())
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

func TestServeAnswersARedeliveryFromMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var acks, calls atomic.Int32
		s.wrap = func(w bus.Worker) bus.Worker {
			return &flaky{Worker: w, ack: func() error {
				if acks.Add(1) == 1 {
					return errDown
				}
				return nil
			}}
		}
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			return agent.Text(fmt.Sprint("call ", calls.Add(1))), nil
		})
		s.ask(t, 1, nil)
		time.Sleep(2 * ackWait)
		got := s.responses(t)
		if len(got) != 2 || got[0].MessageID != got[1].MessageID || got[1].Payload.Result.Text != "call 1" {
			t.Errorf("responses %+v", got)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

func TestServeDoesOneOfTwoCopiesAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4)
		var calls atomic.Int32
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			calls.Add(1)
			time.Sleep(3 * ackWait)
			return agent.Text("x"), nil
		})
		s.ask(t, 1, nil)
		s.ask(t, 1, nil)
		time.Sleep(5 * ackWait)
		got := s.responses(t)
		if calls.Load() != 1 || len(got) != 2 || got[0].MessageID != got[1].MessageID {
			t.Errorf("%d calls, responses %+v", calls.Load(), got)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

func TestServeDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3)
		s.config.DrainTimeout = time.Minute
		var cancelled atomic.Int32
		stop := s.serve(t, func(ctx context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
			if r.Task().TaskID == "task-1" { // done in time
				time.Sleep(30 * time.Second)
				return agent.Text("x"), nil
			}
			<-ctx.Done()
			cancelled.Add(1)
			return agent.Outcome{}, ctx.Err()
		})
		s.ask(t, 1, nil)
		s.ask(t, 2, nil)
		synctest.Wait()
		s.ask(t, 3, nil)
		synctest.Wait()
		start := time.Now()
		mustStop(t, stop)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("drained for %v", took)
		}
		if s.one(t).Payload.Status != schemas.StatusCompleted || cancelled.Load() != 2 {
			t.Errorf("%d handlers were cancelled", cancelled.Load())
		}
		again := s.ledger.Worker(agentName).TryFetch(3) // at once, not after the ack-wait
		if len(again) != 2 || again[0].Deliveries() != 2 {
			t.Errorf("%d requests were given back", len(again))
		}
	})
}

func TestServeTakesNothingAfterItsContextHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.ask(t, 1, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := agent.Serve(ctx, s.ledger.Worker(agentName), agent.HandlerFunc(echo), s.config); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if left := s.ledger.Worker(agentName).TryFetch(1); len(left) != 1 || left[0].Deliveries() != 1 {
			t.Errorf("left %v", left)
		}
	})
}

func TestServeAnAbandonedHandlerLosesItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		release := make(chan struct{})
		stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			<-release // deaf
			return agent.Text("x"), nil
		})
		s.ask(t, 1, func(e *schemas.Event) { e.Expires = time.Now().Add(time.Minute) })
		time.Sleep(time.Minute + 3*ackWait)
		other := s.ledger.Worker(agentName).TryFetch(1)
		if len(other) != 1 {
			t.Error("the request waits for a handler that never ends")
		}
		close(release)
		if got := s.responses(t); len(got) != 0 {
			t.Errorf("a response without a lease: %+v", got)
		}
		mustStop(t, stop)
	})
}

func TestServeAnnouncesUntilItIsHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		s.config.Agent = schemas.Agent{Name: "not mine to choose", ID: "one", Kind: "test", SideEffects: "external"}
		stop := s.serve(t, echo)
		time.Sleep(time.Minute) // no core yet
		stopServices, err := registry.ServeAgents(t.Context(), s.ledger, registry.AgentServices{Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer stopServices()
		time.Sleep(time.Minute)
		check := func() {
			t.Helper()
			agents, err := registry.Agents(t.Context(), s.ledger)
			if err != nil || len(agents) != 1 {
				t.Fatalf("agents %+v, %v", agents, err)
			}
			if a := agents[0]; a.Name != agentName || a.Concurrency != 2 || a.Kind != "test" || time.Since(a.LastSeen) > 10*time.Second {
				t.Errorf("registered %+v", a)
			}
		}
		check()
		if err := s.ledger.KeyValue(bus.AgentBucket).Delete(t.Context(), registry.InstanceKey(agentName, "one")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // a core that forgot it hears it again
		check()
		mustStop(t, stop)
	})
}

func TestServeSurvivesAFailingFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{ledger: memory.New(1), log: &syncBuffer{}, wrap: func(w bus.Worker) bus.Worker { return w }}
		stop := s.serve(t, echo) // its queue is not declared yet
		time.Sleep(time.Minute)
		if err := s.ledger.Declare(t.Context(), agentName, bus.Pool{Size: 1, AckWait: ackWait}); err != nil {
			t.Fatal(err)
		}
		s.ask(t, 1, nil)
		time.Sleep(10 * time.Second)
		s.one(t)
		mustStop(t, stop)
	})
}

type closedWorker struct{ bus.Worker }

func (closedWorker) Fetch(context.Context, int) ([]bus.Delivery, error) { return nil, bus.ErrClosed }

func TestServeReturnsWhenTheBusIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		err := agent.Serve(t.Context(), closedWorker{s.ledger.Worker(agentName)}, agent.HandlerFunc(echo), s.config)
		if !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Serve: %v, want ErrClosed", err)
		}
		if err := agent.Serve(t.Context(), s.ledger.Worker("No Name"), agent.HandlerFunc(echo), s.config); err == nil {
			t.Error("a name that is no token was served")
		}
	})
}

func TestServeHandsOverWhatTheHandlerNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var got []*agent.Request
		stop := s.serve(t, func(ctx context.Context, r *agent.Request, report agent.Report) (agent.Outcome, error) {
			got = append(got, r)
			return echo(ctx, r, report)
		})
		expires := time.Now().Add(time.Hour).UTC()
		s.ask(t, 1, func(e *schemas.Event) { e.Attempt, e.EffectID, e.Expires = 3, "effect", expires })
		s.ask(t, 2, func(e *schemas.Event) { e.Attempt, e.ReplyTo = 0, bus.ControlSubject(0) })
		s.ask(t, 3, func(e *schemas.Event) { e.ReplyTo = bus.ResponseSubject("other", 0) })
		synctest.Wait()
		if len(got) != 3 {
			t.Fatalf("%d requests", len(got))
		}
		if r := got[0]; r.Attempt != 3 || r.EffectID != "effect" || !r.Expires.Equal(expires) || r.Run == "" || r.Artifacts == nil {
			t.Errorf("request %+v", r)
		}
		if r := got[1]; r.Attempt != 1 || r.EffectID == "" || !r.Expires.IsZero() {
			t.Errorf("a request with defaults: %+v", r)
		}
		s.one(t) // what should go to somebody else's subject goes to the agent's own
		own := 0
		for _, err := range s.ledger.Scan(t.Context(), bus.WorkStream, 1, bus.ServiceSubject(agentName, string(bus.KindResponse))) {
			if err != nil {
				t.Error(err)
			}
			own++
		}
		if own != 2 {
			t.Errorf("%d responses on the agent's own subject, want 2", own)
		}
		mustStop(t, stop)
	})
}

func TestServeForgetsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.config.Remember = 2
		var calls []string
		stop := s.serve(t, func(_ context.Context, r *agent.Request, _ agent.Report) (agent.Outcome, error) {
			calls = append(calls, r.Task().TaskID)
			return agent.Text("x"), nil
		})
		for _, n := range []int{1, 2, 1, 3, 1, 2} { // 2 is the oldest when 3 comes
			s.ask(t, n, nil)
			synctest.Wait()
		}
		if want := []string{"task-1", "task-2", "task-3", "task-2"}; !slices.Equal(calls, want) {
			t.Errorf("worked on %v, want %v", calls, want)
		}
		mustStop(t, stop)
	})
}
