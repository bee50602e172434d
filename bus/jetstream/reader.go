package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"podium/bus"
)

// readWindow is how many messages of a reader may be asked for or wait to be taken.
const readWindow = 1024

// errLedgerShrank reports a stream that ends before what was read from it: the
// server lost acknowledged messages.
var errLedgerShrank = errors.New("the stream ends before a message that was read from it")

// A reader reads a stream in order, by an ephemeral consumer that it makes anew
// from behind the last message whenever it is in doubt: after a reconnect, a gap,
// or silence. The consumer's own numbers have no gaps, so a missing message
// shows at once.
type reader struct {
	core     *Core
	stream   string
	subjects []string
	wake     chan struct{}
	doubt    chan struct{} // the consumer is to be made anew
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

// Read implements bus.Ledger. The context bounds the opening, not the reader.
func (c *Core) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	return c.newReader(ctx, stream, from, subjects)
}

func (c *Core) newReader(ctx context.Context, stream string, from uint64, subjects []string) (*reader, error) {
	opening, cancel := bounded(ctx)
	defer cancel()
	lifetime, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &reader{
		core: c, stream: stream, subjects: subjects,
		wake: make(chan struct{}, 1), doubt: make(chan struct{}, 1),
		stop: stop, finished: make(chan struct{}),
		last: max(from, 1) - 1,
	}
	returned := c.returned.next()
	err := c.register(r)
	if err == nil {
		err = r.open(opening)
	}
	if err != nil {
		c.unregister(r)
		stop()
		close(r.finished)
		return nil, fmt.Errorf("read %s: %w", stream, err)
	}
	go r.run(lifetime, returned)
	return r, nil
}

// Next implements bus.Reader.
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
func (r *reader) exhausted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.initial == 0 && r.source.delivered == 0 && r.taken == len(r.queue)
}

// Wake implements bus.Reader.
func (r *reader) Wake() <-chan struct{} { return r.wake }

// Close implements bus.Reader.
func (r *reader) Close() {
	r.stop()
	<-r.finished
}

// run makes the consumer anew when needed, until the reader is closed.
func (r *reader) run(ctx context.Context, returned <-chan struct{}) {
	defer close(r.finished)
	defer r.core.unregister(r)
	defer r.release(ctx)
	watch := time.NewTicker(heartbeat)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			r.fail(bus.ErrClosed)
			return
		case <-watch.C:
			if !r.silent() {
				continue
			}
		case <-returned:
		case <-r.doubt:
		}
		returned = r.core.returned.next()
		if err := r.reopen(ctx); err != nil {
			r.fail(err)
			return
		}
	}
}

func (r *reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = fmt.Errorf("read %s: %w", r.stream, err)
	r.awaken()
}

func (r *reader) silent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.asked > 0 && time.Since(r.source.heard) > silence
}
