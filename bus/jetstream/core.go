package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// acknowledgementToken is the second token of the subjects of acknowledgements. The
// API of a domain with that name, $JS.<domain>.API.>, would be within what agents may
// publish to.
const acknowledgementToken = "ACK"

// Config says which ledger to open, and how to create one.
type Config struct {
	// URL of the server, or several with commas between. It counts for a server
	// in this process too, as a name in messages; empty is then allowed.
	URL string
	// InProcess, when set, is a server in this process, reached without a socket.
	InProcess wire.InProcess
	// SeedFile holds the nkey seed of a user of the core account.
	SeedFile string
	// Name shows in the server's list of connections.
	Name string
	// Shards is the number of shards at creation; 0 is one per core, at most 4. A
	// ledger keeps its number: another one here is an error.
	Shards int
	// Replicas of everything; 0 is 1.
	Replicas int
	// MaxBytes bounds all shards together, evenly divided; 0 sets no limit and
	// leaves an existing one.
	MaxBytes int64
	// GroupCommit has messages that wait for the same stream stored together. It
	// is for a single server that syncs each message (sync_interval: always); on
	// any other it costs more than it saves.
	GroupCommit bool
	// Existing opens a ledger as it is, and makes and changes nothing of it. It is
	// bus.ErrNotFound when there is none.
	Existing bool
	// Known says that a ledger was there before. When there is none now, Connect fails with ErrGone, and creates none.
	Known bool
	// Flush makes what the servers have acknowledged survive a loss of power; nil where
	// they do that before they acknowledge, or nobody here can.
	Flush func(ctx context.Context) error
	// Free returns how many bytes there are left for the ledger on its disk. Nil says that
	// this is not known, as of a server on another machine.
	Free func() (int64, error)
	// AmendLater leaves a ledger that is there as it is until Amend: others may work on it.
	AmendLater bool
	Logger     zerolog.Logger
}

// Core is the core account's connection to a ledger in JetStream.
type Core struct {
	endpoint   wire.Endpoint // of further connections
	connection *nats.Conn
	js         jetstream.JetStream
	returned   *wire.Signal
	publisher  *publisher
	hold       hold
	abandoned  *wire.Signal // raised when the server is known not to answer what would change the ledger
	holding    holding
	turns      sync.Map                              // *turn: whose it is to read a stream, by its name
	objects    atomic.Pointer[jetstream.ObjectStore] // the artifacts, once they were looked up
	chunks     *ttlcache.Cache[string, []chunk]      // see newChunkIndex
	shards     int
	replicas   int
	config     Config

	mu     sync.Mutex
	open   map[closer]struct{} // readers and services
	closed bool
}

// A closer is something that ends before the connection does.
type closer interface{ Close() }

var _ bus.Core = (*Core)(nil)

// Connect opens the ledger, and creates what is missing of it. It fails on a
// ledger with other settings (DriftError) or another number of shards. An error is
// temporary when a server, or a leader in its cluster, is away; what the server's
// configuration has to grant first is not.
func Connect(ctx context.Context, config Config) (*Core, error) {
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	core := &Core{
		returned: wire.NewSignal(), abandoned: wire.NewSignal(), publisher: newPublisher(), chunks: newChunkIndex(), config: config,
		replicas: max(config.Replicas, 1), open: make(map[closer]struct{}),
	}
	core.endpoint = wire.Endpoint{
		URL: config.URL, Process: config.InProcess, SeedFile: config.SeedFile,
		Name: "podium " + config.Name, Returned: wire.NewSignal(), Logger: config.Logger,
	}
	core.publisher.hold = &core.hold
	server := core.endpoint
	server.Returned, server.Lost = core.returned, core.publisher.lost
	server.Failed = func(err error) {
		if denied := server.Denial(err); denied != nil {
			refuse(denied) // it counts while the ledger is opened
		}
	}
	var err error
	if core.connection, err = server.Connect(opening); err != nil {
		return nil, err
	}
	if core.connection.ConnectedDomain() == acknowledgementToken {
		core.Close()
		return nil, fmt.Errorf("the server's JetStream domain is called %q, so that acknowledgements and its API share subjects: call it something else", acknowledgementToken)
	}
	core.js, err = jetstream.New(core.connection, jetstream.WithDefaultTimeout(wire.RequestWait))
	if err == nil {
		err = core.publisher.attach(core.connection)
	}
	if err == nil {
		err = core.ready(opening, config.SeedFile)
	}
	if err == nil {
		core.shards, err = core.openStreams(opening, config, config.AmendLater)
	}
	if err == nil {
		err = core.Flush(opening) // what was made, before anything stands on it
	}
	if err == nil {
		err = core.recordLastSequences(opening)
	}
	if err != nil {
		core.Close()
		if denied := context.Cause(opening); errors.Is(denied, bus.ErrDenied) {
			return nil, denied
		}
		return nil, err
	}
	if config.GroupCommit {
		core.publisher.group(core.shards)
	}
	return core, nil
}

// Shards implements bus.Ledger.
func (c *Core) Shards() int { return c.shards }

// Publish implements bus.Ledger. The outcome is known or given up within
// publishWait after it was sent; every outcome but an ack is reported by a goroutine of its own.
func (c *Core) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	c.publisher.publish(message, expect, done)
}

// State implements bus.Ledger.
func (c *Core) State(ctx context.Context, stream string) (bus.StreamState, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	info, err := c.streamInfo(ctx, stream)
	if err != nil {
		return bus.StreamState{}, wire.Classify("read the state of "+stream, wire.NotFound(err))
	}
	return bus.StreamState{
		First: info.State.FirstSeq, Last: info.State.LastSeq,
		Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, Disk: c.disk(ctx),
	}, nil
}

// Amend does what Connect has left for later (Config.AmendLater), and fails as that does
// on a ledger with other settings. It may be repeated.
func (c *Core) Amend(ctx context.Context) error {
	_, err := c.openStreams(ctx, c.config, false)
	return err
}

// Signal implements bus.Core.
func (c *Core) Signal(subject string, body []byte) error {
	return wire.Classify("signal", c.connection.Publish(subject, body))
}

// Declare implements bus.Core. Bounds that changed take effect at once; requests
// under way stay with whom they are.
func (c *Core) Declare(ctx context.Context, agent string, pool bus.Pool) error {
	want, err := consumerConfig(agent, pool)
	if err != nil {
		return err
	}
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	op := "declare agent " + agent
	consumer, err := c.js.Consumer(ctx, bus.WorkStream, agent)
	if err == nil {
		have := consumer.CachedInfo().Config
		if have.AckWait == want.AckWait && have.MaxAckPending == want.MaxAckPending && have.FilterSubject == want.FilterSubject {
			return nil
		}
	} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return wire.Classify(op, err)
	}
	if _, err = c.js.CreateOrUpdateConsumer(ctx, bus.WorkStream, want); err != nil {
		return wire.Classify(op, err)
	}
	return c.Flush(ctx)
}

// Halt has the server hand out no request to an agent, however its processes ask, or ends that. What was handed out
// stays with whom it is.
func (c *Core) Halt(ctx context.Context, agent string, halted bool) error {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	var err error
	if halted {
		_, err = c.js.PauseConsumer(ctx, bus.WorkStream, agent, time.Now().Add(haltFor))
	} else {
		_, err = c.js.ResumeConsumer(ctx, bus.WorkStream, agent)
	}
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil // there is nothing to hand out by
	}
	return wire.Classify("halt agent "+agent, err)
}

// haltFor is longer than any installation lasts.
const haltFor = 100 * 365 * 24 * time.Hour

// Ask asks a service of the core, as Serve answers it, and waits for its answer. It is for other processes of the core
// account; nobody there is a temporary error.
func (c *Core) Ask(ctx context.Context, subject string, body []byte) ([]byte, error) {
	reply, err := c.connection.RequestWithContext(ctx, subject, body)
	if err != nil {
		return nil, wire.Classify("ask "+subject, err)
	}
	return wire.ReadAnswer("ask "+subject, reply)
}

// Flush implements bus.Core.
func (c *Core) Flush(ctx context.Context) error {
	if c.config.Flush == nil {
		return nil
	}
	return c.config.Flush(ctx)
}

// PoolState implements bus.Core.
func (c *Core) PoolState(ctx context.Context, agent string) (bus.PoolState, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	op := "read the state of agent " + agent
	consumer, err := c.js.Consumer(ctx, bus.WorkStream, agent)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return bus.PoolState{}, fmt.Errorf("%s: %w", op, bus.ErrNotFound)
	case err != nil:
		return bus.PoolState{}, wire.Classify(op, err)
	}
	info := consumer.CachedInfo()
	state := bus.PoolState{
		Size: info.Config.MaxAckPending, Waiting: info.NumWaiting, Working: info.NumAckPending, Deliveries: info.Delivered.Consumer,
		Pending: info.NumPending,
	}
	for _, last := range [...]*time.Time{info.Delivered.Last, info.AckFloor.Last} {
		if last != nil && last.After(state.Last) {
			state.Last = *last
		}
	}
	return state, nil
}

// register keeps what must end before the connection; it fails after Close.
func (c *Core) register(part closer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return bus.ErrClosed
	}
	c.open[part] = struct{}{}
	return nil
}

func (c *Core) unregister(part closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, part)
}

// Close ends readers and services, waits for publishes under way and closes the
// connection. What is not acknowledged by then ends with bus.ErrClosed. It may be
// called more than once.
func (c *Core) Close() {
	if !c.endParts() {
		return
	}
	c.publisher.drain(wire.DrainWait)
	_ = c.connection.FlushTimeout(wire.DrainWait) // signals and answers; it fails when not connected
	c.connection.Close()
	c.publisher.close()
}

// endParts closes all that was registered, at once: each may wait for the server.
// It reports false when that was done before.
func (c *Core) endParts() bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	c.closed = true
	var ending sync.WaitGroup
	for part := range c.open {
		ending.Go(part.Close)
	}
	c.mu.Unlock()
	ending.Wait()
	return true
}

// Server implements bus.Core. It is empty when the server that is connected to may go
// on while the one that counts the deliveries is started anew: one of a cluster, or one
// without a store of its own, such as a leaf node.
func (c *Core) Server() string {
	if stores, _ := c.connection.ConnectedServerJetStream(); !stores || c.connection.ConnectedClusterName() != "" {
		return ""
	}
	return c.connection.ConnectedServerId()
}
