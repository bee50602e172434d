package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/binding"
	"podium/bus/embedded"
	"podium/bus/history"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/admission"
	"podium/supervisor/circuit"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// An installation is a ledger on a server, with one owner for each of two shards,
// each with a connection of its own as if it were a process of its own, and agents.
type installation struct {
	t      *testing.T
	server *embedded.Server
	core   bus.Core
}

func install(t *testing.T, profile schemas.Profile, change func(*supervisor.Config), agents map[string]agent.HandlerFunc) *installation {
	t.Helper()
	names := make([]string, 0, len(agents))
	for name := range agents {
		names = append(names, name)
	}
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: t.TempDir(), Durability: embedded.Interval, Agents: names, Shards: 2, Logger: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	connect := func() bus.Core {
		core, err := server.Core(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(core.Close)
		return core
	}
	i := &installation{t: t, server: server, core: connect()}
	var work sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	for name, handle := range agents {
		if err := i.core.Declare(ctx, name, bus.Pool{Size: 8, AckWait: 10 * time.Second}); err != nil {
			t.Fatal(err)
		}
		worker, err := server.Worker(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(worker.Close)
		work.Go(func() {
			if err := agent.Serve(ctx, worker, handle, agent.ServeConfig{Concurrency: 8, AckWait: 10 * time.Second}); err != nil {
				t.Errorf("agent %s: %v", name, err)
			}
		})
	}
	for shard := range 2 {
		core := connect()
		profiles, err := restore.NewProfiles(ctx, core.Artifacts(), []schemas.Profile{profile})
		if err != nil {
			t.Fatal(err)
		}
		config := supervisor.Config{Shard: shard, Name: fmt.Sprint("owner-", shard), Core: core, Profiles: profiles, Log: zerolog.Nop()}
		change(&config)
		work.Go(func() {
			if err := supervisor.NewOwner(config).Run(ctx); err != nil {
				t.Errorf("owner of shard %d: %v", shard, err)
			}
		})
	}
	t.Cleanup(func() { // before the connections are closed
		stop()
		work.Wait()
	})
	return i
}

// say begins a session in a shard and returns its session.
func (i *installation) say(shard, number int, words string) string {
	i.t.Helper()
	for n := 0; ; n++ {
		thread := fmt.Sprintf("thread-%d-%d", number, n)
		id := schemas.SessionID("desk", thread)
		if schemas.ShardOf(id, 2) != shard {
			continue
		}
		body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: thread, Text: words})
		if err != nil {
			i.t.Fatal(err)
		}
		message, err := binding.Encode(bus.InSubject("chat", shard), &schemas.Event{
			ID: thread, Source: "/desk", Type: schemas.TypeChatReceived, Time: time.Now(), Profile: "desk", PartitionKey: thread,
			DataContentType: schemas.MediaTypeJSON, Data: body,
		})
		if err != nil {
			i.t.Fatal(err)
		}
		if _, err = bus.Append(i.t.Context(), i.core, message, bus.Expect{}); err != nil {
			i.t.Fatal(err)
		}
		return id
	}
}

// ends waits until the first run of a session has ended.
func (i *installation) ends(session string) *workflow.RunHistory {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), 5*time.Minute)
	defer cancel()
	folded := &workflow.SessionHistory{Session: session}
	for record, err := range history.FollowSession(ctx, i.core, session, 1) {
		if err == nil {
			err = folded.Apply(record.Record)
		}
		if err != nil {
			i.t.Fatal(err)
		}
		if run := folded.Run(1); run != nil && run.Phase == workflow.PhaseComplete {
			return run
		}
	}
	i.t.Fatal("it does not end")
	return nil
}

// clean decides both shards again.
func (i *installation) clean() {
	i.t.Helper()
	known, err := restore.NewProfiles(i.t.Context(), i.core.Artifacts(), nil)
	if err != nil {
		i.t.Fatal(err)
	}
	for shard := range 2 {
		result, err := verify.Shard(i.t.Context(), i.core, known, shard, "")
		if err != nil {
			i.t.Fatal(err)
		}
		for _, fault := range result.Faults {
			i.t.Errorf("record %d at %d: %s", fault.Record, fault.Sequence, fault.What)
		}
	}
}

// shows waits until the registry shows an agent's breaker in a state.
func (i *installation) shows(agent string, want schemas.BreakerState) {
	i.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		agents, err := registry.Agents(i.t.Context(), i.core)
		if err != nil {
			i.t.Fatal(err)
		}
		for at := range agents {
			if agents[at].Name == agent && agents[at].Breaker.At(time.Now()) == want {
				return
			}
		}
		timer := time.NewTimer(10 * time.Millisecond)
		<-timer.C
	}
	i.t.Fatalf("the breaker of %s is never %s", agent, want)
}

func delivered(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
	return agent.Outcome{}, nil
}

// TestBreakerBetweenProcesses: what one process has seen of an agent bars it for
// the other, and its recovery is everybody's.
func TestBreakerBetweenProcesses_M28(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	var calls atomic.Int32
	down.Store(true)
	profile := deskProfile()
	profile.Retry.Attempts = 1
	i := install(t, profile, func(config *supervisor.Config) {
		config.Breaker = func(string) circuit.Policy {
			return circuit.Policy{Failures: 3, Within: time.Minute, Open: 3 * time.Second}
		}
	}, map[string]agent.HandlerFunc{"chat": delivered, "worker": func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
		calls.Add(1)
		if down.Load() {
			return agent.Outcome{}, errors.New("down")
		}
		return agent.Text("done"), nil
	}})
	for number := range 3 {
		if run := i.ends(i.say(0, number, "do it")); run.Reason != schemas.StopTaskFailed {
			t.Fatalf("run %d ended as %s (%s)", number, run.Status, run.Reason)
		}
	}
	i.shows("worker", schemas.BreakerOpen)
	for number := 3; calls.Load() < 10; number++ { // the other one may be a second behind
		if run := i.ends(i.say(1, number, "do it")); run.Reason == schemas.StopUnavailable {
			break
		}
	}
	if n := calls.Load(); n >= 10 {
		t.Fatalf("another process asks the agent %d times more", n-3)
	}
	down.Store(false)
	for number := 50; i.ends(i.say(0, number, "do it")).Status != schemas.RunCompleted; number++ { // until a probe may go
		timer := time.NewTimer(100 * time.Millisecond)
		<-timer.C
	}
	i.shows("worker", schemas.BreakerClosed)
	for number := range 4 {
		if run := i.ends(i.say(1-number%2, 10_000+number, "do it")); run.Status != schemas.RunCompleted {
			t.Errorf("run %d after the recovery ended as %s (%s)", number, run.Status, run.Reason)
		}
	}
	i.clean()
}

// TestLeaseOverAServer: many tasks of two processes that need the same things
// are done one after the other, and all of them are done.
func TestLeaseOverAServer_M19(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	users := map[string]int{}
	most := 0
	use := func(words string, change int) {
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range needs(words) {
			users[resource] += change
			most = max(most, users[resource])
		}
	}
	profile := deskProfile()
	sharing(&profile)
	local := &admission.LocalOwners{}
	i := install(t, profile, func(config *supervisor.Config) {
		config.LocalOwners = local
	}, map[string]agent.HandlerFunc{"chat": delivered, "worker": func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
		words := strings.TrimSpace(request.Task().Description)
		use(words, 1)
		timer := time.NewTimer(5 * time.Millisecond)
		<-timer.C
		use(words, -1)
		return agent.Text(words), nil
	}})
	words := []string{"print", "scan", "copy", "urgent", "anything"}
	var sessions []string
	for number := range 30 {
		sessions = append(sessions, i.say(number%2, number, words[number%len(words)]))
	}
	for number, session := range sessions {
		if run := i.ends(session); run.Status != schemas.RunCompleted {
			t.Errorf("run %d ended as %s (%s)", number, run.Status, run.Reason)
		}
	}
	if most != 1 {
		t.Errorf("%d tasks used one resource at a time", most)
	}
	i.clean()
}
