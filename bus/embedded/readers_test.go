package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/schemas"
)

// What a stream's consumers are bounded by (bus/jetstream): visitors of one process,
// and the number from which on only owners get one.
const (
	patience     = 2 * time.Minute // which only a very busy machine needs
	visitorsHere = 500
	visitorsEnd  = 800
)

// waitForConsumers waits until a stream has so many.
func waitForConsumers(t *testing.T, js natsjetstream.JetStream, stream string, want int) {
	t.Helper()
	// The server itself forgets an abandoned consumer after 15 s.
	for end := time.Now().Add(14 * time.Second); ; {
		have := consumers(t, js, stream)
		if have == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s has %d consumers, want %d", stream, have, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func consumers(t *testing.T, js natsjetstream.JetStream, stream string) int {
	t.Helper()
	found, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return found.CachedInfo().State.Consumers
}

func waitForGoroutines(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > want; {
		if time.Now().After(end) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), want, all[:runtime.Stack(all, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Whoever goes away while his reader is opened, at any moment of that, leaves
// neither a consumer nor a goroutine behind.
//
//nolint:paralleltest // it counts the goroutines of the process
func TestReaderGivenUpLeavesNothing(t *testing.T) {
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c, js := core(t, server), administrator(t, server)
	session := sessionOn(0)
	subject := bus.SessionSubject(session, 2)
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: []byte("x")}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	stream := bus.ShardStream(schemas.ShardOf(session, 2))
	waitForConsumers(t, js, stream, 0)
	before := runtime.NumGoroutine()
	for name, open := range map[string]func(context.Context){
		"read": func(ctx context.Context) {
			if r, err := c.Read(ctx, stream, 1, subject); err == nil {
				r.Close()
			}
		},
		"read with precedence": func(ctx context.Context) {
			if r, err := c.Read(bus.WithPrecedence(ctx), stream, 1, subject); err == nil {
				r.Close()
			}
		},
		"scan": func(ctx context.Context) {
			for _, err := range c.Scan(ctx, stream, 1, subject) {
				_ = err // whatever was read
				return
			}
		},
	} {
		for i := range 600 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(i)*5*time.Microsecond, cancel)
			open(ctx)
			cancel()
		}
		t.Log(name)
		waitForConsumers(t, js, stream, 0)
		waitForGoroutines(t, before)
	}
}

// Artifacts that are read slowly, given up half way or not at all hold neither a
// consumer nor a goroutine.
//
//nolint:paralleltest // it counts the goroutines of the process
func TestArtifactsAreReadWithoutConsumers(t *testing.T) {
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c, js := core(t, server), administrator(t, server)
	content := bytes.Repeat([]byte("0123456789abcdef"), 50_000) // several pieces
	artifact, err := c.Artifacts().Put(t.Context(), bytes.NewReader(content), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	consumers(t, js, bus.ArtifactStream) // its connection listens for answers from now on
	before := runtime.NumGoroutine()
	var readers []io.ReadCloser
	for i := range 1200 { // a server allows 1,000 consumers
		ctx, cancel := context.WithCancel(t.Context())
		if i%2 == 1 {
			time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
		}
		r, err := c.Artifacts().Get(ctx, artifact)
		switch {
		case err == nil && i%2 == 0:
			if _, err = io.ReadFull(r, make([]byte, i)); err != nil {
				t.Fatal(err)
			}
			readers = append(readers, r)
		case err == nil:
			_ = r.Close()
		case i%2 == 0:
			t.Fatal(err)
		}
		defer cancel()
	}
	if have := consumers(t, js, bus.ArtifactStream); have != 0 {
		t.Errorf("%d consumers", have)
	}
	waitForGoroutines(t, before)
	for i, r := range readers {
		rest, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(rest, content[2*i:]) {
			t.Fatalf("reader %d: %d bytes, %v", i, len(rest), err)
		}
	}
}

// Whoever takes nothing for long loses the consumer, as the server forgets one
// that nobody asks, and loses nothing by that: not what is behind a window either.
func TestSlowReaderOutlivesItsConsumer(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}, Durability: embedded.Interval})
	c, js := core(t, server), administrator(t, server)
	stream, subject := bus.ShardStream(0), bus.ControlSubject(0)
	const messages = 3000 // more than a window
	for n := range messages {
		c.Publish(bus.Message{Subject: subject, Body: []byte(strconv.Itoa(n))}, bus.Expect{}, func(_ bus.Ack, err error) {
			if err != nil {
				t.Errorf("publish: %v", err)
			}
		})
	}
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: []byte(strconv.Itoa(messages))}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	forgetConsumers := func() {
		found, err := js.Stream(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		for name := range found.ConsumerNames(t.Context()).Name() {
			if err := found.DeleteConsumer(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, ctx := range map[string]context.Context{"a visitor": t.Context(), "an owner": bus.WithPrecedence(t.Context())} {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for how, read := range map[string]iter.Seq2[bus.Message, error]{
			"reads": all(ctx, t, c, stream, subject), "scans": c.Scan(ctx, stream, 1, subject),
		} {
			n := 0
			for m, err := range read {
				if err != nil || string(m.Body) != strconv.Itoa(n) {
					t.Fatalf("%s %s: message %d is %q, %v", name, how, n, m.Body, err)
				}
				if n++; n == 1 {
					forgetConsumers()
				}
				if n == messages+1 {
					break
				}
			}
			if n != messages+1 {
				t.Errorf("%s %s %d of %d messages", name, how, n, messages+1)
			}
		}
	}
}

// all yields what a reader sees, without end.
func all(ctx context.Context, t *testing.T, c bus.Core, stream, subject string) iter.Seq2[bus.Message, error] {
	t.Helper()
	return func(yield func(bus.Message, error) bool) {
		r, err := c.Read(ctx, stream, 1, subject)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for yield(bus.Next(ctx, r)) {
		}
	}
}

// However many come at once, a process has its share of a stream and no more, and
// owners do not wait for them.
func TestBurstOfReadersLeavesRoom(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c, js := core(t, server), administrator(t, server)
	stream := bus.ShardStream(0)
	burst, end := context.WithCancel(t.Context())
	var visitors sync.WaitGroup
	for range 3000 {
		visitors.Go(func() {
			for burst.Err() == nil {
				r, err := c.Read(burst, stream, 1, bus.InSubject("chat", 0))
				if bus.Temporary(err) {
					continue
				}
				if err != nil {
					t.Errorf("a visitor was told %v", err)
					return
				}
				<-burst.Done()
				r.Close()
			}
		})
	}
	const owners = 20
	for i := range owners {
		r, err := c.Read(bus.WithPrecedence(t.Context()), stream, 1, bus.InputSubjects(0)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		if have := consumers(t, js, stream); have > visitorsHere+i+1 {
			t.Errorf("%d consumers", have)
		}
	}
	for end := time.Now().Add(patience); consumers(t, js, stream) != visitorsHere+owners; {
		if time.Now().After(end) {
			t.Fatalf("%d consumers, want %d", consumers(t, js, stream), visitorsHere+owners)
		}
		time.Sleep(50 * time.Millisecond)
	}
	end()
	visitors.Wait()
	waitForConsumers(t, js, stream, owners)
}

// A visitor waits for its turn, is told when that does not come, and has it when
// somebody leaves.
func TestVisitorWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c, js := core(t, server), administrator(t, server)
	stream := bus.ShardStream(0)
	readers := make([]bus.Reader, visitorsHere)
	for i := range readers {
		var err error
		if readers[i], err = c.Read(t.Context(), stream, 1, bus.InSubject("chat", 0)); err != nil {
			t.Fatalf("reader %d: %v", i, err)
		}
		t.Cleanup(readers[i].Close)
	}
	_, err := c.Read(t.Context(), stream, 1, bus.InSubject("chat", 0))
	if !errors.Is(err, bus.ErrTooManyReaders) || !bus.Temporary(err) {
		t.Fatalf("one too many was told %v, want ErrTooManyReaders", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = c.Read(short, stream, 1, bus.InSubject("chat", 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one who leaves the queue was told %v", err)
	}
	if _, err = c.Read(t.Context(), bus.ShardStream(1), 1); err != nil {
		t.Errorf("another stream: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, readers[0].Close)
	last, err := c.Read(t.Context(), stream, 1, bus.InSubject("chat", 0))
	for errors.Is(err, bus.ErrTooManyReaders) { // on a busy machine the turn comes after the first wait for it
		last, err = c.Read(t.Context(), stream, 1, bus.InSubject("chat", 0))
	}
	if err != nil {
		t.Fatalf("nobody took the place of who left: %v", err)
	}
	last.Close()
	waitForConsumers(t, js, stream, visitorsHere-1)
}

// Consumers of other processes count: visitors leave the last fifth of the server's
// to owners. At its end an owner is told to try again, and then finds its place.
func TestOwnersFindRoomBesideOthers(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c, js := core(t, server), administrator(t, server)
	stream := bus.ShardStream(0)
	fill := func(to int) {
		for i := consumers(t, js, stream); i < to; i++ {
			_, err := js.CreateConsumer(t.Context(), stream, natsjetstream.ConsumerConfig{
				Name: fmt.Sprintf("other-%d", i), MemoryStorage: true, InactiveThreshold: time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(visitorsEnd)
	owner := mustOpen(t, c, stream)
	for _, err := range c.Scan(t.Context(), stream, 1) {
		t.Errorf("a scan of nothing: %v", err)
	}
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0), Body: []byte("x")}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Scan(t.Context(), stream, 1) {
		if !errors.Is(err, bus.ErrTooManyReaders) || !bus.Temporary(err) {
			t.Errorf("a visitor was told %v, want ErrTooManyReaders", err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Read(short, stream, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a visitor who leaves while there is no room was told %v", err)
	}
	for _, err := range c.Scan(bus.WithPrecedence(t.Context()), stream, 1) {
		if err != nil {
			t.Errorf("an owner's scan: %v", err)
		}
	}
	waitForConsumers(t, js, stream, visitorsEnd+1)
	fill(1000)
	if _, err := c.Read(bus.WithPrecedence(t.Context()), stream, 1); !errors.Is(err, bus.ErrTooManyReaders) || !bus.Temporary(err) {
		t.Errorf("at the server's end an owner was told %v", err)
	}
	owner.Close()
	mustOpen(t, c, stream)
}

func mustOpen(t *testing.T, c *jetstream.Core, stream string) bus.Reader {
	t.Helper()
	r, err := c.Read(bus.WithPrecedence(t.Context()), stream, 1, bus.InputSubjects(0)...)
	if err != nil {
		t.Fatalf("an owner: %v", err)
	}
	t.Cleanup(r.Close)
	return r
}
