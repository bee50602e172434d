package jetstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

const (
	gatePrefix  = "podium.gate."
	agentPrefix = "podium.agent."

	// GateConsumer is what follows an agent's name where it asks the gate what its consumer is.
	GateConsumer = "consumer"
	consumerInfo = "$JS.API.CONSUMER.INFO." + bus.WorkStream + "."

	gateArrivals  = 1 << 16 // messages that have come and that nobody has looked at yet
	queueLength   = 1 << 10 // messages of one agent that wait, at most
	queueBytes    = 32 << 20
	countWait     = 2 * time.Second // a stop may have to wait for it
	recountWait   = 100 * time.Millisecond
	gateUnderWay  = 256         // publishes of one agent at a time
	describeEvery = time.Second // how often the server is asked about the consumer of one agent
)

// A Gatekeeper decides what external agents may put onto the ledger; gate.Gate is one.
type Gatekeeper interface {
	// Waiting tells how many requests wait for an agent that the gatekeeper may not
	// have been told of.
	Waiting(agent string, count uint64)
	// Requested tells of a request on its way to an agent. It does not block.
	Requested(message bus.Message)
	// Admit decides about a message; see gate.Gate.
	Admit(message bus.Message) (earlier *bus.Ack, settle func(bus.Ack, error), err error)
}

// errQueueFull is told to an agent that publishes faster than its messages are stored.
var errQueueFull = &bus.TemporaryError{Op: "admit", Err: errors.New("too many messages wait to be stored; send the next ones when these are acknowledged")}

// A Gate lets external agents publish, until it is closed, which waits for what is under way.
type Gate interface {
	// Admit lets one agent more publish.
	Admit(ctx context.Context, agent string) error
	// Expel takes nothing more of an agent.
	Expel(agent string)
	Close()
}

// errNotAdmitted is told to an agent that may not publish, or may not any more.
var errNotAdmitted = &bus.RefusedError{Reason: "the agent is none that may publish here; whoever runs the instance takes it in: podium agents add"}

// OpenGate lets the messages of external agents onto the ledger, those that the
// gatekeeper admits. The
// external account publishes to podium.gate.<agent>.…, which its import maps from
// the agent's own subjects.
//
// It has a connection of its own, and each agent a queue of its own: whoever floods
// it holds up nobody else. An agent that publishes more than its queue holds is told
// at once. Of the headers those of CloudEvents are kept, and no other.
func (c *Core) OpenGate(ctx context.Context, keeper Gatekeeper, agents []string) (_ Gate, err error) {
	g := &gate{
		core: c, keeper: keeper, queues: make(map[string]*agentQueue, len(agents)), requests: make(map[string]*nats.Subscription),
		arrivals: make(chan *nats.Msg, gateArrivals), closing: make(chan struct{}),
	}
	if err := c.register(g); err != nil {
		return nil, err
	}
	e := c.endpoint
	e.Name += " gate"
	e.Returned = wire.NewSignal()
	if g.connection, err = e.Connect(ctx); err == nil {
		err = g.listen(gatePrefix + ">")
	}
	for _, agent := range agents {
		if err == nil {
			err = g.Admit(ctx, agent)
		}
	}
	if err != nil {
		g.Close()
		return nil, wire.Classify("open the gate", err)
	}
	g.running.Go(g.dispatch)
	g.running.Go(func() { g.recount(e.Returned) }) //nolint:contextcheck // it goes on after this call
	return g, nil
}

// Admit implements Gate.
func (g *gate) Admit(ctx context.Context, agent string) error {
	queue := &agentQueue{changed: make(chan struct{}, 1), closing: make(chan struct{})}
	g.mu.Lock()
	known := g.queues[agent] != nil
	if !known {
		g.queues[agent] = queue
	}
	g.mu.Unlock()
	if known {
		return nil
	}
	err := g.listen(bus.RequestSubject(agent))
	if err == nil {
		err = g.count(ctx, agent)
	}
	if err != nil {
		g.Expel(agent)
		return wire.Classify("let agent "+agent+" publish", err)
	}
	g.running.Go(func() { g.pass(queue) })
	return nil
}

// Expel implements Gate.
func (g *gate) Expel(agent string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if queue := g.queues[agent]; queue != nil {
		close(queue.closing)
		delete(g.queues, agent)
	}
	if requests := g.requests[bus.RequestSubject(agent)]; requests != nil {
		_ = requests.Unsubscribe() // without a connection there is nothing to end
		delete(g.requests, bus.RequestSubject(agent))
	}
}

// queue returns the queue of an agent; nil when it may not publish.
func (g *gate) queue(agent string) *agentQueue {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queues[agent]
}

type gate struct {
	core       *Core
	keeper     Gatekeeper
	connection *nats.Conn
	arrivals   chan *nats.Msg // of all subscriptions, so that a request is seen before its response
	closing    chan struct{}
	close      sync.Once
	running    sync.WaitGroup

	mu       sync.Mutex
	queues   map[string]*agentQueue        // by agent
	requests map[string]*nats.Subscription // by subject
}

// An agentQueue is the messages of one agent that wait.
type agentQueue struct {
	mu      sync.Mutex
	waiting []*nats.Msg
	bytes   int
	changed chan struct{} // holds a value when something waits
	closing chan struct{} // closed when its agent may not publish any more

	// What the server says of the agent's consumer, and when; pass alone uses it.
	consumer   []byte
	consumerAt time.Time
}

func (g *gate) listen(subject string) error {
	subscription, err := g.connection.ChanSubscribe(subject, g.arrivals)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.requests[subject] = subscription
	g.mu.Unlock()
	return g.connection.Flush()
}

// everybody lists the agents that may publish.
func (g *gate) everybody() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.queues))
}

// count tells the gatekeeper of requests that went out while nobody looked.
func (g *gate) count(ctx context.Context, agents ...string) error {
	for _, agent := range agents {
		consumer, err := g.core.js.Consumer(ctx, bus.WorkStream, agent)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			continue // it is not declared yet: nothing waits for it
		}
		if err != nil {
			return err
		}
		info := consumer.CachedInfo()
		g.keeper.Waiting(agent, info.NumPending+uint64(max(info.NumAckPending, 0))) //nolint:gosec // not negative
	}
	return nil
}

// recount counts again whenever the connection was lost, until it is known.
func (g *gate) recount(returned *wire.Signal) {
	next := returned.Next()
	var again <-chan time.Time
	for {
		select {
		case <-next:
			next = returned.Next()
		case <-again:
		case <-g.closing:
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), countWait)
		again = nil
		if err := g.count(ctx, g.everybody()...); err != nil { // the other connection may not be back yet
			again = time.After(recountWait)
		}
		cancel()
	}
}

// dispatch hands each message to its agent's queue, and never waits for one.
func (g *gate) dispatch() {
	for {
		select {
		case m := <-g.arrivals:
			g.arrived(m)
		case <-g.closing:
			return
		}
	}
}

func (g *gate) arrived(m *nats.Msg) {
	rest, ok := strings.CutPrefix(m.Subject, gatePrefix)
	if !ok {
		g.keeper.Requested(bus.Message{Subject: m.Subject, Header: wire.Incoming(m.Header), Body: m.Data})
		return
	}
	agent, _, _ := strings.Cut(rest, ".")
	queue := g.queue(agent)
	switch {
	case queue == nil:
		g.refuse(m, errNotAdmitted)
	case !queue.enter(m):
		g.refuse(m, errQueueFull)
	}
}

// enter reports whether there was room.
func (q *agentQueue) enter(m *nats.Msg) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := m.Size()
	if len(q.waiting) >= queueLength || len(q.waiting) > 0 && q.bytes+size > queueBytes {
		return false
	}
	q.waiting = append(q.waiting, m)
	q.bytes += size
	notify(q.changed)
	return true
}

// take returns what waits.
func (q *agentQueue) take() []*nats.Msg {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting, q.bytes = nil, 0
	return taken
}

// pass stores the messages of one agent in their order.
func (g *gate) pass(queue *agentQueue) {
	var underWay sync.WaitGroup
	defer underWay.Wait()
	slots := make(chan struct{}, gateUnderWay)
	for {
		select {
		case <-queue.changed:
		case <-queue.closing:
			g.turnAway(queue)
			return
		case <-g.closing:
			return
		}
		for _, m := range queue.take() {
			if agent, is := asksForConsumer(m.Subject); is {
				g.describe(m, agent, queue)
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-queue.closing:
				return
			case <-g.closing:
				return // whoever waits for an answer publishes again
			}
			underWay.Add(1)
			g.store(m, func() { <-slots; underWay.Done() })
		}
	}
}

// asksForConsumer returns the agent of a question that is no message to the ledger.
func asksForConsumer(subject string) (agent string, is bool) {
	return strings.CutSuffix(strings.TrimPrefix(subject, gatePrefix), "."+GateConsumer)
}

// describe tells an agent what its consumer is, in the words of the server.
func (g *gate) describe(m *nats.Msg, agent string, queue *agentQueue) {
	if queue.consumer == nil || time.Since(queue.consumerAt) >= describeEvery {
		reply, err := g.core.connection.Request(consumerInfo+agent, nil, countWait)
		if err != nil {
			g.refuse(m, wire.Classify("ask about the consumer", err))
			return
		}
		queue.consumer, queue.consumerAt = reply.Data, time.Now()
	}
	g.answer(m, string(queue.consumer))
}

// store publishes one message, if it is admitted, and answers it.
func (g *gate) store(m *nats.Msg, done func()) {
	message := bus.Message{
		Subject: agentPrefix + strings.TrimPrefix(m.Subject, gatePrefix), Header: eventHeader(m.Header), Body: m.Data,
	}
	earlier, settle, err := g.keeper.Admit(message)
	switch {
	case err != nil:
		g.refuse(m, err)
		done()
	case earlier != nil:
		g.acknowledge(m, *earlier)
		done()
	default:
		g.core.Publish(message, bus.Expect{}, func(ack bus.Ack, err error) {
			defer done()
			settle(ack, err)
			switch {
			case err == nil:
				g.acknowledge(m, ack)
			case bus.Temporary(err):
				g.leaveOpen(m, err)
			default:
				g.refuse(m, err)
			}
		})
	}
}

// eventHeader returns the headers of CloudEvents and the content type, which tells the
// mode. Everything else is the server's or nobody's.
func eventHeader(header nats.Header) bus.Header {
	kept := make(bus.Header, len(header))
	for name, values := range header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "ce-") || lower == "content-type" {
			kept[name] = values
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// acknowledge answers as the server would.
func (g *gate) acknowledge(m *nats.Msg, ack bus.Ack) {
	g.answer(m, `{"stream":"`+ack.Stream+`","seq":`+strconv.FormatUint(ack.Sequence, 10)+`}`)
}

// refuse answers with an error in the server's form, so that every client knows it.
func (g *gate) refuse(m *nats.Msg, err error) {
	api := jetstream.APIError{Code: 400, Description: err.Error()}
	switch {
	case errors.Is(err, bus.ErrTooLarge):
		api.ErrorCode = jetstream.JSErrCodeStreamMessageExceedsMaximum
	case errors.Is(err, bus.ErrFull):
		api.ErrorCode = wire.CodeStorageResources
		api.Code = 503
	case bus.Temporary(err), bus.IsAny(err, bus.ErrFailed, bus.ErrLost):
		api.Code = 503
	}
	g.answerError(m, api)
}

// leaveOpen answers that nobody knows whether a message was stored.
func (g *gate) leaveOpen(m *nats.Msg, err error) {
	g.answerError(m, jetstream.APIError{Code: 504, Description: "it may have been stored, or not; publish it again under the same id: " + err.Error()})
}

func (g *gate) answerError(m *nats.Msg, api jetstream.APIError) {
	body, err := schemas.Marshal(map[string]any{"error": api})
	if err == nil {
		g.answer(m, string(body))
	}
}

func (g *gate) answer(m *nats.Msg, body string) {
	if m.Reply == "" {
		return
	}
	if err := g.connection.Publish(m.Reply, []byte(body)); err != nil {
		g.core.config.Logger.Debug().Err(fmt.Errorf("answer an agent: %w", err)).Msg("an agent will publish again")
	}
}

// turnAway refuses what waits.
func (g *gate) turnAway(queue *agentQueue) {
	for _, m := range queue.take() {
		g.refuse(m, errQueueFull)
	}
}

// Close stops the gate and waits for what is under way. It may be called again.
func (g *gate) Close() {
	g.close.Do(func() {
		close(g.closing)
		g.running.Wait()
		if g.connection != nil {
			for _, agent := range g.everybody() {
				g.turnAway(g.queue(agent))
			}
			_ = g.connection.FlushTimeout(wire.DrainWait) // answers; whoever misses one publishes again
			g.connection.Close()
		}
		g.core.unregister(g)
	})
}
