package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

const (
	dialWait      = 5 * time.Second
	reconnectWait = 100 * time.Millisecond
	jitter        = 100 * time.Millisecond
	pingInterval  = 10 * time.Second
	drainWait     = 5 * time.Second
	// Between two tries to reach what is away: the first wait, doubling up to the longest.
	firstBackoff   = 50 * time.Millisecond
	longestBackoff = 2 * time.Second
)

// requestWait ends a request whose caller has set no deadline. Behind many
// publishes, each with its own fsync, an answer takes seconds.
const requestWait = 20 * time.Second

// InProcess is a server in this process.
type InProcess interface {
	InProcessConn() (net.Conn, error)
}

// An endpoint is where and as whom to connect.
type endpoint struct {
	url      string
	process  InProcess
	seedFile string
	name     string
	inbox    string      // prefix of the inboxes; empty is the library's own
	returned *signal     // raised after every reconnect
	lost     func()      // called when the connection is lost; may be nil
	failed   func(error) // hears asynchronous errors; may be nil
	closed   func()      // called when the connection is closed for good; may be nil
	logger   zerolog.Logger
}

// A signal wakes everyone who waits for it, as often as it is raised.
type signal struct {
	mu      sync.Mutex
	current chan struct{}
}

func newSignal() *signal { return &signal{current: make(chan struct{})} }

// next returns a channel that is closed when the signal is raised next.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *signal) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.current)
	s.current = make(chan struct{})
}

// connect opens a connection that comes back by itself for as long as it is not
// closed. Nothing is buffered while it is away: a publish fails at once, so that
// its outcome is never in doubt for longer than needed. A server that is away is a
// temporary error.
func (e endpoint) connect(ctx context.Context) (*nats.Conn, error) {
	e.logger = e.logger.With().Str("connection", e.name).Logger()
	options := []nats.Option{
		nats.Name(e.name),
		nats.Timeout(dialWait),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(jitter, jitter),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.DrainTimeout(drainWait),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { e.report(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				e.logger.Warn().Err(err).Msg("the connection to the ledger is lost")
			}
			if e.lost != nil {
				e.lost()
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			e.logger.Info().Msg("the connection to the ledger is back")
			e.returned.raise()
		}),
	}
	if e.closed != nil {
		options = append(options, nats.ClosedHandler(func(*nats.Conn) { e.closed() }))
	}
	if e.seedFile != "" {
		key, err := nats.NkeyOptionFromSeed(e.seedFile)
		if err != nil {
			return nil, fmt.Errorf("read the credentials: %w", err)
		}
		options = append(options, key)
	}
	if e.process != nil {
		options = append(options, nats.InProcessServer(e.process))
	}
	if e.inbox != "" {
		options = append(options, nats.CustomInboxPrefix(e.inbox))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dialing := newDialer(ctx)
	defer dialing.settle()
	options = append(options, nats.SetCustomDialer(dialing), nats.SkipHostLookup()) // names are looked up by the dialer, which can be stopped
	connection, err := nats.Connect(e.url, options...)
	if err != nil {
		return nil, e.refusal(ctx, err)
	}
	return connection, nil
}

// report logs an asynchronous error without its text, which quotes subjects.
func (e endpoint) report(err error) {
	if e.failed != nil {
		e.failed(err)
	}
	kind := "other"
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		kind = "permission"
	case errors.Is(err, nats.ErrSlowConsumer):
		kind = "slow consumer"
	}
	e.logger.Warn().Str("kind", kind).Msg("the ledger's server reports an error")
}

// bounded gives a request an end when its caller did not.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, requestWait)
}
