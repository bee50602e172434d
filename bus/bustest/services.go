package bustest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/registry"
	"podium/schemas"
)

func testServices(t *testing.T, s System) {
	declare(t, s, "asker", 1)
	w := s.Worker(t, "asker")
	ctx := deadline(t)

	t.Run("NobodyAnswers", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if _, err := w.Ask(short, bus.ServiceAlive, nil); err == nil {
			t.Error("an answer came from nobody")
		}
	})
	t.Run("AnswerAndError", func(t *testing.T) {
		for _, service := range []string{bus.ServiceAnnounce, bus.ServiceAlive, bus.ServicePartial} {
			testAnswers(t, s, w, service)
		}
	})
	t.Run("StopWaitsForAnswersUnderWay", func(t *testing.T) { testServeStop(t, s, w) })
	t.Run("OwnSubjectsOnly_G40", func(t *testing.T) { testOwnSubjects(t, s, w) })
	t.Run("PermitReachesTheAgent", func(t *testing.T) { testPermitted(t, s, w) })
	t.Run("CancelReachesTheWorker", func(t *testing.T) {
		ctx := deadline(t)
		for { // a signal may be missed, so it is sent until it is heard
			if err := s.Core.Signal(bus.ServiceSubject("asker", bus.SignalCancel), []byte("request-1")); err != nil {
				t.Fatal(err)
			}
			select {
			case id := <-w.Cancelled():
				if id != "request-1" {
					t.Errorf("cancelled %q", id)
				}
				return
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				t.Fatal("the signal was never heard")
			}
		}
	})
}

// testPermitted: a question for a permit is an input of its shard, the answer
// reaches every process of the agent and nobody else, and what is no answer
// changes nothing.
func testPermitted(t *testing.T, s System, w bus.Worker) {
	t.Helper()
	ctx := deadline(t)
	declare(t, s, "victim", 1)
	second, other := s.Worker(t, "asker"), s.Worker(t, "victim")
	const id = "0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f"
	request := schemas.Event{ID: "r", Source: binding.SourceOf("supervisor"), ReplyTo: bus.ResponseSubject("asker", 1)}
	question, asked, err := agent.PermitRequest("asker", &request, id, "", time.Now())
	if err != nil || !asked {
		t.Fatalf("the question: %t, %v", asked, err)
	}
	if _, err = w.Publish(ctx, question); err != nil {
		t.Fatalf("ask for a permit: %v", err)
	}
	if stored, err := s.Core.Last(ctx, bus.PermitSubject("asker", 1)); err != nil || string(stored.Body) != string(question.Body) {
		t.Errorf("the shard holds %q, %v", stored.Body, err)
	}
	want := schemas.PermitAnswer{Permit: id, Reason: schemas.PermitCancelled}
	answer, err := schemas.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	heard := map[bus.Worker]bool{}
	for len(heard) < 2 { // an answer may be missed, so it is given until it is heard
		for _, body := range [][]byte{[]byte("no answer"), answer} {
			if err := s.Core.Signal(bus.ServiceSubject("asker", bus.SignalPermitted), body); err != nil {
				t.Fatal(err)
			}
		}
		for _, process := range []bus.Worker{w, second} {
			select {
			case got := <-process.Permitted():
				if got != want {
					t.Errorf("heard %+v, want %+v", got, want)
				}
				heard[process] = true
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				t.Fatal("the answer was never heard")
			}
		}
	}
	select {
	case got := <-other.Permitted():
		t.Errorf("another agent heard %+v", got)
	default:
	}
}

// testAnswers: what the core answers to an agent reaches it, and so does why it does not answer.
func testAnswers(t *testing.T, s System, w bus.Worker, service string) {
	t.Helper()
	stop, err := s.Core.Serve(bus.ServiceSubject("*", service), func(_ context.Context, subject string, body []byte) ([]byte, error) {
		if string(body) == "fail" {
			return nil, errors.New("no room left")
		}
		return append([]byte(subject+" "), body...), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	got, err := w.Ask(deadline(t), service, []byte("hello"))
	if want := "podium.agent.asker." + service + " hello"; err != nil || string(got) != want {
		t.Errorf("answer %q, %v; want %q", got, err, want)
	}
	if _, err := w.Ask(deadline(t), service, []byte("fail")); err == nil || !strings.Contains(err.Error(), "no room left") {
		t.Errorf("%s: the answer's error reached the asker as %v", service, err)
	}
}

func testServeStop(t *testing.T, s System, w bus.Worker) {
	t.Helper()
	ctx := deadline(t)
	entered, release := make(chan struct{}), make(chan struct{})
	var finished atomic.Bool
	stop, err := s.Core.Serve(bus.ServiceSubject("*", bus.ServiceAlive), func(context.Context, string, []byte) ([]byte, error) {
		close(entered)
		<-release
		finished.Store(true)
		return []byte("done"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := w.Ask(ctx, bus.ServiceAlive, nil)
		asked <- err
	}()
	<-entered
	stopped := make(chan bool, 1)
	go func() {
		stop()
		stopped <- finished.Load()
	}()
	select {
	case <-stopped:
		t.Error("stop returned while an answer was under way")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	if !<-stopped {
		t.Error("stop returned before the answer")
	}
	if err := <-asked; err != nil {
		t.Errorf("the answer under way was lost: %v", err)
	}
}

func testOwnSubjects(t *testing.T, s System, w bus.Worker) {
	t.Helper()
	ctx := deadline(t)
	for _, subject := range []string{
		bus.ResponseSubject("asker", 0), bus.ProgressSubject("asker", 1), bus.PermitSubject("asker", 1),
		"podium.agent.asker.response", "podium.agent.asker.progress",
	} {
		ack, err := w.Publish(ctx, message(subject, "mine"))
		if err != nil || ack.Sequence == 0 {
			t.Errorf("publish to %s: %+v, %v", subject, ack, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second) // a server may refuse by silence
	defer cancel()
	for _, subject := range []string{
		bus.ResponseSubject("victim", 0), bus.PermitSubject("victim", 0), bus.RequestSubject("victim"), bus.RequestSubject("asker"),
		bus.InSubject("chat", 0), bus.ControlSubject(0), subjectIn(s.Core, 0, "forged", 0), bus.ShardSubject(0),
	} {
		if _, err := w.Publish(short, message(subject, "forged")); err == nil {
			t.Errorf("an agent published to %s", subject)
		}
		if _, err := s.Core.Last(ctx, subject); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("after a forged publish to %s its last is %v, want ErrNotFound", subject, err)
		}
	}
}

// testAgents holds the core services of package bus to their promise over the
// system's own transport.
func testAgents(t *testing.T, s System) {
	ctx := deadline(t)
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var minutes atomic.Int64
	stop, err := registry.ServeAgents(t.Context(), s.Core, registry.AgentServices{Clock: func() time.Time { return start.Add(time.Duration(minutes.Load()) * time.Minute) }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	declare(t, s, "member", 1)
	w := s.Worker(t, "member")

	t.Run("AliveBeforeAnnounceIsRefused", func(t *testing.T) {
		if _, err := w.Ask(ctx, bus.ServiceAlive, nil); err == nil {
			t.Error("an unknown agent is alive")
		}
	})
	t.Run("AnnounceNamesTheAsker", func(t *testing.T) {
		body, err := schemas.Marshal(schemas.Agent{Name: "somebody-else", Kind: "echo", Concurrency: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Ask(ctx, bus.ServiceAnnounce, body); err != nil {
			t.Fatalf("announce: %v", err)
		}
		minutes.Add(1)
		if _, err := w.Ask(ctx, bus.ServiceAlive, nil); err != nil {
			t.Fatalf("alive: %v", err)
		}
		agents, err := registry.Agents(ctx, s.Core)
		if err != nil || len(agents) != 1 {
			t.Fatalf("agents %+v, %v", agents, err)
		}
		if a := agents[0]; a.Name != "member" || a.Kind != "echo" || !a.Announced.Equal(start) || !a.LastSeen.Equal(start.Add(time.Minute)) {
			t.Errorf("registered %+v", a)
		}
		if _, err := w.Ask(ctx, bus.ServiceAnnounce, []byte("{")); err == nil {
			t.Error("an announcement that is not JSON was taken")
		}
	})
	t.Run("RegistryShowsBreakers_M28", func(t *testing.T) { testBreakers(t, s) })
	t.Run("Artifacts", func(t *testing.T) { testArtifactStore(t, w.Artifacts("request"), bus.ErrNotGranted) })
	t.Run("ArtifactsOpenByGrant_G40", func(t *testing.T) { testGrants(t, s, w, start) })
}

// testGrants: what the core or another agent has put opens to whom it was granted
// to, for the request that it was granted for, and to nobody else.
func testGrants(t *testing.T, s System, w bus.Worker, now time.Time) {
	t.Helper()
	ctx := deadline(t)
	declare(t, s, "victim", 1)
	stranger := s.Worker(t, "victim")
	grants, err := artifact.OpenGrants(ctx, s.Core, now)
	if err != nil {
		t.Fatal(err)
	}
	large, err := w.Artifacts("request").Put(ctx, strings.NewReader(strings.Repeat("of the member ", 100_000)), "text/plain")
	if err != nil || !grants.HasPut(large.Grant, "member", large.SHA256) {
		t.Fatalf("put by an agent: %+v, %v", large, err)
	}
	put, err := s.Core.Artifacts().Put(ctx, strings.NewReader("from the core"), "text/plain")
	if err != nil || put.Grant != "" {
		t.Fatalf("put by the core: %+v, %v", put, err)
	}
	granted := put
	granted.Grant = grants.Read("member", "request", put.SHA256, now.Add(time.Hour))
	if got := readArtifact(t, w.Artifacts("request"), granted); string(got) != "from the core" {
		t.Errorf("read %q", got)
	}
	past := put
	past.Grant = grants.Read("member", "request", put.SHA256, now.Add(-time.Hour))
	other := large
	other.SHA256 = put.SHA256
	for name, refused := range map[string]struct {
		asker    bus.Artifacts
		artifact schemas.Artifact
	}{
		"by its hash alone":          {w.Artifacts("request"), put},
		"another agent's":            {stranger.Artifacts("request"), granted},
		"another agent's upload":     {stranger.Artifacts("request"), large},
		"another request's":          {w.Artifacts("another"), granted},
		"another artifact's":         {w.Artifacts("request"), other},
		"one that has expired":       {w.Artifacts("request"), past},
		"with a grant of somebody's": {w.Artifacts("request"), schemas.Artifact{SHA256: put.SHA256, Grant: "read.x..AAAA"}},
	} {
		if opened, err := refused.asker.Get(ctx, refused.artifact); !errors.Is(err, bus.ErrNotGranted) {
			if err == nil {
				_ = opened.Close()
			}
			t.Errorf("%s: %v", name, err)
		}
	}
}

// testBreakers: the registry shows each agent's breaker, also of one that has never
// announced itself, and leaves alone what else stands in its bucket.
func testBreakers(t *testing.T, s System) {
	t.Helper()
	ctx := deadline(t)
	open := schemas.Breaker{State: schemas.BreakerOpen, Since: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	body, err := schemas.Marshal(open)
	if err != nil {
		t.Fatal(err)
	}
	store := s.Core.KeyValue(bus.AgentBucket)
	for key, value := range map[string]string{registry.BreakerKey("absent"): string(body), "cursor.forwarder": "17"} {
		if _, err = store.Put(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	agents, err := registry.Agents(ctx, s.Core)
	if err != nil || len(agents) != 2 {
		t.Fatalf("agents %+v, %v", agents, err)
	}
	if a := agents[0]; a.Name != "absent" || !a.Announced.IsZero() || a.Breaker.State != schemas.BreakerOpen || !a.Breaker.Since.Equal(open.Since) {
		t.Errorf("of an agent that was never here: %+v, breaker %+v", a, a.Breaker)
	}
	if a := agents[1]; a.Name != "member" || a.Kind != "echo" || a.Breaker.State != schemas.BreakerClosed {
		t.Errorf("of an agent that nobody has complained of: %+v, breaker %+v", a, a.Breaker)
	}
}
