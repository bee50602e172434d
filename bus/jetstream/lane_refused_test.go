package jetstream

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
)

// TestRefusedBeforeItsLane: a publish that is refused because too many are under
// way has never been in its lane, and does not count as one that left it.
func TestRefusedBeforeItsLane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		p.mu.Lock()
		p.open = publishWindow // as if the other streams were full
		p.mu.Unlock()
		crowded := newWitness(1)
		publishMany(p, crowded)
		synctest.Wait()
		crowded.mustHave(t, 1, func(err error) bool { return errors.Is(err, errCrowded) && bus.Temporary(err) })
		p.mu.Lock()
		p.open -= publishWindow
		p.mu.Unlock()
		w := newWitness(3)
		publishMany(p, w)
		time.Sleep(3 * publishWait)
		w.mustHave(t, 3, bus.Temporary)
		endMuted(p, connection, server)
	})
}
