package jetstream

import (
	"testing"

	"podium/bus"
)

// TestCutWhileSending: when the connection breaks while a message is written to
// it, the message may have arrived or not, as with any other that is under way.
func TestCutWhileSending(t *testing.T) {
	t.Parallel()
	begun, told := make(chan struct{}, 1), make(chan error, 2)
	server := &mute{deaf: begun}
	p, connection := muted(t, server)
	go p.publish(bus.Message{Subject: "podium.session.0.x", Body: make([]byte, 512<<10)}, bus.After(0), func(_ bus.Ack, err error) { told <- err })
	<-begun
	server.cut()
	if err := <-told; !bus.Temporary(err) {
		t.Errorf("told %v, want a temporary error", err)
	}
	connection.Close()
	p.close()
	server.cut()
	if len(told) > 0 {
		t.Errorf("told once more: %v", <-told)
	}
}
