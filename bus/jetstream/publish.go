package jetstream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

const (
	// publishWait is long enough for a full window of publishes, each with its
	// own fsync.
	publishWait   = 30 * time.Second
	publishWindow = 1 << 17
	stallWait     = time.Millisecond
)

// A publisher sees to it that every publish has exactly one outcome. The library
// may report none (the connection was closed) or two (it timed out while the send
// failed), so that the table here decides.
type publisher struct {
	js jetstream.JetStream

	mu        sync.Mutex
	changed   sync.Cond // there is nothing pending, or nothing to report
	pending   map[*nats.Msg]func(bus.Ack, error)
	failed    []failure
	reporting bool // a goroutine reports what has failed
	closed    bool
}

// A failure waits to be reported. The library reports a timeout under its own
// lock, where a caller that publishes anew would wait for ever.
type failure struct {
	done func(bus.Ack, error)
	err  error
}

func newPublisher() *publisher {
	p := &publisher{pending: make(map[*nats.Msg]func(bus.Ack, error))}
	p.changed.L = &p.mu
	return p
}

func (p *publisher) attach(connection *nats.Conn) (jetstream.JetStream, error) {
	js, err := jetstream.New(connection,
		jetstream.WithDefaultTimeout(requestWait),
		jetstream.WithPublishAsyncMaxPending(publishWindow),
		jetstream.WithPublishAsyncTimeout(publishWait),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, m *nats.Msg, ack *jetstream.PubAck) { p.acked(m, ack) }),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) { p.fail(m, err) }),
	)
	if err != nil {
		return nil, classify("open the ledger", err)
	}
	p.js = js
	return js, nil
}

func (p *publisher) publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	m := &nats.Msg{Subject: message.Subject, Header: outgoing(message.Header), Data: message.Body}
	if expect.Check {
		m.Header = expecting(message.Header, expect.Last)
	}
	p.mu.Lock()
	p.pending[m] = done
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.fail(m, nats.ErrConnectionClosed)
		return
	}
	// The library's retries would let a later message overtake this one.
	if _, err := p.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0), jetstream.WithStallWait(stallWait)); err != nil {
		p.fail(m, err)
	}
}

// take removes a publish from the table; whoever gets its function calls it.
func (p *publisher) take(m *nats.Msg) func(bus.Ack, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := p.pending[m]
	delete(p.pending, m)
	if len(p.pending) == 0 {
		p.changed.Broadcast()
	}
	return done
}

func (p *publisher) acked(m *nats.Msg, ack *jetstream.PubAck) {
	if ack.Duplicate {
		p.fail(m, errSwallowed)
		return
	}
	if done := p.take(m); done != nil {
		done(bus.Ack{Stream: ack.Stream, Sequence: ack.Sequence}, nil)
	}
}

func (p *publisher) fail(m *nats.Msg, err error) {
	done := p.take(m)
	if done == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, failure{done, classify("publish", err)})
	if !p.reporting {
		p.reporting = true
		go p.report()
	}
}

// report hands failures to their callers until there are none.
func (p *publisher) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.failed) > 0 {
		failed := p.failed
		p.failed = nil
		p.mu.Unlock()
		for _, f := range failed {
			f.done(bus.Ack{}, f.err)
		}
		p.mu.Lock()
	}
	p.reporting = false
	p.changed.Broadcast()
}

// drain refuses what comes and waits for what is pending, for a while.
func (p *publisher) drain(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	expired := false
	timer := time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		expired = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	for len(p.pending) > 0 && !expired {
		p.changed.Wait()
	}
}

// close ends what is pending with bus.ErrClosed. The connection is closed before.
func (p *publisher) close() {
	p.mu.Lock()
	p.closed = true
	left := make([]*nats.Msg, 0, len(p.pending))
	for m := range p.pending {
		left = append(left, m)
	}
	p.mu.Unlock()
	for _, m := range left {
		p.fail(m, nats.ErrConnectionClosed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.reporting {
		p.changed.Wait()
	}
}
