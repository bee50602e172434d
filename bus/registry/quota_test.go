package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/bus/registry"
)

var errEnough = &bus.TemporaryError{Op: "keep", Err: errors.New("enough for now")}

// A stingy quota takes so many bytes and so many signs of life of each agent.
type stingy struct {
	bytes int64
	signs int
}

func (s *stingy) Heartbeat(string) error {
	if s.signs--; s.signs < 0 {
		return errEnough
	}
	return nil
}

func (*stingy) Partial(string, int64) error { return nil }

func (s *stingy) Store(_ string, size int64) error {
	if s.bytes -= size; s.bytes < 0 {
		return errEnough
	}
	return nil
}

// TestQuotaIsSaid: what an agent may not have kept is refused for now, a whole by the
// size of all its parts, and nothing of it is stored.
func TestQuotaIsSaid(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	quota := &stingy{bytes: 3 * artifact.ChunkSize, signs: 1}
	stop, err := registry.ServeAgents(t.Context(), ledger, registry.AgentServices{Clock: time.Now, Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	worker := ledger.Worker("alpha")
	if _, err := worker.Ask(t.Context(), bus.ServiceAnnounce, []byte(`{"name":"alpha"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.Ask(t.Context(), bus.ServiceAlive, nil); !bus.Temporary(err) {
		t.Errorf("a sign of life too many: %v", err)
	}
	artifacts := worker.Artifacts("request")
	if _, err := artifacts.Put(t.Context(), strings.NewReader(strings.Repeat("a", 100)), ""); err != nil {
		t.Errorf("a small artifact: %v", err)
	}
	// Two parts fit, and what is made of them does not.
	large := strings.Repeat("a", artifact.ChunkSize) + strings.Repeat("b", artifact.ChunkSize/2)
	if _, err := artifacts.Put(t.Context(), strings.NewReader(large), ""); !bus.Temporary(err) {
		t.Errorf("an artifact beyond the quota: %v", err)
	}
}
