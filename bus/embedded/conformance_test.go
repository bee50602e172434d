package embedded_test

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// agents are the names that bustest declares, and those of the tests here.
func agents() []string {
	names := []string{"echo", "asker", "member", "victim", "alpha", "beta"}
	for _, digit := range "01234567" {
		names = append(names, "queue"+string(digit), "queue"+string(digit)+"-other")
	}
	return names
}

const ackWait = 10 * time.Second

func start(t testing.TB, config embedded.Config) *embedded.Server {
	t.Helper()
	if config.Dir == "" {
		config.Dir = t.TempDir()
	}
	if config.Agents == nil {
		config.Agents = agents()
	}
	if config.Shards == 0 {
		config.Shards = 2
	}
	config.Logger = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	server, err := embedded.Start(t.Context(), config)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return server
}

func core(t testing.TB, server *embedded.Server) *jetstream.Core {
	t.Helper()
	c, err := server.Core(t.Context())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func worker(t testing.TB, server *embedded.Server, agent string) *jetstream.Worker {
	t.Helper()
	w, err := server.Worker(t.Context(), agent)
	if err != nil {
		t.Fatalf("connect %s: %v", agent, err)
	}
	t.Cleanup(w.Close)
	return w
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			bustest.TestCore(t, func(t *testing.T) bustest.System {
				server := start(t, embedded.Config{Durability: durability})
				return bustest.System{
					Core:   core(t, server),
					Worker: func(t *testing.T, agent string) bus.Worker { return worker(t, server, agent) },
				}
			})
		})
	}
}
