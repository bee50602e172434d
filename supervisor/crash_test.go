package supervisor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// mortal is a process of an agent until it dies: then nothing it does reaches
// anybody, as after kill -9.
type mortal struct {
	bus.Worker
	dead *atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m mortal) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	if m.dead.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	deliveries, err := m.Worker.Fetch(ctx, n)
	for i := range deliveries {
		deliveries[i] = mortalDelivery{deliveries[i], m.dead}
	}
	return deliveries, err
}

func (m mortal) Publish(ctx context.Context, message bus.Message) (bus.Ack, error) {
	if m.dead.Load() {
		return bus.Ack{}, errDead
	}
	return m.Worker.Publish(ctx, message)
}

type mortalDelivery struct {
	bus.Delivery
	dead *atomic.Bool
}

func (d mortalDelivery) InProgress() error {
	if d.dead.Load() {
		return errDead
	}
	return d.Delivery.InProgress()
}

func (d mortalDelivery) Ack(ctx context.Context) error {
	if d.dead.Load() {
		return errDead
	}
	return d.Delivery.Ack(ctx)
}

func (d mortalDelivery) Nak(wait time.Duration) error {
	if d.dead.Load() {
		return errDead
	}
	return d.Delivery.Nak(wait)
}

// TestCrashIsNoticed: an agent that promises signs of life is missed within three
// of them, long before its deadline, and its task is done again; as long as it
// gives them, however long it takes, it is not.
func TestCrashIsNoticed_M47(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		d.use(func(profile *schemas.Profile) {
			profile.Agents[0].Heartbeat = schemas.Duration(agent.DefaultProgressEvery)
			profile.Deadlines.Work = schemas.Duration(time.Hour)
		})
		d.now = time.Now()
		ctx, stop := context.WithCancel(t.Context())
		ended := d.run(ctx, "one", d.ledger)
		d.must(d.ledger.Declare(ctx, "worker", bus.Pool{Size: 1, AckWait: 30 * time.Second}))
		serve := func(dead *atomic.Bool, work time.Duration) (served chan error) {
			served = make(chan error, 1)
			handle := func(ctx context.Context, _ *agent.Request, _ agent.Report) (agent.Outcome, error) {
				select {
				case <-time.After(work):
					return agent.Text("done"), nil
				case <-ctx.Done():
					return agent.Outcome{}, context.Cause(ctx)
				}
			}
			go func() {
				served <- agent.Serve(ctx, mortal{d.ledger.Worker("worker"), dead}, agent.HandlerFunc(handle), agent.ServeConfig{})
			}()
			return served
		}
		var firstIsDead, secondIsDead atomic.Bool
		first := serve(&firstIsDead, 10*time.Hour)
		d.say("thread", "m1", "do it")
		time.Sleep(10 * time.Minute)
		task := func() *workflow.Task { return d.sessionHistory("thread").Run(1).Tasks[0] }
		if now := task(); now.State != workflow.TaskRunning || now.Attempt != 1 || now.LastFailure != nil {
			t.Fatalf("while it works it is %s, attempt %d, %s", now.State, now.Attempt, now.Failure().Cause)
		}
		firstIsDead.Store(true)
		time.Sleep(30 * time.Second)
		if now := task(); now.Failure().Cause != schemas.FailureCrashed {
			t.Fatalf("30 s after the crash it is %s, attempt %d, %s", now.State, now.Attempt, now.Failure().Cause)
		}
		second := serve(&secondIsDead, 5*time.Minute)
		time.Sleep(20 * time.Minute)
		run := d.sessionHistory("thread").Run(1)
		if now := run.Tasks[0]; now.State != workflow.TaskCompleted || now.Attempt != 2 {
			t.Errorf("after the restart it is %s, attempt %d, %s", now.State, now.Attempt, now.Failure().Cause)
		}
		stop()
		for _, done := range []chan error{ended, first, second} {
			if err := <-done; err != nil {
				t.Errorf("it ended with %v", err)
			}
		}
		d.clean()
	})
}

// progress has an agent say that it works on a request.
func (d *desk) progress(agent string, request *schemas.Event) {
	d.tb.Helper()
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.EffectID(request.ID, d.now.String()), From: agent, To: "supervisor",
			Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: d.now, InReplyTo: request.ID,
		},
		Payload: schemas.ProgressPayload{PlanID: schemas.PlanID(request.CorrelationID)},
	}
	body, err := schemas.Marshal(update)
	d.must(err)
	d.put(bus.ProgressSubject(agent, 0), &schemas.Event{
		ID: update.MessageID, Source: binding.SourceOf(agent), Type: schemas.TypeProgressUpdate, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// TestNobodyWorksForNobody: an agent that says that it works on what nobody waits
// for any more is told so, because it may not have heard it the first time: the
// bus hands the request of a process that died to the next one.
func TestNobodyWorksForNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(d *desk, o *supervisor.Owner, request *schemas.Event)
		told bool
	}{
		"UnderWay": {func(*desk, *supervisor.Owner, *schemas.Event) {}, false},
		"AnotherAttempt": {func(d *desk, o *supervisor.Owner, request *schemas.Event) {
			d.refuse("worker", request)
			d.must(d.work(o))
			d.now = d.now.Add(time.Second)
			d.must(d.work(o))
		}, true},
		"RunEnded": {func(d *desk, o *supervisor.Owner, _ *schemas.Event) {
			d.answerNewest("worker", "done")
			d.must(d.work(o))
			d.answerNewest("chat", "")
			d.must(d.work(o))
		}, true},
		"NeverAsked": {func(_ *desk, _ *supervisor.Owner, request *schemas.Event) {
			request.ID, request.Attempt = schemas.RequestID(0, 1, request.CorrelationID, "t1", 7), 7 // a successor may have
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			request := d.requests("worker")[0]
			c.then(d, o, &request)
			next := d.ledger.Worker("worker") // hears nothing of before
			d.progress("worker", &request)
			d.must(d.work(o))
			select {
			case id := <-next.Cancelled():
				if !c.told || id != request.ID {
					t.Errorf("it is told to leave %s, and works on %s", id, request.ID)
				}
			default:
				if c.told {
					t.Error("it is not told")
				}
			}
			d.clean()
		})
	}
}
