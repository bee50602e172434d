package jetstream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
)

// An openGate lets everything pass.
type openGate struct{}

func (openGate) Requested(bus.Message)  {}
func (openGate) Waiting(string, uint64) {}
func (openGate) Admit(bus.Message) (*bus.Ack, func(bus.Ack, error), error) {
	return nil, func(bus.Ack, error) {}, nil
}

// Nobody knows whether a message was stored for which the server has not answered. An
// agent is told so, in other words than what it is told of a refusal.
func TestUnknownOutcomeIsNoRefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		c := mutedCore(t, server)
		g := &gate{core: c, connection: c.connection, keeper: openGate{}}
		done := make(chan struct{})
		g.store(&nats.Msg{Subject: gatePrefix + "alpha.response.0", Reply: "_INBOX.alpha"}, func() { close(done) })
		select {
		case <-done:
		case <-time.After(time.Hour):
			t.Fatal("it is never told")
		}
		if err := c.connection.Flush(); err != nil {
			t.Fatal(err)
		}
		server.mu.Lock()
		told := strings.Join(server.content, "")
		server.mu.Unlock()
		if !strings.Contains(told, `"code":504`) || !strings.Contains(told, "may have been stored") {
			t.Errorf("it is told %s", told)
		}
		endMuted(c.publisher, c.connection, server)
	})
}
