package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/gate"
	"podium/bus/jetstream/worker"
)

// TestOthersNoticeNothing: five agents come and five are cut off while another one works. That one loses no request, has none twice,
// and keeps its connection; who is cut off can neither pull nor publish from then on, and its key is no use any more.
func TestOthersNoticeNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leaving := []string{"gone-0", "gone-1", "gone-2", "gone-3", "gone-4"}
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: dir, Durability: embedded.Interval, External: append([]string{"steady"}, leaving...), Shards: 1, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	c, err := server.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, agent := range append([]string{"steady"}, leaving...) {
		if err := c.Declare(t.Context(), agent, bus.Pool{Size: 100, AckWait: time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	keeper := gate.New(time.Now, func(int) bool { return false }, zerolog.Nop())
	server.CountRequests(keeper.Requests)
	opened, err := c.OpenGate(t.Context(), keeper, append([]string{"steady"}, leaving...))
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	seeds := map[string]string{}
	for name, key := range server.Keys().Agents {
		copied := filepath.Join(t.TempDir(), name) // as on another machine
		body, err := os.ReadFile(key.SeedFile)
		if err == nil {
			err = os.WriteFile(copied, body, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		seeds[name] = copied
	}
	connect := func(agent string) (*worker.Worker, error) {
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		return worker.Connect(ctx, worker.Config{URL: server.URL(), SeedFile: seeds[agent], Agent: agent, Logger: zerolog.Nop()})
	}
	cut := map[string]*worker.Worker{}
	for _, agent := range leaving {
		if cut[agent], err = connect(agent); err != nil {
			t.Fatal(err)
		}
		defer cut[agent].Close()
	}
	steady, err := connect("steady")
	if err != nil {
		t.Fatal(err)
	}
	defer steady.Close()
	option, err := nats.NkeyOptionFromSeed(seeds["steady"])
	if err != nil {
		t.Fatal(err)
	}
	bystander, err := nats.Connect(server.URL(), option, nats.ReconnectHandler(func(*nats.Conn) { t.Error("a bystander was cut off, and is back") }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if t.Context().Err() == nil && err != nil {
				t.Errorf("a bystander is cut off: %v", err)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer bystander.Close()

	// Requests flow as long as agents come and go.
	const least = 200
	ctx := t.Context()
	asking, stopAsking := context.WithCancel(ctx)
	var askers, flowing sync.WaitGroup
	var mu sync.Mutex
	asked, done := 0, map[string]int{}
	askers.Go(func() {
		for asking.Err() == nil || asked < least {
			if _, err := bus.Append(ctx, c, bus.Message{Subject: bus.RequestSubject("steady"), Body: fmt.Appendf(nil, "%d", asked)}, bus.Expect{}); err != nil {
				t.Errorf("ask: %v", err)
				return
			}
			asked++
			time.Sleep(time.Millisecond)
		}
	})
	working, stopWorking := context.WithCancel(ctx)
	flowing.Go(func() {
		for working.Err() == nil {
			taken, err := steady.Fetch(working, 10)
			if err != nil && working.Err() == nil {
				t.Errorf("fetch: %v", err)
				return
			}
			for _, d := range taken {
				if _, err := steady.Publish(ctx, bus.Message{Subject: bus.ProgressSubject("steady", 0), Body: []byte("at it")}); err != nil && !bus.Temporary(err) {
					t.Errorf("publish: %v", err)
				}
				if err := d.Ack(ctx); err != nil {
					t.Errorf("acknowledge: %v", err)
				}
				mu.Lock()
				done[string(d.Message().Body)]++
				mu.Unlock()
			}
		}
	})

	for n, agent := range leaving {
		come := fmt.Sprintf("come-%d", n)
		if err := c.Declare(t.Context(), come, bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
			t.Fatal(err)
		}
		if err := opened.Admit(t.Context(), come); err != nil {
			t.Fatal(err)
		}
		key, err := server.Admit(come)
		if err != nil {
			t.Fatal(err)
		}
		seeds[come] = key.SeedFile
		joined, err := connect(come)
		if err != nil {
			t.Fatalf("%s was taken in: %v", come, err)
		}
		defer joined.Close()
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.RequestSubject(come), Body: []byte("welcome")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
		soon, stop := context.WithTimeout(t.Context(), patience)
		if taken, err := joined.Fetch(soon, 1); err != nil || string(taken[0].Message().Body) != "welcome" {
			t.Errorf("%s is handed %v, %v", come, taken, err)
		}
		stop()

		before, err := c.State(t.Context(), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Expel(agent); err != nil {
			t.Fatal(err)
		}
		opened.Expel(agent)
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.RequestSubject(agent), Body: []byte("too late")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
		soon, stop = context.WithTimeout(t.Context(), time.Second)
		if taken, err := cut[agent].Fetch(soon, 1); err == nil {
			t.Errorf("%s was cut off, and is handed %d requests", agent, len(taken))
		}
		if _, err := cut[agent].Publish(soon, bus.Message{Subject: bus.ResponseSubject(agent, 0), Body: []byte("too late")}); err == nil {
			t.Errorf("%s was cut off, and publishes", agent)
		}
		stop()
		if _, err := connect(agent); !errors.Is(err, bus.ErrDenied) {
			t.Errorf("%s was cut off, and connects: %v", agent, err)
		}
		for message, err := range c.Scan(t.Context(), bus.ShardStream(0), before.Last+1) {
			if err != nil {
				t.Fatal(err)
			}
			if subject, err := bus.ParseSubject(message.Subject); err != nil || subject.Agent != "steady" {
				t.Errorf("stored after %s was cut off: %s", agent, message.Subject)
			}
		}
		if _, err := os.Stat(embedded.AgentSeedFile(filepath.Join(dir, "credentials"), agent)); err == nil {
			t.Errorf("the key of %s is still there", agent)
		}
	}
	stopAsking()
	askers.Wait() // else its last request comes when nobody works any more
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		all := len(done)
		mu.Unlock()
		state, err := c.PoolState(t.Context(), "steady")
		if err != nil {
			t.Fatal(err)
		}
		if all >= least && state.Pending == 0 && state.Working == 0 || time.Now().After(end) {
			break
		}
	}
	stopWorking()
	flowing.Wait()
	if len(done) != asked {
		t.Errorf("asked %d times, worked on %d", asked, len(done))
	}
	for body, times := range done {
		if times != 1 {
			t.Errorf("request %s was worked on %d times", body, times)
		}
	}
}
