package jetstream

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/jetstream/wire"
)

const (
	readBytes   = 16 << 20 // of waiting messages, above which no more are asked for
	pullExpires = 30 * time.Second
	heartbeat   = 2 * time.Second
	silence     = 3 * heartbeat
	// consumerIdle is when the server forgets a consumer that nobody asks. It is for
	// those whose process was killed: a slow reader's is made anew.
	consumerIdle = 15 * time.Second
)

// A source is one consumer and what is known of it.
type source struct {
	number       int // tells the callbacks of an earlier one
	consumer     string
	inbox        string
	subscription *nats.Subscription
	asked        int    // messages asked for that are not here yet
	delivered    uint64 // the consumer's number of the last one
	initial      uint64 // messages that were there when it was made
	heard        time.Time
}

// ask asks for more messages when there is room for half a window. The lock is held.
func (r *reader) ask() {
	room := r.window - r.source.asked - (len(r.queue) - r.taken)
	if room < r.window/2 || r.bytes >= readBytes || r.source.consumer == "" {
		return
	}
	r.source.asked += room
	request := `{"batch":` + strconv.Itoa(room) + `,"max_bytes":` + strconv.Itoa(readBytes) +
		`,"expires":` + strconv.FormatInt(int64(pullExpires), 10) + `,"idle_heartbeat":` + strconv.FormatInt(int64(heartbeat), 10) + `}`
	subject := "$JS.API.CONSUMER.MSG.NEXT." + r.stream + "." + r.source.consumer
	if err := r.core.connection.PublishRequest(subject, r.source.inbox, []byte(request)); err != nil {
		r.question() // a reconnect, too, leads to a new consumer
	}
}

// question has the consumer made anew.
func (r *reader) question() { notify(r.doubt) }

// notify leaves a value for whoever looks next, unless there is one.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (r *reader) receive(number int, m *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number != r.source.number {
		return
	}
	r.source.heard = time.Now()
	at, ok := wire.ParsePosition(m.Reply)
	if !ok {
		r.status(m)
		return
	}
	if at.Consumer != r.source.delivered+1 {
		r.question()
		return
	}
	r.source.delivered = at.Consumer
	r.source.asked--
	if at.Stream > r.last { // a consumer from beyond the end starts at the end
		r.last, r.came = at.Stream, true
		r.queue = append(r.queue, entry{pending: at.Pending, message: bus.Message{
			Subject: m.Subject, Header: wire.Incoming(m.Header), Body: m.Data,
			Stream: r.stream, Sequence: at.Stream, Recorded: at.Recorded,
		}})
		r.bytes += len(m.Data)
		notify(r.wake)
	}
	r.ask()
}

// status reads what the server says of a request. The lock is held.
func (r *reader) status(m *nats.Msg) {
	switch m.Header.Get("Status") {
	case "100": // a heartbeat, which names the consumer's last number
		if last := m.Header.Get("Nats-Last-Consumer"); last != "" && last != strconv.FormatUint(r.source.delivered, 10) {
			r.question()
		}
	case "408", "409": // the request has ended
		left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		if err != nil {
			r.question()
			return
		}
		r.source.asked = max(r.source.asked-left, 0)
		r.ask()
	default:
		r.question()
	}
}

// reopen tries until it has a consumer again. Its error is final, or ctx's.
func (r *reader) reopen(ctx context.Context) error {
	r.release(ctx)
	for trouble := (backoff.Backoff{Most: wire.LongestBackoff}); ; {
		if trouble.Wait(ctx) != nil {
			return bus.ErrClosed
		}
		if err := r.tryReopen(ctx); err == nil || !bus.Temporary(err) {
			return err
		}
	}
}

func (r *reader) tryReopen(ctx context.Context) error {
	ctx, end := r.core.onThisConnection(ctx)
	defer end()
	if err := r.checkPlace(ctx); err != nil {
		return err
	}
	return r.open(ctx)
}

func (r *reader) checkPlace(ctx context.Context) error {
	state, err := r.core.State(ctx, r.stream)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.came && state.Last < r.last {
		return errLedgerShrank
	}
	return nil
}

// open makes a consumer from behind the last message and asks for the first ones.
func (r *reader) open(ctx context.Context) error {
	made, err := r.core.admit(ctx, r.stream)
	if err != nil {
		return err
	}
	defer made()
	name := "podium-" + nuid.Next()
	consumer, err := r.makeConsumer(ctx, name)
	if err != nil {
		return wire.Classify("make a consumer", wire.NotFound(err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.source.number + 1
	inbox := r.core.connection.NewInbox()
	subscription, err := r.core.connection.Subscribe(inbox, func(m *nats.Msg) { r.receive(number, m) })
	r.source = source{
		number: number, consumer: name, inbox: inbox, subscription: subscription,
		initial: consumer.CachedInfo().NumPending, heard: time.Now(),
	}
	if err == nil {
		err = subscription.SetPendingLimits(-1, -1) // the window is the limit
	}
	if err != nil {
		return wire.Classify("listen to a consumer", err)
	}
	r.ask()
	notify(r.wake)
	return nil
}

// makeConsumer awaits the server's answer even when ctx ends, for a while: what is
// still being made cannot be deleted for sure. When it fails there is none.
func (r *reader) makeConsumer(ctx context.Context, name string) (jetstream.Consumer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	next := r.last + 1
	r.mu.Unlock()
	making, stop := r.core.lingering(ctx)
	defer stop()
	consumer, err := r.core.js.CreateConsumer(making, r.stream, jetstream.ConsumerConfig{
		Name:              name,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       next,
		AckPolicy:         jetstream.AckNonePolicy,
		ReplayPolicy:      jetstream.ReplayInstantPolicy,
		FilterSubjects:    r.subjects,
		MaxDeliver:        -1,
		MaxWaiting:        16,
		InactiveThreshold: consumerIdle,
		Replicas:          1,
		MemoryStorage:     true,
	})
	if _, refused := errors.AsType[*jetstream.APIError](err); err != nil && !refused {
		r.deleteConsumer(ctx, name)
	}
	return consumer, err
}

// onThisConnection returns a context that ends when the connection was lost and is
// back: the answer to what was asked before will never come.
func (c *Core) onThisConnection(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.returned.Until(ctx)
}

// lingering returns a context that ends drainWait after ctx, and with the connection.
func (c *Core) lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, end := c.onThisConnection(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if backoff.Pause(longer, wire.DrainWait) == nil {
			end()
		}
	})
	return longer, func() { stop(); end() }
}

// release gives the consumer up.
func (r *reader) release(ctx context.Context) {
	r.mu.Lock()
	old := r.source
	r.source = source{number: old.number + 1}
	r.mu.Unlock()
	if old.consumer == "" {
		return
	}
	if old.subscription != nil {
		_ = old.subscription.Unsubscribe()
	}
	r.deleteConsumer(ctx, old.consumer)
}

// deleteConsumer deletes a consumer that may be there. What a server that is away
// has made it forgets by itself, later.
func (r *reader) deleteConsumer(ctx context.Context, name string) {
	if !r.core.connection.IsConnected() {
		return
	}
	ctx, end := r.core.onThisConnection(context.WithoutCancel(ctx))
	defer end()
	ctx, cancel := context.WithTimeout(ctx, wire.DrainWait)
	defer cancel()
	_ = r.core.js.DeleteConsumer(ctx, r.stream, name)
}
