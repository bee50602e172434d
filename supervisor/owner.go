package supervisor

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/checkpoint"
	"podium/supervisor/circuit"
	"podium/supervisor/eventloop"
	"podium/supervisor/plan"
	"podium/supervisor/progress"
	"podium/supervisor/publisher"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// ErrNotOwner reports that another process has taken the shard over.
var ErrNotOwner = checkpoint.ErrNotOwner

// Config is what an owner needs. Core, Profiles and Name are required.
type Config struct {
	Shard    int
	Name     string // of this process, unique among the living
	Build    string // the version of Podium that this is, which the ledger says of the epoch
	Core     bus.Core
	Profiles *restore.Profiles
	Log      zerolog.Logger

	CheckpointEvery time.Duration // default 2 s
	CheckpointNames int           // sessions that one message of a checkpoint names at most; default 5000
	MaxPending      int           // inputs under way at once; default 4096
	MaxBytes        int64         // of their bodies; default 64 MiB
	Backoff         time.Duration // first wait after a temporary error, doubling to 128 times that; default 50 ms

	// CatchUp is how long the reader must have had nothing new, after a takeover,
	// before deadlines count: an answer that stands in the stream already is read
	// first. Default 1 s.
	CatchUp time.Duration

	// PoolSize returns how many requests an agent works on at a time, over all
	// its processes; 0 is no bound. Nil bounds nobody.
	PoolSize func(agent string) int
	// Async reports whether an agent may answer long after its process has let go of a request, so that its place
	// is held by what is under way alone. Nil is nobody.
	Async func(agent string) bool

	// Breaker returns when an agent is not asked any more (M-28). Nil asks always.
	Breaker func(agent string) circuit.Policy

	// ArtifactGrants are the rights of agents to artifacts. By default they are the ledger's,
	// which Open reads.
	ArtifactGrants *artifact.Grants
	// AllKept says that nothing which agents put is pending (bus.ArtifactStore): nothing has to be kept.
	AllKept bool
	// Presence looks whether anybody serves an agent, as registry.PresenceOf does; then
	// whoever waits for one that nobody serves is told so. Nil never looks.
	Presence func(ctx context.Context, agent string, now time.Time) (registry.Presence, error)

	// Barred reports whether nobody is to ask an agent at this moment, by what the process knows of it, such as
	// that it cannot do its work. It answers at once. Nil bars nobody.
	Barred func(agent string, now time.Time) bool

	// Observe, unless nil, is given every record that this owner has stored, and the state
	// of its session before it. It changes neither, and does not wait for anything.
	Observe func(before *session.State, record *schemas.Record)

	// Waiting, unless nil, is told how many tasks wait for each agent to have room, once a second at most. It does not
	// wait for anything.
	Waiting func(shard int, ready map[string]int)

	// Streamed, unless nil, hears of every request before it is sent whose result is shown while it comes, and until
	// when it is waited for. It does not wait for anything.
	Streamed func(agent, request string, expires time.Time)

	// LocalOwners are the owners of the same process; nil is none.
	LocalOwners *admission.LocalOwners

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

// An Owner owns one shard. Only Wake and Stalled may be used by other goroutines than the
// one that calls Tick.
type Owner struct {
	Config
	loop       *eventloop.Loop
	publisher  *publisher.Publisher
	progress   progress.Reporter
	admission  *admission.Controller
	checkpoint *checkpoint.Writer
	watermark  checkpoint.Watermark

	stream    shardStream
	sessions  sessions
	byRequest map[requestKey]*liveSession // that wait for the answer to a request
	queue     workQueue
	orphans   orphans
	stall     stallWatch
	longReads longReads  // of messages, beside the loop
	found     plan.Found // in texts that were

	now     time.Time // of the Tick
	failed  error
	waiting struct { // see Waiting
		some bool             // as was told last
		next *eventloop.Timer // before which nothing more is told
	}

	onStageChange func(from, to stage) // nil but in tests: see enter
}

// A shardStream is what an owner knows of its shard's stream.
type shardStream struct {
	reader  bus.Reader
	tail    uint64    // the last sequence when the shard was taken over; 0 once that is read
	heard   time.Time // when the reader last had something new
	unknown int       // sessions that were met before the tail was read, and of which it is not known yet what the ledger says
}

// A workQueue holds the sessions that go on in this Tick, and those that are over.
type workQueue struct {
	ready   []*liveSession
	closing []*liveSession // closed, and not below the low watermark yet
	busy    int            // sessions with an operation under way
}

// NewOwner returns an owner that has not taken its shard yet: see Open.
func NewOwner(config Config) *Owner {
	o := &Owner{
		Config:    config.WithDefaults(),
		loop:      eventloop.New(config.Go),
		sessions:  sessions{},
		byRequest: map[requestKey]*liveSession{},
	}
	backoff := eventloop.Backoff(o.Backoff)
	o.publisher = &publisher.Publisher{Core: o.Core, ArtifactGrants: o.ArtifactGrants, Loop: o.loop, Backoff: backoff, Log: o.Log, Shard: o.Shard}
	o.progress = progress.Reporter{Publisher: o.publisher, Profiles: o.Profiles}
	o.admission = admission.New(admission.Config{
		Shard: o.Shard, Core: o.Core, Loop: o.loop, Backoff: backoff, Log: o.Log, Sessions: o.sessions,
		PoolSize: o.PoolSize, Async: o.Async, Breaker: o.Breaker, Presence: o.Presence, Barred: o.Barred, LocalOwners: o.LocalOwners,
		DayLimits: o.dayLimits,
	})
	o.checkpoint = checkpoint.NewWriter(checkpoint.Config{
		Shard: o.Shard, Owner: o.Name, Build: o.Build, Sessions: o.sessions, Publisher: o.publisher, Every: o.CheckpointEvery, Names: o.CheckpointNames, Failed: o.fail,
	})
	return o
}

// Wake receives a value when Tick has something to do.
func (o *Owner) Wake() <-chan struct{} { return o.loop.Wake() }

// Tick does all that can be done at this moment without waiting, and reports
// whether that was anything. An error is final: ErrNotOwner, or a reader that
// has lost its place.
func (o *Owner) Tick(ctx context.Context, now time.Time) (bool, error) {
	now = now.UTC() // a record must not depend on where it was decided
	o.now = now
	o.noteTurn(true)
	defer o.noteTurn(false)
	o.admission.BeginTurn(now, o.stream.heard.Add(o.CatchUp))
	worked := o.loop.Turn(now)
	o.pushReady()
	read, drained := o.read(ctx)
	if worked = read || worked; read || !drained {
		o.stream.heard = now
	}
	o.admission.BeginTurn(now, o.stream.heard.Add(o.CatchUp))
	caughtUp := o.caughtUp(now)
	o.admission.CheckTakeoverScan(caughtUp && o.stream.unknown == 0)
	o.admission.CheckPresence(ctx, caughtUp)
	worked = o.admission.GrantWaiting(ctx) || worked
	o.pushReady()
	for len(o.queue.ready) > 0 && o.failed == nil {
		live := o.queue.ready[0]
		o.queue.ready[0] = nil // it may be the last that holds it
		o.queue.ready = o.queue.ready[1:]
		o.enter(live, stageDeciding)
		if o.advance(ctx, live, now); live.stage == stageDeciding {
			o.enter(live, stageWaiting)
		}
		worked = true
	}
	worked = o.sortOutOrphans(ctx) || worked
	o.checkpointIfDue(ctx, now)
	o.tellWaiting(now)
	return worked, o.failed
}

// Next returns the next moment at which Tick has something to do by itself.
func (o *Owner) Next() (time.Time, bool) {
	next, ok := o.loop.Next()
	if at, due := o.checkpoint.Next(o.watermark.Value); due && (!ok || at.Before(next)) {
		return at, true
	}
	return next, ok
}

// Watermark returns the sequence up to which every input is dealt with.
func (o *Owner) Watermark() uint64 { return o.watermark.Value }

// Busy reports whether anything is under way that a stop in order waits for.
func (o *Owner) Busy() bool {
	return o.queue.busy > 0 || o.watermark.Pending() > 0 || o.checkpoint.Writing()
}

// OpenSessions counts the sessions that wait for more than a new message.
func (o *Owner) OpenSessions() int {
	open := 0
	for _, live := range o.sessions {
		if !live.state.Idle() || len(live.inputs) > 0 {
			open++
		}
	}
	return open
}

// dayLimits is the budget of the profile in force, so that limits of a day which are changed count at once; nil when there is no such profile.
func (o *Owner) dayLimits(profile string) *schemas.Budget {
	current := o.Profiles.Current(profile)
	switch {
	case current == nil:
		return nil
	case current.Budget == nil:
		return &schemas.Budget{}
	}
	return current.Budget
}

// pushReady lets those go on of which the admission says that they may.
func (o *Owner) pushReady() {
	for _, woken := range o.admission.Ready() {
		if live := o.sessions[woken.State.Session]; live != nil {
			o.push(live)
		}
	}
}

// tellEvery is how often it is told at most how many tasks wait.
const tellEvery = time.Second

func (o *Owner) tellWaiting(now time.Time) {
	if o.Waiting == nil {
		return
	}
	if _, set := o.waiting.next.Due(); set {
		return
	}
	ready := o.admission.Waiting()
	if len(ready) == 0 && !o.waiting.some {
		return
	}
	o.waiting.some = len(ready) > 0
	o.Waiting(o.Shard, ready)
	o.waiting.next = o.loop.At(now.Add(tellEvery), func(time.Time) {})
}

// checkpointIfDue says from time to time where the shard stands.
func (o *Owner) checkpointIfDue(ctx context.Context, now time.Time) {
	o.sweep()
	if o.failed == nil {
		o.checkpoint.WriteIfDue(ctx, now, o.watermark.Value)
	}
}
