package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/backoff"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/history"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
)

// A crashDesk is an owner and its agents on a nats-server that is killed. What the
// server has written of the agent chat's queue is put back as it was before that was
// asked anything: it writes it up to 100 ms late, and flushes it never.
type crashDesk struct {
	t      *testing.T
	server *serverprocess.Process
	dir    string
	core   *jetstream.Core

	queue string // the file in which the server keeps what it knows of chat's queue
	state []byte // of the queue; nil is no such file

	effects atomic.Int32
	again   chan int // how often a request to chat was handed out, as its second process is told
}

func newCrashDesk(t *testing.T, durability embedded.Durability, unknown schemas.OnUnknown) *crashDesk {
	t.Helper()
	d := &crashDesk{t: t, dir: t.TempDir(), again: make(chan int, 16)}
	d.server = serverprocess.Start(t, serverprocess.Config{Dir: d.dir, Durability: durability, Agents: []string{"worker", "chat"}})
	var err error
	d.core, err = jetstream.Connect(t.Context(), jetstream.Config{
		URL: d.server.URL(), SeedFile: d.server.Keys().Core.SeedFile, Shards: 1, Logger: zerolog.Nop(),
	})
	d.must(err)
	t.Cleanup(d.core.Close)
	profiles, err := restore.NewProfiles(t.Context(), d.core.Artifacts(), []schemas.Profile{crashProfile(unknown)})
	d.must(err)
	for _, agent := range []string{"worker", "chat"} {
		d.must(d.core.Declare(t.Context(), agent, bus.Pool{Size: 1, AckWait: 30 * time.Second}))
	}
	d.queue = filepath.Join(d.folder(), "o.dat")
	if d.state, err = os.ReadFile(d.queue); !errors.Is(err, fs.ErrNotExist) {
		d.must(err)
	}
	d.run(func(ctx context.Context) error { return d.own(ctx, profiles) })
	d.run(func(ctx context.Context) error {
		return d.serve(ctx, "worker", func(w bus.Worker) bus.Worker { return w }, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			return agent.Text("done"), nil
		})
	})
	return d
}

func crashProfile(unknown schemas.OnUnknown) schemas.Profile {
	profile := bustest.DeskProfile(3)
	profile.Retry.Wait = schemas.Duration(50 * time.Millisecond)
	profile.Delivery = profile.Retry
	profile.Delivery.OnUnknown = unknown
	return profile
}

func (d *crashDesk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// run runs a part until the test ends.
func (d *crashDesk) run(part func(ctx context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(d.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	d.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !bus.Temporary(err) {
			d.t.Errorf("a part ended with %v", err)
		}
	})
}

// own owns the shard, with a new owner when the server was away.
func (d *crashDesk) own(ctx context.Context, profiles *restore.Profiles) error {
	for {
		owner := supervisor.NewOwner(supervisor.Config{
			Shard: 0, Name: "owner", Core: d.core, Profiles: profiles, Log: zerolog.Nop(), CatchUp: 50 * time.Millisecond,
		})
		err := owner.Run(ctx)
		if ctx.Err() != nil || errors.Is(err, supervisor.ErrNotOwner) {
			return err
		}
		if err := backoff.Pause(ctx, 20*time.Millisecond); err != nil {
			return nil //nolint:nilerr // the test has ended
		}
	}
}

// serve is the life of one process of an agent.
func (d *crashDesk) serve(ctx context.Context, agentName string, wrap func(bus.Worker) bus.Worker, handle agent.HandlerFunc) error {
	worker, err := worker.Connect(ctx, worker.Config{
		URL: d.server.URL(), SeedFile: d.server.Keys().Agents[agentName].SeedFile, Agent: agentName, Logger: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	defer worker.Close()
	return agent.Serve(ctx, wrap(worker), handle, agent.ServeConfig{
		Agent: schemas.Agent{SideEffects: schemas.SideEffectsExternal}, AckWait: 30 * time.Second, DrainTimeout: time.Millisecond, Log: zerolog.Nop(),
	})
}

// folder is where the server keeps chat's queue.
func (d *crashDesk) folder() string {
	d.t.Helper()
	found := ""
	d.must(filepath.WalkDir(filepath.Join(d.dir, "ledger"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "chat" && filepath.Base(filepath.Dir(path)) == "obs" {
			found = path
		}
		return nil
	}))
	if found == "" {
		d.t.Fatal("the server keeps no queue of chat")
	}
	return found
}

// crash kills the server, and puts back what a crash leaves.
func (d *crashDesk) crash() {
	d.server.Kill()
	err := os.WriteFile(d.queue, d.state, 0o600)
	if d.state == nil {
		if err = os.Remove(d.queue); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		d.t.Errorf("put back what the server had written: %v", err)
	}
}

// chat runs the first process of the agent until the server has been killed, restarts
// that, and runs another one, which remembers nothing. The first acts once it is
// permitted. The server is killed when it acknowledges, or with early already before it
// answers.
func (d *crashDesk) chat(early bool, second agent.HandlerFunc) {
	d.t.Helper()
	ctx, die := context.WithCancel(d.t.Context())
	defer die()
	crashed := make(chan struct{})
	crash := sync.OnceFunc(func() {
		d.crash()
		die()
		close(crashed)
	})
	ended := make(chan error, 1)
	go func() {
		ended <- d.serve(ctx, "chat", func(w bus.Worker) bus.Worker { return &ackless{Worker: w, acknowledged: crash} },
			func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
				if err := request.Permit(ctx); err != nil {
					return agent.Outcome{}, err
				}
				d.effects.Add(1)
				if early {
					crash()
				}
				return agent.Text("told"), nil
			})
	}()
	d.say()
	select {
	case <-crashed:
	case <-time.After(patience):
		d.t.Fatal("chat was asked nothing")
	}
	if err := <-ended; err != nil && !bus.Temporary(err) {
		d.t.Errorf("the first process ended with %v", err)
	}
	d.server.Restart()
	d.run(func(ctx context.Context) error {
		return d.serve(ctx, "chat", func(w bus.Worker) bus.Worker { return &counting{Worker: w, acknowledged: d.again} }, second)
	})
}

func (d *crashDesk) session() string { return schemas.SessionID("desk", "thread") }

func (d *crashDesk) say() {
	d.t.Helper()
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "thread", MessageID: "m1", Text: "do it"})
	d.must(err)
	message, err := binding.Encode(bus.InSubject("chat", 0), &schemas.Event{
		ID: "m1", Source: "/desk", Type: schemas.TypeChatReceived, Time: time.Now().UTC(), Profile: "desk", PartitionKey: "thread",
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	d.must(err)
	_, err = bus.Append(d.t.Context(), d.core, message, bus.Expect{})
	d.must(err)
}

// facts counts the facts that a test looks for.
func (d *crashDesk) facts(wanted func(schemas.Fact) bool) (found int) {
	for record, err := range history.LoadSession(d.t.Context(), d.core, d.session()) {
		if err != nil {
			return 0 // the server is on its way
		}
		for fact := range record.AllFacts() {
			if wanted(fact) {
				found++
			}
		}
	}
	return found
}

// ackless is a worker whose acknowledgments do not arrive.
type ackless struct {
	bus.Worker
	acknowledged func()
}

func (w *ackless) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	deliveries, err := w.Worker.Fetch(ctx, n)
	for i := range deliveries {
		deliveries[i] = &unacknowledged{deliveries[i], w.acknowledged}
	}
	return deliveries, err
}

type unacknowledged struct {
	bus.Delivery
	acknowledged func()
}

func (d *unacknowledged) Ack(context.Context) error {
	d.acknowledged()
	return &bus.TemporaryError{Op: "acknowledge", Err: context.DeadlineExceeded}
}

// counting is a worker that says what it has acknowledged.
type counting struct {
	bus.Worker
	acknowledged chan<- int
}

func (w *counting) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	deliveries, err := w.Worker.Fetch(ctx, n)
	for i := range deliveries {
		deliveries[i] = &counted{deliveries[i], w.acknowledged}
	}
	return deliveries, err
}

type counted struct {
	bus.Delivery
	acknowledged chan<- int
}

func (d *counted) Ack(ctx context.Context) error {
	err := d.Delivery.Ack(ctx)
	if err == nil {
		d.acknowledged <- d.Deliveries()
	}
	return err
}

// awaitAgain waits until the second process has dealt with what it was handed, which
// the server says is for the first time.
func (d *crashDesk) awaitAgain() {
	d.t.Helper()
	select {
	case count := <-d.again:
		if count != 1 {
			d.t.Errorf("the server knows that it hands the request out for time %d", count)
		}
	case <-time.After(patience):
		d.t.Fatal("the request does not come again")
	}
}

func ends(f schemas.Fact) bool { return schemas.As[*schemas.RunEnded](f) != nil }

// TestEffectOnceOverACrashOfTheServer: the server is killed when an agent has acted by
// the permit that came along, and its answer is stored. The server hands the request out
// as if for the first time, to a process that remembers nothing: nothing is done again.
func TestEffectOnceOverACrashOfTheServer_X03(t *testing.T) {
	t.Parallel()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			d := newCrashDesk(t, durability, schemas.OnUnknownResend)
			d.chat(false, func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
				if err := request.Permit(ctx); err != nil {
					return agent.Outcome{}, err
				}
				d.effects.Add(1)
				return agent.Text("told"), nil
			})
			d.awaitAgain()
			eventually(t, "the run ends", func() bool { return d.facts(ends) == 1 })
			if effects := d.effects.Load(); effects != 1 {
				t.Errorf("it was done %d times", effects)
			}
			if n := d.facts(func(f schemas.Fact) bool {
				return schemas.As[*schemas.TaskDispatched](f) != nil && schemas.As[*schemas.TaskDispatched](f).Permitted
			}); n != 1 {
				t.Errorf("%d requests brought their permit along", n)
			}
		})
	}
}

// TestDoubtOverACrashOfTheServer: the server is killed when an agent has acted and has
// not answered. The next process, to which the request comes as if for the first time,
// fails before it has asked: that says nothing about the effect, which is not
// permitted again where a person is to judge.
func TestDoubtOverACrashOfTheServer_X03(t *testing.T) {
	t.Parallel()
	d := newCrashDesk(t, embedded.Interval, schemas.OnUnknownAsk)
	var calls atomic.Int32
	d.chat(true, func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
		if calls.Add(1) == 1 {
			return agent.Outcome{}, &agent.Failure{Message: "the line is busy"}
		}
		if err := request.Permit(ctx); err != nil {
			return agent.Outcome{}, err
		}
		d.effects.Add(1)
		return agent.Text("told"), nil
	})
	d.awaitAgain()
	eventually(t, "the run ends", func() bool { return d.facts(ends) == 1 })
	if effects := d.effects.Load(); effects != 1 {
		t.Errorf("it was done %d times", effects)
	}
	told := func(f schemas.Fact) bool {
		return schemas.As[*schemas.TaskFailed](f) != nil && schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailureUnknownEffect
	}
	if d.facts(told) != 1 {
		t.Error("nobody is told that it may have been done")
	}
}
