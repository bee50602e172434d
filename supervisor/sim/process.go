package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/registry"
	"podium/supervisor"
	"podium/supervisor/admission"
	"podium/supervisor/plan"
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
func (w *World) breaker() func(string) plan.BreakerPolicy {
	if w.configuration.breaker.Failures == 0 {
		return nil
	}
	return func(string) plan.BreakerPolicy { return w.configuration.breaker }
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
		Shard: shard, Name: fmt.Sprintf("process-%d", w.epochs), Core: p.view, Profiles: w.edition(),
		Log: zerolog.Nop(), Go: p.view.Go, PoolSize: w.poolSize, Async: w.callbacks.async(), Breaker: w.breaker(), LocalOwners: w.neighborhood(), ArtifactGrants: w.grants,
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
