package jetstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// TestMuteServer: what is not answered is given up as temporary, once each and in
// order; what waited in the batcher meanwhile goes out behind it, together.
func TestMuteServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		time.Sleep(publishWait - 2*time.Second)
		w.mustHave(t, 0, nil)
		time.Sleep(5 * time.Second)
		w.mustHave(t, 1, bus.Temporary)
		server.mu.Lock()
		if heard := len(server.heard); heard != 41 {
			t.Errorf("%d messages were sent by then, want the first, the batch of all others and the question behind it", heard)
		}
		server.mu.Unlock()
		time.Sleep(publishWait)
		w.mustHave(t, 40, bus.Temporary)
		endMuted(p, connection, server)
	})
}

// TestLostConnection: what was under way is in doubt as soon as the connection is
// lost, and what waited in the batcher fails rather than to wait for its return.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		server.cut()
		synctest.Wait()
		w.mustHave(t, 40, bus.Temporary)
		endMuted(p, connection, server)
	})
}

// TestCloseTellsEverybody: no publish stays without an outcome, whether it was
// sent, waited in a batcher, or came too late.
func TestCloseTellsEverybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		p, connection := muted(t, server)
		w := newWitness(40)
		publishMany(p, w)
		endMuted(p, connection, server)
		w.mustHave(t, 40, func(err error) bool { return err != nil && !bus.Temporary(err) })
		late := newWitness(1)
		publishMany(p, late)
		synctest.Wait()
		late.mustHave(t, 1, func(err error) bool { return err != nil && !bus.Temporary(err) })
	})
}

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

// TestCutWhileSending: when the connection breaks while a message is written to
// it, the message may have arrived or not, as with any other that is under way.
func TestCutWhileSending(t *testing.T) {
	t.Parallel()
	begun, told := make(chan struct{}, 1), make(chan error, 2)
	server := &mute{deaf: begun}
	p, connection := muted(t, server)
	go p.publish(bus.Message{Subject: "podium.session.0.x", Body: make([]byte, 512<<10)}, bus.ExpectLast(0), func(_ bus.Ack, err error) { told <- err })
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

// TestRefusedBeforeItsLane: a publish that is refused because too many are under
// way has never been in its batcher, and does not count as one that left it.
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
		crowded.mustHave(t, 1, func(err error) bool { return errors.Is(err, wire.ErrCrowded) && bus.Temporary(err) })
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

// TestQuestionsAreAskedAgain: a question that changes nothing is asked anew when its answer stays away, well before the
// caller's patience ends: the server that had it may be gone, and the next one answers.
func TestQuestionsAreAskedAgain(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(context.Context, *Core) error{
		"a message by its sequence": func(ctx context.Context, c *Core) error { _, err := c.Get(ctx, bus.ShardStream(0), 7); return err },
		"the last of a subject":     func(ctx context.Context, c *Core) error { _, err := c.Last(ctx, "podium.session.0.1"); return err },
		"the last of many": func(ctx context.Context, c *Core) error {
			_, err := c.LastOf(ctx, 0, []string{"podium.session.0.1"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &mute{}
				p, connection := muted(t, server)
				begun := time.Now()
				if err := ask(t.Context(), &Core{connection: connection, publisher: p, replicas: 1}); !bus.Temporary(err) {
					t.Errorf("without an answer: %v", err)
				}
				if took := time.Since(begun); took != wire.RequestWait {
					t.Errorf("it was given up after %s", took)
				}
				server.mu.Lock()
				if heard := len(server.heard); heard != 4 {
					t.Errorf("it was asked %d times, want at 0, 2, 6 and 14 seconds", heard)
				}
				server.mu.Unlock()
				endMuted(p, connection, server)
			})
		})
	}
}
