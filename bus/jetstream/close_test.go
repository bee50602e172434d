package jetstream

import (
	"errors"
	"testing"
	"testing/synctest"

	"podium/bus"
)

// TestLostWhileClosing: to close the connection is one way to lose it, and what
// is under way then ends as closed, whoever notices first.
func TestLostWhileClosing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		p.drain(0)
		p.lost()
		synctest.Wait()
		connection.Close()
		p.close()
		server.cut()
		synctest.Wait()
		w.mustHave(t, 40, func(err error) bool { return errors.Is(err, bus.ErrClosed) })
	})
}
