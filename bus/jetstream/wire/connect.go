// Package wire is the connection to a NATS server and the words of its protocol: how to
// connect and to stay connected ([Endpoint]), what an acknowledgement, a delivery and an
// error of the server say, and which headers are the server's own.
//
// Every error that leaves it has the meaning that package bus knows. It knows no stream,
// no consumer and no subject of a ledger.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus/backoff"
)

const (
	dialWait      = 5 * time.Second
	reconnectWait = 100 * time.Millisecond
	jitter        = 100 * time.Millisecond
	pingInterval  = 10 * time.Second
	// DrainWait is how long a connection that is closed may take over what is under way.
	DrainWait = 5 * time.Second
	// LongestBackoff bounds the wait between two tries to reach what is away.
	LongestBackoff = 2 * time.Second
)

// RequestWait ends a request whose caller has set no deadline. Behind many
// publishes, each with its own fsync, an answer takes seconds.
const RequestWait = 20 * time.Second

// busy is what the library says, as plain text, of a server that is there and takes over
// two seconds to answer a CONNECT: the server pings whoever it has not heard of by then,
// and at the first connect the library takes nothing before the PONG.
const busy = "nats: expected 'PONG', got 'PING'"

// InProcess is a server in this process.
type InProcess interface {
	InProcessConn() (net.Conn, error)
}

// An Endpoint is where and as whom to connect.
type Endpoint struct {
	URL      string
	Process  InProcess
	SeedFile string
	Name     string
	Inbox    string      // prefix of the inboxes; empty is the library's own
	Returned *Signal     // raised after every reconnect
	Lost     func()      // called when the connection is lost; may be nil
	Failed   func(error) // hears asynchronous errors; may be nil
	// Closed is called when the connection is closed for good, which without it is never: the key may be put back. It may be nil.
	Closed func()
	Logger zerolog.Logger
}

// A Signal wakes everyone who waits for it, as often as it is raised.
type Signal struct{ current atomic.Pointer[turn] }

// A turn lasts until the signal is raised next.
type turn struct {
	ctx context.Context //nolint:containedctx // it is the end of the turn, and no request's
	end context.CancelFunc
}

func newTurn() *turn {
	ctx, end := context.WithCancel(context.Background())
	return &turn{ctx, end}
}

// NewSignal returns a signal that was never raised.
func NewSignal() *Signal {
	s := new(Signal)
	s.current.Store(newTurn())
	return s
}

// Next returns a channel that is closed when the signal is raised next.
func (s *Signal) Next() <-chan struct{} { return s.current.Load().ctx.Done() }

// Until returns a context that ends when the signal is raised next, too.
func (s *Signal) Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.current.Load().ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// Raise wakes everyone who waits.
func (s *Signal) Raise() { s.current.Swap(newTurn()).end() }

// endsWithItsKey has a connection whose key was taken away ask the server all the same, without a signature: it refuses, which closes the
// connection for good. Without an answer of the server the library would try for ever.
func endsWithItsKey(options *nats.Options) error {
	sign := options.SignatureCB
	if sign == nil {
		return nil
	}
	options.SignatureCB = func(nonce []byte) ([]byte, error) {
		signature, err := sign(nonce)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return signature, err
	}
	return nil
}

// Connect opens a connection that comes back by itself for as long as it is not
// closed. Nothing is buffered while it is away: a publish fails at once, so that
// its outcome is never in doubt for longer than needed. A server that is away is a
// temporary error. One that is too busy to greet in time is asked again until ctx
// ends, or for RequestWait.
func (e Endpoint) Connect(ctx context.Context) (*nats.Conn, error) {
	e.Logger = e.Logger.With().Str("connection", e.Name).Logger()
	options := []nats.Option{
		nats.Name(e.Name),
		nats.Timeout(dialWait),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(jitter, jitter),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.DrainTimeout(DrainWait),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { e.report(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				e.Logger.Warn().Err(err).Msg("the connection to the ledger is lost")
			}
			if e.Lost != nil {
				e.Lost()
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			e.Logger.Info().Msg("the connection to the ledger is back")
			e.Returned.Raise()
		}),
	}
	if e.SeedFile != "" {
		key, err := nats.NkeyOptionFromSeed(e.SeedFile)
		if err != nil {
			return nil, fmt.Errorf("read the credentials: %w", err)
		}
		options = append(options, key)
	}
	if e.Closed != nil {
		options = append(options, nats.ClosedHandler(func(*nats.Conn) { e.Closed() }), endsWithItsKey)
	}
	if e.Process != nil {
		options = append(options, nats.InProcessServer(e.Process))
	}
	if e.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(e.Inbox))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dialing := &dialer{first: ctx}
	defer dialing.settle()
	options = append(options, nats.SetCustomDialer(dialing), nats.SkipHostLookup()) // names are looked up by the dialer, which can be stopped
	retrying, stop := Bounded(ctx)
	defer stop()
	trouble := backoff.Backoff{First: reconnectWait, Most: LongestBackoff}
	for {
		connection, err := nats.Connect(e.URL, options...)
		if err == nil {
			return connection, nil
		}
		if err.Error() != busy || trouble.Wait(retrying) != nil {
			return nil, e.refusal(ctx, err)
		}
	}
}

// report logs an asynchronous error without its text, which quotes subjects.
func (e Endpoint) report(err error) {
	if e.Failed != nil {
		e.Failed(err)
	}
	kind := "other"
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		kind = "permission"
	case errors.Is(err, nats.ErrSlowConsumer):
		kind = "slow consumer"
	}
	e.Logger.Warn().Str("kind", kind).Msg("the ledger's server reports an error")
}

// Bounded gives a request an end when its caller did not.
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, RequestWait)
}
