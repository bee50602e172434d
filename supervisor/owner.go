package supervisor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// ErrNotOwner reports that another process has taken the shard over.
var ErrNotOwner = errors.New("another process owns the shard")

// Config is what an owner needs. Core, Profiles and Name are required.
type Config struct {
	Shard    int
	Name     string // of this process, unique among the living
	Core     bus.Core
	Profiles *Profiles
	Log      zerolog.Logger

	CheckpointEvery time.Duration // default 2 s
	CheckpointNames int           // sessions that one message of a checkpoint names at most; default 5000
	MaxPending      int           // inputs under way at once; default 4096
	MaxBytes        int64         // of their bodies; default 64 MiB
	Backoff         time.Duration // first wait after a temporary error, doubling to 100 times that; default 50 ms

	// CatchUp is how long the reader must have had nothing new, after a takeover,
	// before deadlines count: an answer that stands in the stream already is read
	// first. Default 1 s.
	CatchUp time.Duration

	// PoolSize returns how many requests an agent works on at a time, over all
	// its processes; 0 is no bound. Nil bounds nobody.
	PoolSize func(agent string) int

	// Breaker returns when an agent is not asked any more (M-28). Nil asks always.
	Breaker func(agent string) plan.BreakerPolicy

	// Grants are the rights of agents to artifacts. By default they are the ledger's,
	// which Open reads.
	Grants *artifact.Grants
	// Presence looks whether anybody serves an agent, as registry.PresenceOf does; then
	// whoever waits for one that nobody serves is told so. Nil never looks.
	Presence func(ctx context.Context, agent string, now time.Time) (registry.Presence, error)

	// Observe, unless nil, is given every record that this owner has stored, and the state
	// of its session before it. It changes neither, and does not wait for anything.
	Observe func(before *session.State, record *schemas.Record)

	// Neighbors are the owners of the same process; nil is none.
	Neighbors *Neighbors

	// Go runs an operation that waits for the ledger. By default it starts a
	// goroutine, which Run waits for.
	Go func(func())
}

// WithDefaults returns the configuration with every default filled in.
func (c Config) WithDefaults() Config {
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = 2 * time.Second
	}
	if c.CheckpointNames == 0 {
		c.CheckpointNames = 5000
	}
	if c.MaxPending == 0 {
		c.MaxPending = 4096
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 64 << 20
	}
	if c.CatchUp == 0 {
		c.CatchUp = time.Second
	}
	if c.Backoff == 0 {
		c.Backoff = 50 * time.Millisecond
	}
	return c
}

// An Owner owns one shard. Only Wake may be used by other goroutines than the
// one that calls Tick.
type Owner struct {
	Config
	shards int
	reader bus.Reader
	tail   uint64    // the stream's last sequence when the shard was taken over; 0 once that is read
	heard  time.Time // when the reader last had something new
	alarms alarms
	floor  floor
	failed error
	closed error // why the ledger took nothing when it was last asked to: it is full, or has lost messages

	sessions  map[string]*conversation
	waiting   map[string]*conversation // by the request whose answer it waits for
	ready     []*conversation
	closing   []*conversation // closed, and not below the floor yet
	strangers strangers
	pools     map[string]*pool // by agent
	arrivals  uint64           // waiters so far
	roomy     []string         // agents that may have room for somebody who waits
	answers   answers
	speaks    time.Time // when the next word to whoever asked may be said

	now         time.Time           // of the Tick
	breakers    map[string]*breaker // by agent
	unconsulted []*breaker          // of which the ledger has to be told, or asked
	leasing     leasing

	looking   *alarm // for when agents are looked after again
	lookDue   bool
	absentees int // agents that nobody serves, as far as is known

	early    int  // conversations that were met before the tail was read, and of which it is not known yet what the ledger says
	surveyed bool // all that is under way in the shard is known

	surveying *alarm // for when that is looked at again
	busy      int    // conversations with an operation under way

	checkpoint checkpoint

	mu          sync.Mutex
	completions []func(now time.Time)
	wake        chan struct{}
	operations  sync.WaitGroup
}

// NewOwner returns an owner that has not taken its shard yet: see Open.
func NewOwner(config Config) *Owner {
	o := &Owner{
		Config:   config.WithDefaults(),
		shards:   config.Core.Shards(),
		sessions: map[string]*conversation{},
		waiting:  map[string]*conversation{},
		pools:    map[string]*pool{},
		breakers: map[string]*breaker{},
		leasing:  leasing{usages: map[string]*usage{}},
		wake:     make(chan struct{}, 1),
	}
	if o.Go == nil {
		o.Go = func(operation func()) { o.operations.Go(operation) }
	}
	return o
}

// Wake receives a value when Tick has something to do.
func (o *Owner) Wake() <-chan struct{} { return o.wake }

// Tick does all that can be done at this moment without waiting, and reports
// whether that was anything. An error is final: ErrNotOwner, or a reader that
// has lost its place.
func (o *Owner) Tick(ctx context.Context, now time.Time) (bool, error) {
	now = now.UTC() // a record must not depend on where it was decided
	o.now = now
	worked := o.complete(now)
	worked = o.alarms.ring(now) || worked
	read, drained := o.read(ctx)
	if worked = read || worked; read || !drained {
		o.heard = now
	}
	o.survey(now)
	o.lookAround(ctx)
	worked = o.grant(ctx) || worked
	for len(o.ready) > 0 && o.failed == nil {
		c := o.ready[0]
		o.ready[0] = nil // it may be the last that holds it
		o.ready = o.ready[1:]
		c.queued = false
		o.work(ctx, c, now)
		worked = true
	}
	worked = o.sift(ctx) || worked
	o.checkpointIfDue(ctx, now)
	return worked, o.failed
}

// Next returns the next moment at which Tick has something to do by itself.
func (o *Owner) Next() (time.Time, bool) {
	next, ok := o.alarms.next()
	if at, due := o.checkpoint.next(o); due && (!ok || at.Before(next)) {
		return at, true
	}
	return next, ok
}

// Floor returns the sequence up to which every input is dealt with.
func (o *Owner) Floor() uint64 { return o.floor.value }

// Busy reports whether anything is under way that a stop in order waits for.
func (o *Owner) Busy() bool {
	return o.busy > 0 || o.floor.under > 0 || o.checkpoint.writing
}

// caughtUp reports whether what had happened before the takeover has been read.
func (o *Owner) caughtUp(now time.Time) bool {
	if o.tail != 0 && (o.floor.read >= o.tail || now.Sub(o.heard) >= o.CatchUp) {
		o.tail = 0
	}
	return o.tail == 0
}

// later hands the outcome of an operation to the next Tick.
func (o *Owner) later(completion func(now time.Time)) {
	o.mu.Lock()
	o.completions = append(o.completions, completion)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *Owner) complete(now time.Time) bool {
	o.mu.Lock()
	completions := o.completions
	o.completions = nil
	o.mu.Unlock()
	for _, completion := range completions {
		completion(now)
	}
	return len(completions) > 0
}

// publish appends a message and hands the outcome to a later Tick.
func (o *Owner) publish(message bus.Message, expect bus.Expect, done func(now time.Time, ack bus.Ack, err error)) {
	o.Core.Publish(message, expect, func(ack bus.Ack, err error) {
		o.later(func(now time.Time) {
			if o.closed = nil; takesNothing(err) {
				o.closed = err
			}
			done(now, ack, err)
		})
	})
}

// complain begins a line of the log. That the ledger takes nothing is said once for all
// messages, by whoever watches it, and a full disk may be the log's own.
func (o *Owner) complain(level zerolog.Level, err error) *zerolog.Event {
	if takesNothing(err) {
		level = zerolog.DebugLevel
	}
	return o.Log.WithLevel(level).Err(err)
}

// takesNothing tells a ledger that takes no message from one that did not take this one.
func takesNothing(err error) bool { return errors.Is(err, bus.ErrFull) || errors.Is(err, bus.ErrLost) }

// operate runs something that waits for the ledger and hands its outcome to a later Tick.
func (o *Owner) operate(operation func() error, done func(now time.Time, err error)) {
	o.Go(func() {
		err := operation()
		o.later(func(now time.Time) { done(now, err) })
	})
}

// backoff is the wait after the n-th temporary error in a row; the first is 0.
func (o *Owner) backoff(n int) time.Duration {
	wait := o.Backoff
	for range n {
		if wait >= 100*o.Backoff {
			break
		}
		wait *= 2
	}
	return wait
}

func (o *Owner) fail(err error) {
	if o.failed == nil {
		o.failed = err
	}
}

// OpenSessions counts the sessions that wait for more than a new message.
func (o *Owner) OpenSessions() int {
	open := 0
	for _, c := range o.sessions {
		if !c.state.Idle() || len(c.inputs) > 0 {
			open++
		}
	}
	return open
}
