package embedded_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"podium/bus"
)

// TestQuestionsAboutAConsumerHoldUpNobody_G40: an agent may ask what its consumer is, and
// asks the core: the server has one queue for such questions of everybody, and drops all
// of them when it is full.
func TestQuestionsAboutAConsumerHoldUpNobody_G40(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	var flood sync.WaitGroup
	for range 3 {
		alpha := intrude(t, server)
		flood.Go(func() {
			inbox := alpha.NewInbox()
			for range 12_000 {
				if alpha.PublishRequest("CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha", inbox, nil) != nil {
					return
				}
			}
			_ = alpha.Flush()
		})
	}
	over := make(chan struct{})
	go func() {
		flood.Wait()
		close(over)
	}()
	for asking := true; asking; {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := c.State(ctx, bus.ShardStream(0))
		cancel()
		if err != nil {
			t.Errorf("the core asks beside a flood: %v", err)
		}
		select {
		case <-over:
			asking = false
		default:
			asking = err == nil
		}
	}
	flood.Wait()
	answer, err := connected(t, server, "beta").Request("CORE.API.CONSUMER.INFO.PODIUM_WORK.beta", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Stream string `json:"stream_name"`
		Name   string `json:"name"`
	}
	if err := json.Unmarshal(answer.Data, &told); err != nil || told.Stream != bus.WorkStream || told.Name != "beta" {
		t.Errorf("beta is told %s, %v", answer.Data, err)
	}
}
