package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// A window is how many messages of a reader may be asked for or wait to be taken.
// A visitor that takes nothing holds no more than that in memory.
const (
	readWindow    = 1024
	visitorWindow = 64
)

// errLedgerShrank reports a stream that ends before what was read from it: the
// server lost acknowledged messages.
var errLedgerShrank = errors.New("the stream ends before a message that was read from it")

// A reader reads a stream in order, by an ephemeral consumer that it makes anew
// from behind the last message whenever it is in doubt: after a reconnect, a gap,
// or silence. The consumer's own numbers have no gaps, so a missing message
// shows at once.
//
// Its own goroutine makes each consumer and deletes it, so that a caller who goes
// away at any moment leaves none behind.
type reader struct {
	core     *Core
	stream   string
	subjects []string
	window   int
	wake     chan struct{}
	doubt    chan struct{} // the consumer is to be made anew
	opened   chan error    // how the opening ended
	stop     context.CancelFunc
	finished chan struct{}

	mu     sync.Mutex
	queue  []entry // from taken on
	taken  int
	bytes  int    // of the queue's bodies
	last   uint64 // the newest message that came
	came   bool   // one did: last is a message, not where the caller began
	err    error
	source source
}

// An entry is a message that waits to be taken.
type entry struct {
	message bus.Message
	pending uint64 // messages that were behind it when it was sent
}

func (c *Core) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	window := visitorWindow
	if bus.HasPrecedence(ctx) {
		window = readWindow
	}
	return c.newReader(ctx, stream, from, subjects, window)
}

func (c *Core) newReader(ctx context.Context, stream string, from uint64, subjects []string, window int) (*reader, error) {
	opening, cancel := wire.Bounded(ctx)
	defer cancel()
	lifetime, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &reader{
		core: c, stream: stream, subjects: subjects, window: window,
		wake: make(chan struct{}, 1), doubt: make(chan struct{}, 1), opened: make(chan error, 1),
		stop: stop, finished: make(chan struct{}),
		last: max(from, 1) - 1,
	}
	if err := c.register(r); err != nil {
		stop()
		return nil, fmt.Errorf("read %s: %w", stream, err)
	}
	go r.run(lifetime)
	var err error
	select {
	case err = <-r.opened:
	case <-opening.Done():
		err = wire.Classify("open a reader", opening.Err())
	}
	if err != nil {
		stop() // what is under way is taken back without the caller
		return nil, fmt.Errorf("read %s: %w", stream, err)
	}
	return r, nil
}

func (r *reader) Next() (bus.Message, bool, error) {
	next, ok, err := r.next()
	return next.message, ok, err
}

func (r *reader) next() (entry, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == len(r.queue) {
		return entry{}, false, r.err
	}
	next := r.queue[r.taken]
	r.queue[r.taken] = entry{}
	r.taken++
	r.bytes -= len(next.message.Body)
	if r.taken == len(r.queue) {
		r.queue, r.taken = r.queue[:0], 0
	}
	r.ask()
	return next, true, nil
}

// exhausted reports that the newest consumer had nothing to give when it was made.
// As long as there is none, nobody knows what is left.
func (r *reader) exhausted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.consumer != "" && r.source.initial == 0 && r.source.delivered == 0 && r.taken == len(r.queue)
}

func (r *reader) Wake() <-chan struct{} { return r.wake }

func (r *reader) Close() {
	r.stop()
	<-r.finished
}

// run opens the reader and makes the consumer anew when needed, until the reader
// is closed.
func (r *reader) run(ctx context.Context) {
	defer close(r.finished)
	defer r.core.unregister(r)
	defer r.stop()
	returned := r.core.returned.Next()
	leave, err := r.core.visit(ctx, r.stream)
	if err != nil {
		r.opened <- err
		return
	}
	defer leave()
	defer r.release(ctx)
	opening, opened := r.core.onThisConnection(ctx)
	err = r.open(opening)
	opened()
	r.opened <- err
	if err == nil {
		r.fail(r.watch(ctx, returned))
	}
}

// watch returns why the reader ends.
func (r *reader) watch(ctx context.Context, returned <-chan struct{}) error {
	look := time.NewTicker(heartbeat)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return bus.ErrClosed
		case <-look.C:
			if !r.silent() {
				continue
			}
		case <-returned:
		case <-r.doubt:
		}
		returned = r.core.returned.Next()
		if err := r.reopen(ctx); err != nil {
			return err
		}
	}
}

func (r *reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = fmt.Errorf("read %s: %w", r.stream, err)
	notify(r.wake)
}

func (r *reader) silent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.asked > 0 && time.Since(r.source.heard) > silence
}
