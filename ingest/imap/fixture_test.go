package imap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	busintake "podium/bus/intake"
	"podium/bus/memory"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

const (
	account = "support"
	profile = "praxis"

	patience = 2 * time.Minute // for anything that a busy machine may delay
)

// A fixture is a ledger in memory and what adapters put on it.
type fixture struct {
	core   *memory.Ledger
	intake *intake
	store  *store
	log    *lines

	sendCanary func(ctx context.Context, mark string) error
	disk       bus.Core     // the ledger instead of core, where it is another
	flush      func() error // what flushing the ledger does; nil is nothing
}

// A flushing is a ledger that is told when to flush.
type flushing struct {
	bus.Core
	flush func() error
}

// Flush implements bus.Core.
func (l flushing) Flush(context.Context) error { return l.flush() }

// ledger is the ledger that adapters get.
func (f *fixture) ledger() bus.Core {
	switch {
	case f.disk != nil:
		return f.disk
	case f.flush != nil:
		return flushing{f.core, f.flush}
	}
	return f.core
}

func newFixture() *fixture {
	core := memory.New(2)
	return &fixture{
		core:   core,
		intake: &intake{inner: busintake.NewIntake(core), submitted: make(chan schemas.Event, 10_000)},
		store:  &store{KeyValue: core.KeyValue(bus.MailboxBucket)},
		log:    &lines{},
	}
}

// intake is the real one, and tells of every event that is on the ledger.
type intake struct {
	inner     *busintake.Intake
	submitted chan schemas.Event

	mu     sync.Mutex
	fail   error
	before func(events []schemas.Event) // runs before events go out
	refuse func(e schemas.Event) error  // refuses single events
}

func (i *intake) setError(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fail = err
}

func (i *intake) SubmitAll(ctx context.Context, adapter string, events []schemas.Event) []busintake.Outcome {
	i.mu.Lock()
	fail, before, refuse := i.fail, i.before, i.refuse
	i.mu.Unlock()
	if before != nil {
		before(events)
	}
	outcomes := make([]busintake.Outcome, len(events))
	var taken []schemas.Event
	var places []int
	for n, e := range events {
		if outcomes[n].Err = fail; fail == nil && refuse != nil {
			outcomes[n].Err = refuse(e)
		}
		if outcomes[n].Err == nil {
			taken, places = append(taken, e), append(places, n)
		}
	}
	for n, outcome := range i.inner.SubmitAll(ctx, adapter, taken) {
		if outcomes[places[n]] = outcome; outcome.Err == nil {
			i.submitted <- taken[n]
		}
	}
	return outcomes
}

// meet lets something run before events go out, and refuses single events.
func (i *intake) meet(before func(events []schemas.Event), refuse func(e schemas.Event) error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.before, i.refuse = before, refuse
}

// store loses writes on demand.
type store struct {
	bus.KeyValue

	mu      sync.Mutex
	lose    bool
	largest int    // bytes of an entry
	written func() // runs before an entry is written
}

var errLost = &bus.TemporaryError{Op: "update", Err: errors.New("lost")}

func (s *store) setLosing(lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = lose
}

func (s *store) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	s.mu.Lock()
	lose := s.lose
	s.largest = max(s.largest, len(value))
	s.mu.Unlock()
	if s.written != nil {
		s.written()
	}
	if lose {
		return 0, errLost
	}
	return s.KeyValue.Update(ctx, key, value, revision)
}

// lines is a log that can be searched.
type lines struct {
	mu   sync.Mutex
	text []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// config is a mailbox that a test waits for with little patience.
func config(host string, port int) imap.Config {
	return imap.Config{
		Config: connection.Config{
			Account: account, Host: host, Port: port, Security: connection.SecurityNone,
			Username:       dovecot.Username,
			Password:       func(context.Context) (string, error) { return dovecot.Password, nil },
			AnswerDeadline: 10 * time.Second,
		},
		Profile: profile, PollInterval: 200 * time.Millisecond, IdleReissue: time.Minute, RetryAfter: 10 * time.Millisecond,
		BackOffMin: 10 * time.Millisecond, BackOffMax: 50 * time.Millisecond,
		Since: time.Unix(0, 0),
	}
}

// run starts an adapter and stops it when the test, or stop, ends it.
func (f *fixture) run(tb testing.TB, config imap.Config, dial func(context.Context) (connection.MailSource, error)) (adapter *imap.Adapter, stop func()) {
	tb.Helper()
	adapter, err := imap.New(config, imap.Dependencies{
		Intake: f.intake, Core: f.ledger(), Store: f.store, Log: zerolog.New(f.log), Dial: dial,
		SendCanary: f.sendCanary,
	})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				tb.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			tb.Error("Run did not end with its context")
		}
	})
	tb.Cleanup(func() {
		stop()
		if tb.Failed() {
			tb.Logf("log:\n%s", f.log)
		}
	})
	return adapter, stop
}

// next returns the next event on the ledger.
func (f *fixture) next(tb testing.TB) (schemas.Event, schemas.EmailReceived) {
	tb.Helper()
	select {
	case e := <-f.intake.submitted:
		var mail schemas.EmailReceived
		if err := schemas.Unmarshal(e.Data, &mail); err != nil {
			tb.Fatal(err)
		}
		return e, mail
	case <-time.After(patience):
		tb.Fatalf("no event came; log:\n%s", f.log)
		return schemas.Event{}, schemas.EmailReceived{}
	}
}

// none fails when an event is on the ledger that no one has taken with next.
func (f *fixture) none(tb testing.TB) {
	tb.Helper()
	select {
	case e := <-f.intake.submitted:
		tb.Fatalf("event %s came too much", e.ID)
	default:
	}
}

// eventually waits until a condition holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			tb.Fatalf("it did not come about that %s", what)
		}
	}
}

// connected waits until an adapter has dealt with what was there.
func connected(tb testing.TB, adapter *imap.Adapter) {
	tb.Helper()
	eventually(tb, "the adapter is connected", func() bool {
		status := adapter.Status()
		return status.Connected && !status.LastSuccess.IsZero()
	})
}

func message(number int) []byte {
	return fmt.Appendf(nil, "From: Erika <erika@example.org>\r\nSubject: Mail %d\r\nMessage-ID: <%d@example.org>\r\n\r\nText %d\r\n", number, number, number)
}

// A proxy stands between adapter and server, and can go silent or cut.
type proxy struct {
	listener net.Listener
	target   string
	done     sync.WaitGroup

	mu     sync.Mutex
	silent bool
	conns  []net.Conn
}

func newProxy(tb testing.TB, host string, port int) *proxy {
	tb.Helper()
	listener := listen(tb)
	p := &proxy{listener: listener, target: net.JoinHostPort(host, strconv.Itoa(port))}
	p.done.Go(p.accept)
	tb.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		p.done.Wait()
	})
	return p
}

func (p *proxy) port(tb testing.TB) int {
	tb.Helper()
	_, port, err := net.SplitHostPort(p.listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		tb.Fatal(err)
	}
	return number
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, near, far)
		p.mu.Unlock()
		p.done.Go(func() { p.copy(far, near) })
		p.done.Go(func() { p.copy(near, far) })
	}
}

// copy passes bytes on; while silent it swallows them and keeps both ends open.
func (p *proxy) copy(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		silent := p.silent
		p.mu.Unlock()
		if n > 0 && !silent {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) setSilent(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}
