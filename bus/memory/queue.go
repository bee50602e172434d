package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

// A consumer is an agent's queue: a place in the work stream and the requests
// that are handed out. It is guarded by the ledger's lock.
type consumer struct {
	subject *filter
	pool    bus.Pool
	from    uint64        // the next sequence never handed out
	pending []*lease      // in stream order; at most pool.Size
	waiting int           // Fetch calls
	last    time.Time     // when somebody asked for requests without waiting, or acknowledged one
	changed chan struct{} // closed and replaced when a Fetch may find more

	deliveries uint64 // so far
}

// A lease is one request handed out and not acknowledged.
type lease struct {
	message    bus.Message
	deliveries int
	until      time.Time // after this it is handed out again
}

func (c *consumer) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Declare implements bus.Core.
func (l *Ledger) Declare(_ context.Context, agent string, pool bus.Pool) error {
	if !schemas.ValidAgentName(agent) {
		return fmt.Errorf("%q cannot be the name of an agent", agent)
	}
	if pool.Size < 1 || pool.AckWait <= 0 {
		return fmt.Errorf("agent %s: a pool needs a size and an ack-wait above zero", agent)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.consumers[agent]
	if !ok {
		c = &consumer{subject: newFilter([]string{bus.RequestSubject(agent)}), from: 1, changed: make(chan struct{})}
		l.consumers[agent] = c
	}
	c.pool = pool
	c.wake()
	return nil
}

// PoolState implements bus.Core.
func (l *Ledger) PoolState(_ context.Context, agent string) (bus.PoolState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.consumers[agent]
	if c == nil {
		return bus.PoolState{}, fmt.Errorf("pool of agent %s: %w", agent, bus.ErrNotFound)
	}
	pending := uint64(0)
	for from := c.from; ; pending++ {
		message, some := l.work.next(from, l.work.end(), c.subject)
		if !some {
			break
		}
		from = message.Sequence + 1
	}
	return bus.PoolState{
		Size: c.pool.Size, Waiting: c.waiting, Last: c.last, Working: len(c.pending), Deliveries: c.deliveries, Pending: pending,
	}, nil
}

func (l *Ledger) wakeConsumer(subject string) {
	if parsed, err := bus.ParseSubject(subject); err == nil && parsed.Kind == bus.KindRequest {
		if c := l.consumers[parsed.Agent]; c != nil {
			c.wake()
		}
	}
}

// take hands out up to n requests: those whose lease has lapsed first, then new
// ones as far as the pool allows.
func (l *Ledger) take(c *consumer, n int) []bus.Delivery {
	now := l.now()
	var taken []bus.Delivery
	for _, p := range c.pending {
		if len(taken) < n && !p.until.After(now) {
			taken = append(taken, l.deliver(c, p, now))
		}
	}
	for len(taken) < n && len(c.pending) < c.pool.Size {
		message, ok := l.work.next(c.from, l.work.end(), c.subject)
		if !ok {
			c.from = l.work.end() + 1
			break
		}
		c.from = message.Sequence + 1
		p := &lease{message: message}
		c.pending = append(c.pending, p)
		taken = append(taken, l.deliver(c, p, now))
	}
	return taken
}

func (l *Ledger) deliver(c *consumer, p *lease, now time.Time) bus.Delivery {
	p.deliveries++
	c.deliveries++
	c.last = now
	p.until = now.Add(c.pool.AckWait)
	return &delivery{ledger: l, consumer: c, lease: p, count: p.deliveries, server: l.name()}
}

// nextLapse returns how long until a lease lapses; ok is false when none is held.
func (l *Ledger) nextLapse(c *consumer) (wait time.Duration, ok bool) {
	now := l.now()
	for _, p := range c.pending {
		if left := p.until.Sub(now); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return wait, ok
}

// A Worker implements bus.Worker.
type Worker struct {
	ledger    *Ledger
	agent     string
	cancelled chan string
	permitted chan schemas.PermitAnswer
}

var _ bus.Worker = (*Worker)(nil)

// What bounds the signals that wait for a slow worker.
const (
	cancelBuffer = 64
	permitBuffer = 256
)

// Worker returns one more process of an agent.
func (l *Ledger) Worker(agent string) *Worker {
	w := &Worker{
		ledger: l, agent: agent,
		cancelled: make(chan string, cancelBuffer), permitted: make(chan schemas.PermitAnswer, permitBuffer),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers[agent] = append(l.workers[agent], w)
	return w
}

// Close takes the worker off the list of those that hear signals.
func (w *Worker) Close() {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.workers[w.agent] = slices.DeleteFunc(w.ledger.workers[w.agent], func(other *Worker) bool { return other == w })
}

// Name implements bus.Worker.
func (w *Worker) Name() string { return w.agent }

// TryFetch returns what Fetch would return at once, which may be nothing.
func (w *Worker) TryFetch(n int) []bus.Delivery {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	if c := w.ledger.consumers[w.agent]; c != nil {
		c.last = w.ledger.now()
		return w.ledger.take(c, n)
	}
	return nil
}

// Fetch implements bus.Worker. It waits on a timer of package time, so a ledger
// whose clock is another is to be asked with TryFetch.
func (w *Worker) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	for {
		taken, changed, lapse, err := w.look(n)
		if err != nil || len(taken) > 0 {
			return taken, err
		}
		w.attend(1)
		err = waitFor(ctx, changed, lapse)
		w.attend(-1)
		if err != nil {
			return nil, err
		}
	}
}

// attend counts those who wait for requests.
func (w *Worker) attend(more int) {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	if c := w.ledger.consumers[w.agent]; c != nil {
		c.waiting += more
	}
}

func (w *Worker) look(n int) (taken []bus.Delivery, changed <-chan struct{}, lapse <-chan time.Time, err error) {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	c := w.ledger.consumers[w.agent]
	if c == nil {
		return nil, nil, nil, fmt.Errorf("queue of agent %s: %w", w.agent, bus.ErrNotFound)
	}
	if taken = w.ledger.take(c, n); len(taken) == 0 {
		if wait, ok := w.ledger.nextLapse(c); ok {
			lapse = time.After(wait)
		}
	}
	return taken, c.changed, lapse, nil
}

func waitFor(ctx context.Context, changed <-chan struct{}, lapse <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-lapse:
	}
	return nil
}

// Publish implements bus.Worker.
func (w *Worker) Publish(ctx context.Context, message bus.Message) (bus.Ack, error) {
	parsed, err := bus.ParseSubject(message.Subject)
	own := err == nil && parsed.Agent == w.agent &&
		slices.Contains([]bus.Kind{bus.KindResponse, bus.KindProgress, bus.KindPermit}, parsed.Kind)
	if !own {
		return bus.Ack{}, fmt.Errorf("agent %s: publish to %s: %w", w.agent, message.Subject, bus.ErrDenied)
	}
	return bus.Append(ctx, w.ledger, message, bus.Expect{})
}

// Artifacts implements bus.Worker.
func (w *Worker) Artifacts(request string) bus.Artifacts {
	return artifact.NewClient(w.Ask, request)
}

// Cancelled implements bus.Worker.
func (w *Worker) Cancelled() <-chan string { return w.cancelled }

// Permitted implements bus.Worker.
func (w *Worker) Permitted() <-chan schemas.PermitAnswer { return w.permitted }

// Flush implements bus.Core. It does nothing: what is in memory survives nothing.
func (l *Ledger) Flush(ctx context.Context) error { return ctx.Err() }

// Signal implements bus.Core. Only agents listen, to cancel hints and to the
// answers to permits. What a slow worker has no room for, or what cannot be read,
// is lost.
func (l *Ledger) Signal(subject string, body []byte) error {
	parsed, err := bus.ParseSubject(subject)
	if err != nil {
		return err
	}
	var answer schemas.PermitAnswer
	if string(parsed.Kind) == bus.SignalPermitted && schemas.Unmarshal(body, &answer) != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.workers[parsed.Agent] {
		switch string(parsed.Kind) {
		case bus.SignalCancel:
			offer(w.cancelled, string(body))
		case bus.SignalPermitted:
			offer(w.permitted, answer)
		}
	}
	return nil
}

func offer[V any](to chan V, value V) {
	select {
	case to <- value:
	default:
	}
}

var errNegativeWait = errors.New("a wait cannot be negative")

type delivery struct {
	ledger   *Ledger
	consumer *consumer
	lease    *lease
	count    int
	server   string
}

// Message implements bus.Delivery.
func (d *delivery) Message() bus.Message { return d.lease.message }

// Deliveries implements bus.Delivery.
func (d *delivery) Deliveries() int { return d.count }

// Server implements bus.Delivery.
func (d *delivery) Server() string { return d.server }

// InProgress implements bus.Delivery.
func (d *delivery) InProgress() error {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.lease.until = d.ledger.now().Add(d.consumer.pool.AckWait)
	return nil
}

// Ack implements bus.Delivery.
func (d *delivery) Ack(context.Context) error {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.consumer.last = d.ledger.now()
	d.consumer.pending = slices.DeleteFunc(d.consumer.pending, func(p *lease) bool { return p == d.lease })
	d.consumer.wake()
	return nil
}

// Nak implements bus.Delivery.
func (d *delivery) Nak(wait time.Duration) error {
	if wait < 0 {
		return errNegativeWait
	}
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.lease.until = d.ledger.now().Add(wait)
	d.consumer.wake()
	return nil
}
