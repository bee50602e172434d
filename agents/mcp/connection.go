package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/backoff"
)

const (
	compareEvery = 30 * time.Second // how long a tool that was compared with its pin counts as the same
	stuckAfter   = 100 * time.Millisecond
	pingTimeout  = 2 * time.Second
)

// What keeps a tool from being used.
var (
	ErrUnpinned = errors.New("the tool is not pinned")
	ErrNoTool   = errors.New("the server has no such tool")
	// ErrDrifted reports a tool that is not the one that was pinned.
	ErrDrifted  = errors.New("the tool is not the one that was pinned")
	errStarting = errors.New("the server took too long until it was ready")
)

// A connection is the one to the server, made when it is needed and made again when it is lost.
type connection struct {
	turn    chan struct{} // held while it is made or looked at
	live    *session
	trouble backoff.Backoff
	until   time.Time // before which it is not made again
}

// A session is a live connection.
type session struct {
	client  *sdk.ClientSession
	process *process // nil by URL
	began   time.Time
	stale   atomic.Bool // tools have changed since they were compared
	over    chan struct{}
	ending  sync.Once

	compared time.Time // with the pin; guarded by the turn
}

// take waits for the turn.
func (c *connection) take(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *connection) leave() { <-c.turn }

// ready returns a session in which the tool is the one that was pinned. It makes one when there is none, which takes so
// long as a server may take to start.
func (a *Agent) ready(ctx context.Context, compare bool) (*session, error) {
	if a.config.Pin == nil {
		return nil, ErrUnpinned
	}
	if err := a.connection.take(ctx); err != nil {
		return nil, err
	}
	defer a.connection.leave()
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Start, errStarting)
	defer cancel()
	live, err := a.connected(limited)
	if err != nil {
		return nil, caused(ctx, limited, a.hide(err))
	}
	stale := live.stale.Swap(false)
	if !compare && !stale && time.Since(live.compared) < compareEvery {
		return live, nil
	}
	if err := a.compare(limited, live); err != nil {
		live.stale.Store(true)
		if !errors.Is(err, ErrDrifted) && !errors.Is(err, ErrNoTool) {
			live.end() // it does not answer, so that the next one begins anew
		}
		return nil, caused(ctx, limited, a.hide(err))
	}
	live.compared = time.Now()
	return live, nil
}

// caused is why something was given up, if it was: by whoever waits, or because the server took too long.
func caused(ctx, limited context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return context.Cause(limited)
	}
	return err
}

// connected returns the live session, or makes one; after failures, only when their pause is over.
func (a *Agent) connected(ctx context.Context) (*session, error) {
	c := &a.connection
	if c.live != nil && !c.live.isOver() {
		return c.live, nil
	}
	if c.live != nil {
		if time.Since(c.live.began) > time.Minute {
			c.trouble.Reset()
		}
		c.live.end()
		c.live, c.until = nil, time.Now().Add(c.trouble.Next())
		a.config.Log.Warn().Msg("the server of the tool has ended; it is started again")
	}
	if err := backoff.Pause(ctx, time.Until(c.until)); err != nil {
		return nil, err
	}
	live, err := a.connect(ctx)
	if err != nil {
		if ctx.Err() == nil || errors.Is(context.Cause(ctx), errStarting) {
			c.until = time.Now().Add(c.trouble.Next())
		}
		return nil, err
	}
	c.live = live
	return live, nil
}

// connect starts the server, or calls it, and says hello.
func (a *Agent) connect(ctx context.Context) (*session, error) {
	made := &session{began: time.Now(), over: make(chan struct{})}
	made.stale.Store(true)
	var transport sdk.Transport
	if a.config.URL != "" {
		transport = &sdk.StreamableClientTransport{
			Endpoint: a.config.URL, HTTPClient: a.httpClient(), MaxRetries: -1, DisableStandaloneSSE: true,
		}
	} else {
		started, err := startProcess(&a.config, a.path)
		if err != nil {
			return nil, fmt.Errorf("start the server: %w", err)
		}
		made.process = started
		transport = &sdk.IOTransport{Reader: started.reader(), Writer: started.input}
	}
	client, err := a.client(made).Connect(ctx, transport, nil)
	if err != nil {
		if made.process != nil {
			made.process.stop()
			err = &startError{err: made.why(err), said: made.process.said.String()}
		}
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	made.client = client
	go func() {
		defer close(made.over)
		_ = client.Wait()
	}()
	return made, nil
}

// A startError is why a server that we run was not ready, with its last line on standard error, which is for
// nobody but whoever starts it by hand.
type startError struct {
	err  error
	said string
}

// Error implements error.
func (s *startError) Error() string { return s.err.Error() }

// Unwrap gives the cause.
func (s *startError) Unwrap() error { return s.err }

// client is what the server gets to know of us: nothing but a name, and that it may ask if anybody can answer.
func (a *Agent) client(made *session) *sdk.Client {
	options := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { made.stale.Store(true) },
		ProgressNotificationHandler: func(_ context.Context, request *sdk.ProgressNotificationClientRequest) {
			a.calls.progress(request.Params)
		},
	}
	if !a.acts() {
		options.ElicitationHandler = func(ctx context.Context, request *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return a.calls.elicit(ctx, made, request.Params), nil
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "podium", Version: "1"}, options)
	client.AddSendingMiddleware(uncached)
	return client
}

// uncached has the library forget the tools that a server wants it to remember: they are compared as they are now.
func uncached(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, request)
		if listed, is := result.(*sdk.ListToolsResult); is && listed != nil {
			listed.TTLMs = 0
		}
		return result, err
	}
}

func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// end ends the session, and its server if we run it. It returns when they are gone.
func (s *session) end() {
	s.ending.Do(func() {
		if s.process != nil {
			s.process.stop()
		}
		_ = s.client.Close()
	})
	<-s.over
}

// cut breaks the connection to a server that we run, so that nobody waits for it any more. Whoever looks next ends it.
func (s *session) cut() {
	if s.process != nil {
		_ = s.process.input.Close()
		_ = s.process.output.SetReadDeadline(time.Unix(1, 0))
	}
}

// why is what an error of a call comes from: what the server has done to the connection.
func (s *session) why(err error) error {
	if s.process == nil {
		return err
	}
	if fault := s.process.lines.why(); errors.Is(fault, errTooMuch) || errors.Is(fault, errNoMCP) {
		return fault
	}
	return err
}

// compare holds the tool that the server has to its pin.
func (a *Agent) compare(ctx context.Context, live *session) error {
	tool, listed, err := find(ctx, live, a.config.Tool)
	if listed.trouble != nil {
		a.config.Log.Warn().Err(listed.trouble).Msg("the server does not end the list of its tools; what it has listed counts")
	}
	if err != nil {
		return err
	}
	sum, err := tool.Sum()
	if err != nil {
		return err
	}
	if sum != a.config.Pin.SHA256 {
		return fmt.Errorf("%w: %s", ErrDrifted, strings.Join(a.config.Pin.Tool.Differs(&tool), ", "))
	}
	return nil
}

// wordless is an error without what a server has said in it: that may be anybody's words.
func wordless(err error) error {
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Errorf("the server answered with error %d", refused.Code)
	}
	return err
}

// Check reports why the tool cannot be used at this moment; nil when it can. It starts the server, and asks it for the
// tool. Of one that is not what was agreed to, each answer says what to do.
func (a *Agent) Check(ctx context.Context) error {
	_, err := a.ready(ctx, true)
	if bus.IsAny(err, ErrDrifted, ErrNoTool) {
		return agent.StillAnswers(err)
	}
	return err
}

// Close ends the server. The next request starts it again.
func (a *Agent) Close() error {
	a.connection.turn <- struct{}{}
	defer a.connection.leave()
	if a.connection.live != nil {
		a.connection.live.end()
		a.connection.live = nil
	}
	return nil
}
