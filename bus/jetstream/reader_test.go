package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// mutedCore is a connection to a server that answers nothing.
func mutedCore(t *testing.T, server *mute) *Core {
	t.Helper()
	c := &Core{returned: wire.NewSignal(), publisher: newPublisher(), open: make(map[closer]struct{})}
	var err error
	c.connection, err = wire.Endpoint{
		Process: server, Name: "test", Returned: c.returned, Lost: c.publisher.lost, Logger: zerolog.Nop(),
	}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.js, err = jetstream.New(c.connection, jetstream.WithDefaultTimeout(wire.RequestWait)); err != nil {
		t.Fatal(err)
	}
	if err = c.publisher.attach(c.connection); err != nil {
		t.Fatal(err)
	}
	return c
}

// requests returns the names of the consumers that a server was asked to make or delete.
func (m *mute) requests(what string) (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, subject := range m.heard {
		if name, ok := strings.CutPrefix(subject, "$JS.API.CONSUMER."+what+".PODIUM_0."); ok {
			names = append(names, name)
		}
	}
	return names
}

// A caller who goes away while the server has not said whether there is a consumer
// waits for nothing; the consumer is deleted by its name, and no goroutine stays.
func TestAbandonedCreationIsTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		c := mutedCore(t, server)
		ctx, cancel := context.WithTimeout(bus.WithPrecedence(t.Context()), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.Read(ctx, "PODIUM_0", 1)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || !bus.Temporary(err) || took != time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		made := server.requests("CREATE")
		if len(made) != 1 || len(server.requests("DELETE")) != 0 {
			t.Fatalf("asked to make %v, to delete %v", made, server.requests("DELETE"))
		}
		time.Sleep(wire.DrainWait + time.Second)
		if deleted := server.requests("DELETE"); len(deleted) != 1 || deleted[0] != made[0] {
			t.Errorf("asked to make %v, to delete %v", made, deleted)
		}
		time.Sleep(wire.DrainWait)
		synctest.Wait()
		if len(c.open) != 0 {
			t.Errorf("%d readers are still known", len(c.open))
		}
		endMuted(c.publisher, c.connection, server)
	})
}

// What was asked on a connection that was lost is given up when it is back: its
// answer will not come. The consumer that may have been made is deleted.
func TestLostRequestIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		c := mutedCore(t, server)
		began := time.Now()
		time.AfterFunc(time.Second, c.returned.Raise)
		_, err := c.Read(bus.WithPrecedence(t.Context()), "PODIUM_0", 1)
		if took := time.Since(began); !bus.Temporary(err) || took != time.Second+wire.DrainWait {
			t.Errorf("after %s: %v", took, err)
		}
		if made, deleted := server.requests("CREATE"), server.requests("DELETE"); !slices.Equal(made, deleted) {
			t.Errorf("asked to make %v, to delete %v", made, deleted)
		}
		synctest.Wait()
		endMuted(c.publisher, c.connection, server)
	})
}

// A stop waits for readers all at once, whatever the server does.
func TestCloseWaitsForReadersAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &mute{}
		c := mutedCore(t, server)
		for range 20 {
			ctx, cancel := context.WithTimeout(bus.WithPrecedence(t.Context()), time.Millisecond)
			_, _ = c.Read(ctx, "PODIUM_0", 1)
			cancel()
		}
		began := time.Now()
		c.endParts()
		if took := time.Since(began); took > 2*wire.DrainWait {
			t.Errorf("it took %s", took)
		}
		endMuted(c.publisher, c.connection, server)
	})
}
