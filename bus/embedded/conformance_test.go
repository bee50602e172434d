package embedded_test

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/embedded"
	"podium/bus/gate"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
)

// agents are the names that bustest declares, and those of the tests here.
func agents() []string {
	names := []string{"echo", "asker", "member", "victim", "alpha", "beta"}
	for _, digit := range "012345678" {
		names = append(names, "queue"+string(digit), "queue"+string(digit)+"-other")
	}
	return names
}

const ackWait = 10 * time.Second

func start(tb testing.TB, config embedded.Config) *embedded.Server {
	tb.Helper()
	if config.Dir == "" {
		config.Dir = tb.TempDir()
	}
	if config.Agents == nil && config.External == nil {
		config.Agents = agents()
	}
	if config.Shards == 0 {
		config.Shards = 2
	}
	config.Logger = zerolog.New(zerolog.NewTestWriter(tb)).Level(zerolog.WarnLevel)
	server, err := embedded.Start(tb.Context(), config)
	if err != nil {
		tb.Fatalf("start: %v", err)
	}
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return server
}

func core(tb testing.TB, server *embedded.Server) *jetstream.Core {
	tb.Helper()
	c, err := server.Core(tb.Context())
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	tb.Cleanup(c.Close)
	return c
}

func connectWorker(tb testing.TB, server *embedded.Server, agent string) *worker.Worker {
	tb.Helper()
	w, err := server.Worker(tb.Context(), agent)
	if err != nil {
		tb.Fatalf("connect %s: %v", agent, err)
	}
	tb.Cleanup(w.Close)
	return w
}

// gated opens a ledger with a gate for agents.
func gated(t *testing.T, server *embedded.Server, agents []string) *jetstream.Core {
	t.Helper()
	c := core(t, server)
	keeper := gate.New(time.Now, func(int) bool { return false }, zerolog.New(zerolog.NewTestWriter(t)))
	opened, err := c.OpenGate(t.Context(), keeper, agents)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return c
}

// TestConformanceByTheGate: external agents are agents like any other.
func TestConformanceByTheGate(t *testing.T) {
	t.Parallel()
	bustest.TestCore(t, func(t *testing.T) bustest.System {
		t.Helper()
		server := start(t, embedded.Config{External: agents()})
		return bustest.System{
			Core: gated(t, server, agents()),
			Worker: func(t *testing.T, agent string) bus.Worker {
				t.Helper()
				return connectWorker(t, server, agent)
			},
		}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			bustest.TestCore(t, func(t *testing.T) bustest.System {
				t.Helper()
				server := start(t, embedded.Config{Durability: durability})
				return bustest.System{
					Core: core(t, server),
					Worker: func(t *testing.T, agent string) bus.Worker {
						t.Helper()
						return connectWorker(t, server, agent)
					},
				}
			})
		})
	}
}
