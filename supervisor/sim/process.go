package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/admission"
	"podium/supervisor/circuit"
)

// process is one owner of one shard, with its own view of the ledger and its
// own clock.
type process struct {
	shard int
	view  *faults
	owner *supervisor.Owner
	skew  time.Duration
}

func (p *process) now(w *World) time.Time { return w.now.Add(p.skew) }

// ownerless lists the shards that no process works on.
func (w *World) ownerless() []int {
	var shards []int
	for shard := range w.configuration.shards {
		if !slices.ContainsFunc(w.processes, func(p *process) bool { return p.shard == shard }) {
			shards = append(shards, shard)
		}
	}
	return shards
}

// breaker returns the policies of the world; nil when it has none.
func (w *World) breaker() func(string) circuit.Policy {
	if w.configuration.breaker.Failures == 0 {
		return nil
	}
	return func(string) circuit.Policy { return w.configuration.breaker }
}

// presence says in turns of some seconds that nobody serves an agent, whatever that
// does, or that nobody knows; nil when the world has none of this.
func (w *World) presence() func(context.Context, string, time.Time) (registry.Presence, error) {
	if !w.configuration.absent {
		return nil
	}
	return func(_ context.Context, agent string, now time.Time) (registry.Presence, error) {
		turn := int(now.Unix()/7) + len(agent)
		switch {
		case w.calm || turn%3 == 0:
			return registry.Presence{Served: true, LastSeen: now}, nil
		case turn%3 == 1:
			return registry.Presence{}, &bus.TemporaryError{Op: "look after " + agent, Err: context.DeadlineExceeded}
		}
		return registry.Presence{LastSeen: now.Add(-time.Minute)}, nil
	}
}

// neighborhood returns the owners that a new one shares its process with.
func (w *World) neighborhood() *admission.LocalOwners {
	if w.configuration.groups == 0 {
		return nil
	}
	return w.groups[w.epochs%w.configuration.groups]
}

// start lets a new process take a shard over, whoever owns it.
func (w *World) start(shard int) {
	w.epochs++
	p := &process{shard: shard, view: &faults{
		Core: w.ledger, shard: shard, rand: w.rand, fuse: w.strike, limbo: &w.limbo, watch: &w.watch,
		outage: &w.outage, now: func() time.Time { return w.now }, meanwhile: w.meanwhile,
		nameless: w.configuration.nameless,
	}}
	pending := 1 + w.rand.IntN(16)
	if w.configuration.skew > 0 && !w.calm {
		p.skew = w.span(2*w.configuration.skew) - w.configuration.skew
	}
	p.owner = supervisor.NewOwner(supervisor.Config{
		Shard: shard, Name: fmt.Sprintf("process-%d", w.epochs), Core: p.view, Profiles: w.configured(),
		Log: zerolog.Nop(), Go: p.view.Go, PoolSize: w.poolSize, Async: w.callbacks.async(), Breaker: w.breaker(), LocalOwners: w.neighborhood(), ArtifactGrants: w.grants, AllKept: true,
		Presence: w.presence(), CheckpointEvery: time.Second, CatchUp: w.configuration.catchUp, MaxPending: pending, Backoff: 10 * time.Millisecond, CheckpointNames: 1 + w.rand.IntN(4),
	})
	if !w.calm && w.strike == nil && w.rand.Float64() < w.configuration.takeover {
		p.view.fuse = &strike{at: 1 + w.rand.Int64N(12), flaw: []Flaw{CrashBefore, CrashAfter}[w.rand.IntN(2)]}
	}
	w.watch.newest[shard], p.view.since = p.view, w.last(shard)
	w.watch.tick()
	err := p.owner.Open(context.Background(), p.now(w))
	p.view.fuse, p.view.meanwhile = w.strike, nil
	if !w.calm && w.strike == nil {
		p.view.rate = w.configuration.rate
	}
	switch {
	case errors.Is(err, supervisor.ErrNotOwner) || errors.Is(err, bus.ErrFull) || bus.Temporary(err) || p.view.crashed.Load():
	case err != nil:
		w.violate(Itself, "open: %v", err)
	default:
		w.processes = append(w.processes, p)
	}
}

// tick lets a process work, and buries it when it has crashed or lost its shard.
func (w *World) tick(n int) bool {
	p := w.processes[n]
	worked := p.view.settle()
	if !p.view.crashed.Load() {
		w.watch.tick()
		ticked, err := p.owner.Tick(context.Background(), p.now(w))
		worked = worked || ticked
		if err != nil {
			if !errors.Is(err, supervisor.ErrNotOwner) && !errors.Is(err, errLost) {
				w.violate(Itself, "tick: %v", err)
			}
			p.view.crashed.Store(true)
		}
	}
	if p.view.crashed.Load() {
		w.processes = slices.Delete(w.processes, n, n+1)
		return true
	}
	select {
	case <-p.owner.Wake():
		return true
	default:
		return worked
	}
}

// next returns when a process has something to do by itself, by the world's clock.
func (p *process) next() (time.Time, bool) {
	at, ok := p.owner.Next()
	at = at.Add(-p.skew)
	if slow := p.view.slowUntil; len(p.view.checkpoints) > 0 && (!ok || slow.Before(at)) {
		return slow, true
	}
	return at, ok
}

// Store returns a table as the process sees it.
func (f *faults) KeyValue(bucket string) bus.KeyValue {
	return &flakyStore{f, f.Core.KeyValue(bucket), bucket == bus.AgentBucket, f.watch.began}
}

type flakyStore struct {
	faults   *faults
	store    bus.KeyValue
	breakers bool
	begun    uint64 // the tick that asked for it
}

// breaker reads a value as that of an agent's breaker.
func (s *flakyStore) breaker(key string, value []byte) (agent string, b schemas.Breaker, is bool) {
	if !s.breakers {
		return "", b, false
	}
	agent, is = registry.BreakerAgent(key)
	return agent, b, is && (len(value) == 0 || schemas.Unmarshal(value, &b) == nil)
}

// Get fails now and then.
func (s *flakyStore) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = s.faults.look("get a key", func() (err error) {
		value, revision, err = s.store.Get(ctx, key)
		return err
	})
	if agent, b, is := s.breaker(key, value); is && (err == nil || errors.Is(err, bus.ErrNotFound)) {
		s.faults.watch.read(s.faults, agent, s.begun, &b)
	}
	return value, revision, err
}

// Put fails now and then, before or after it has stored.
func (s *flakyStore) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	return done(s.faults, "put a key", func() (uint64, error) { return s.store.Put(ctx, key, value) })
}

// Update fails now and then, before or after it has stored.
func (s *flakyStore) Update(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	agent, b, is := s.breaker(key, value)
	if is {
		s.faults.watch.write(s.faults, agent)
	}
	err = s.faults.effect("update a key", func() (err error) {
		if next, err = s.store.Update(ctx, key, value, revision); err == nil && is {
			s.faults.watch.change(agent, &b)
		}
		return err
	})
	if err == nil && is {
		s.faults.watch.read(s.faults, agent, s.begun, &b)
	}
	return next, err
}

// Delete fails now and then, before or after it has deleted.
func (s *flakyStore) Delete(ctx context.Context, key string) error {
	return s.faults.effect("delete a key", func() error { return s.store.Delete(ctx, key) })
}

// Keys fails now and then.
func (s *flakyStore) Keys(ctx context.Context) ([]string, error) {
	return looked(s.faults, "list keys", func() ([]string, error) { return s.store.Keys(ctx) })
}

// Below fails now and then.
func (s *flakyStore) Below(ctx context.Context, prefix string) (map[string][]byte, error) {
	return looked(s.faults, "list values", func() (map[string][]byte, error) { return s.store.Below(ctx, prefix) })
}

// patienceOfClients is how long a process waits for an acknowledgment before it gives
// the message up, as bus/jetstream has it. So long it may not hear that its checkpoint is refused.
const patienceOfClients = 30 * time.Second

func newFormers(seed uint64) *rand.Rand {
	return source(seed, formerStream)
}

// former draws whether shards are taken over from the living; then a permit to act outside
// is asked for in most worlds.
func (c *configuration) former(r *rand.Rand) {
	if c.formers = once(r, 5); c.formers {
		c.permits = c.permits || once(r, 2)
	}
}

// succeed lets a process take a shard over from one that lives on. The former owner is
// an owner like any other: it decides, appends and sends until an append tells it, by a
// record of its successor before its own or by its checkpoint. The world only has its
// checkpoint be on its way for a while, and gives it turns while its successor still
// loads, before that has read anything, and when something is due with it.
func (w *World) succeed() {
	former := w.worthwhile()
	if former == nil {
		return
	}
	r := w.formers
	former.view.slowUntil = w.now.Add(time.Second + time.Duration(r.Int64N(int64(patienceOfClients-time.Second))))
	w.meanwhile = func() { w.turns(former, r.IntN(3)) }
	w.start(former.shard)
	w.meanwhile = nil
	if last := len(w.processes) - 1; last >= 0 {
		w.turns(w.processes[last], r.IntN(4))
	}
	for range 1 + r.IntN(3) {
		if at, due := former.next(); due && r.IntN(3) > 0 && at.After(w.now) && at.Before(former.view.slowUntil) {
			w.now = at
		}
		w.turns(former, 1+r.IntN(4))
		for range r.IntN(6) {
			w.agents[r.IntN(len(w.agents))].step()
		}
	}
}

// worthwhile picks an owner that has something under way, or else any.
func (w *World) worthwhile() *process {
	var owners, busy []*process
	for _, p := range w.processes {
		if w.watch.newest[p.shard] != p.view || p.view.crashed.Load() {
			continue
		}
		owners = append(owners, p)
		if p.owner.OpenSessions() > 0 {
			busy = append(busy, p)
		}
	}
	if len(busy) > 0 {
		owners = busy
	}
	if len(owners) == 0 {
		return nil
	}
	return owners[w.formers.IntN(len(owners))]
}

// turns lets a process work, as long as it lives.
func (w *World) turns(p *process, n int) {
	for range n {
		if i := slices.Index(w.processes, p); i >= 0 {
			w.tick(i)
		}
	}
}

// slow reports whether a message is on its way for a while, and then keeps it.
func (f *faults) slow(message *bus.Message, arrive func()) bool {
	if message.Subject != bus.ShardSubject(f.shard) || !f.now().Before(f.slowUntil) {
		return false
	}
	f.checkpoints = append(f.checkpoints, arrive)
	return true
}

// hurry lets a message arrive that was on its way for long enough.
func (f *faults) hurry() bool {
	if len(f.checkpoints) == 0 || f.now().Before(f.slowUntil) {
		return false
	}
	arrive := f.checkpoints[0]
	f.checkpoints = f.checkpoints[1:]
	arrive()
	return true
}

func newCrashes(seed uint64) *rand.Rand {
	return source(seed, crashStream)
}

// crash draws whether the server is killed now and then; in most of those worlds agents
// ask before they act, and in some the server has no name at times.
func (c *configuration) crash(r *rand.Rand) {
	if c.crashes = once(r, 4); c.crashes {
		c.permits = c.permits || !once(r, 3)
	}
	c.nameless = c.crashes && once(r, 4)
}

// Server is the ledger's, but for some seconds now and then if the world is such.
func (f *faults) Server() string {
	if f.nameless && f.now().Unix()/5%2 == 0 {
		return ""
	}
	return f.Core.Server()
}

// crash kills the ledger's server and starts it again. What it had written of its queues
// is some requests behind, or nothing at all: those it hands out again, acknowledged or
// not, and counts them from 1. Everybody else lives on.
func (w *World) crash() {
	w.ledger.Restart(func(_ string, next uint64) uint64 {
		if once(w.crashes, 4) {
			return 1
		}
		return next - min(next, w.crashes.Uint64N(8))
	})
}

// last returns the sequence of the newest message of a shard; 0 is none.
func (w *World) last(shard int) uint64 {
	state, err := w.ledger.State(context.Background(), bus.ShardStream(shard))
	w.must(err)
	return state.Last
}

// lastInput returns the sequence of the newest input of a shard; 0 is none.
func (w *World) lastInput(shard int) uint64 {
	for sequence := w.last(shard); sequence > 0; sequence-- {
		message, err := w.ledger.Get(context.Background(), bus.ShardStream(shard), sequence)
		w.must(err)
		if memory.MatchAny(bus.InputSubjects(shard), message.Subject) {
			return sequence
		}
	}
	return 0
}

// publish stores a message, past all processes.
func (w *World) publish(subject string, event *schemas.Event) uint64 {
	w.must(artifact.Offload(context.Background(), w.ledger.Artifacts(), event))
	w.grants.GrantBody(subject, event)
	message, err := binding.Encode(subject, event)
	w.must(err)
	var sequence uint64
	w.ledger.Publish(message, bus.Expect{}, func(ack bus.Ack, err error) {
		w.must(err)
		sequence = ack.Sequence
	})
	return sequence
}
