package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/restore"
)

// World is one simulated installation.
type World struct {
	Seed uint64
	Kind Kind

	rand          *rand.Rand
	formers       *rand.Rand // what becomes of former owners
	crashes       *rand.Rand // when the ledger's server is killed, and what it had written by then
	configuration configuration
	now           time.Time
	ledger        *memory.Ledger
	grants        *artifact.Grants
	calm          bool // no more faults
	calmSince     time.Time
	refused       []string // ids of runs whose answers were refused for good
	strike        *strike  // instead of faults by chance
	watch         observations
	outage        outage

	callers   callers
	people    *people    // nil: nobody is asked
	callbacks *callbacks // nil: nobody answers by callback
	taint     *taint     // nil: whoever writes may have everything done
	judges    *judges    // nil: no plan is judged
	budgets   *budgets   // nil: runs may use what they like
	reviews   *reviewers // nil: nobody looks at what was made
	advisers  *advisers  // nil: nothing is done about failures
	// signatories are there when answers wait for leave; nil is never.
	signatories *signatories
	retriers    *retriers // nil: no run is begun anew
	threads     *threads  // nil: nobody is asked in a chat but who writes there
	// upstreamers are there when runs wait for a decision from upstream; nil is never.
	upstreamers    *upstreamers
	couplings      *couplings // nil: kinds of knobs meet by chance alone
	tiers          *tiers     // nil: no supervisor gives a place back
	further        *rand.Rand // of further attempts in the same words; nil: they come by chance alone
	origins        *rand.Rand // of mails; nil: nobody says where they are from
	configurations []*restore.Profiles
	processes      []*process
	meanwhile      func() // happens during the next takeover
	agents         []*agent
	pools          map[string]int // by agent; 0 is no bound
	limbo          []func()
	epochs         int
	serial         int // of ids

	sent       []sent
	acts       []act
	groups     []*admission.LocalOwners
	down       map[string]time.Time // until when an agent does nothing right
	violations []Violation
}

// A Violation is something that must not be.
type Violation struct {
	Invariant string
	Detail    string
}

// Itself is violated when the simulation does what it cannot do.
const Itself = "the simulation works"

// New returns the world of a seed, as one of a kind.
func New(seed uint64, kind Kind, library *Library) *World {
	with := kind.features(seed)
	w := &World{
		Seed: seed, Kind: kind, rand: source(seed, worldStream),
		now:   time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		watch: newWatch(), down: map[string]time.Time{},
	}
	traits := source(seed, traitStream)
	w.callers.world = w
	w.configuration = newConfiguration(w.rand, traits)
	w.configuration.late(seed)
	w.formers = newFormers(seed)
	w.configuration.former(w.formers)
	w.crashes = newCrashes(seed)
	if seed%16 == 9 { // a source of its own, and no seed that catches a rare bug
		w.origins = source(seed, originStream)
	}
	w.retriers = only(with.Retries, newRetriers, seed)
	w.couplings = only(with.Mixed, newCouplings, seed)
	w.signatories = only(with.Leave, newSignatories, seed)
	if w.upstreamers = only(with.Upstream, newUpstreamers, seed); with.Upstream {
		w.configuration.demand[adapterRequest] += 3
		w.configuration.demand[adapterPlan] += 8
	}
	w.tiers = only(with.Tiers, newTiers, seed)
	if w.threads = only(with.Threads, newThreads, seed); with.Threads {
		w.configuration.demand[adapterChat] += 6
	}
	if with.People {
		w.people = newPeople(w)
		w.people.trait()
	}
	if asksFurther(seed) {
		w.further = newFurther(w)
	}
	w.callbacks = newCallbacks(w)
	w.taint = newTaint(w)
	w.judges = only(with.Judges, newJudges, seed)
	w.budgets = only(with.Budgets, newBudgets, seed)
	if with.Recovery {
		w.configuration.permits = true
	}
	if with.Days {
		w.budgets.withDays(w)
	}
	if with.Reviews {
		w.configuration.demand[adapterPlan] += 4 // whose tasks promise something
	}
	w.configuration.crash(w.crashes)
	w.ledger = memory.New(w.configuration.shards, memory.WithClock(func() time.Time { return w.now }))
	var err error
	w.grants, err = artifact.NewGrants([]byte("the same in every world"))
	w.must(err)
	w.advisers = only(with.Recovery, newAdvisers, seed)
	if with.Reviews {
		w.reviews = newReviewers(seed, w.grants)
	}
	if w.configuration.edited {
		sources := sources(w.rand, traits, source(seed, kindsStream))
		boundContext(source(seed, contextStream), sources)
		if with.People {
			askPeople(w.people.rand, sources)
		}
		w.declare(sources)
		if with.People && w.people.staff != nil {
			w.configurations = w.people.staff.configurations(sources)
		} else {
			w.configurations = []*restore.Profiles{w.compile(sources), w.compile(edited(sources))}
		}
	} else {
		w.configurations = []*restore.Profiles{library.get(w)}
	}
	for range w.configuration.groups {
		w.groups = append(w.groups, &admission.LocalOwners{})
	}
	w.hire()
	return w
}

// only is what worlds of a kind have, and nil in others.
func only[T any](has bool, create func(seed uint64) *T, seed uint64) *T {
	if !has {
		return nil
	}
	return create(seed)
}

func (w *World) violate(invariant, format string, arguments ...any) {
	w.violations = append(w.violations, Violation{invariant, fmt.Sprintf(format, arguments...)})
}

func (w *World) must(err error) {
	if err != nil {
		w.violate(Itself, "%v", err)
	}
}

// span is a length of time up to most.
func (w *World) span(most time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(most)))
}

// once in n times.
func (w *World) once(n int) bool { return once(w.rand, n) }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func once(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func (w *World) compile(sources []schemas.Profile) *restore.Profiles {
	profiles, err := restore.NewProfiles(context.Background(), w.ledger.Artifacts(), sources)
	w.must(err)
	return profiles
}

// configured is what is configured now: it may change with each process.
func (w *World) configured() *restore.Profiles { return pick(w.rand, w.configurations...) }

func (w *World) poolSize(agent string) int { return w.pools[agent] }

// Strike makes one flaw at the n-th effect of all owners, counted from 1, the only
// thing that goes wrong with them, in a small world. It comes before Run.
func (w *World) Strike(n int64, flaw Flaw) {
	w.strike = &strike{at: n, flaw: flaw}
	w.configuration.steps, w.configuration.trouble, w.configuration.skew, w.configuration.formers, w.configuration.crashes = min(w.configuration.steps, 16), 0, 0, false, false
}

// Effects counts the effects of all owners, once Run has ended and if Strike came
// before it.
func (w *World) Effects() int64 { return w.strike.count.Load() }

// Run simulates and returns what was violated: nothing, if all is well.
func (w *World) Run() []Violation {
	for range w.configuration.steps {
		w.disturb()
		w.advance()
	}
	w.settle()
	for range 2 {
		if w.callers.resendAll() {
			w.settle()
		}
	}
	for w.retriers.later() && len(w.sent) > 0 {
		w.callers.retry()
		w.settle()
	}
	w.check()
	return w.violations
}

// disturb does one thing that may happen at any time.
func (w *World) disturb() {
	if w.configuration.breaker.Failures > 0 && w.once(10) {
		w.down[pick(w.rand, workers[:]...)] = w.now.Add(10*time.Second + w.span(40*time.Second))
	}
	if w.configuration.formers && once(w.formers, 6) {
		w.succeed()
		return
	}
	if w.retriers.now() && len(w.sent) > 0 {
		w.callers.retry()
		return
	}
	if w.configuration.crashes && once(w.crashes, 12) {
		w.crash()
		return
	}
	if w.rand.IntN(16) < w.configuration.trouble {
		w.trouble()
		return
	}
	if w.configuration.catchUp > 0 && w.once(2) {
		w.pass()
		return
	}
	switch w.rand.IntN(15) {
	case 0, 1, 2, 3, 4:
		w.callers.arrive()
	case 5:
		w.callers.repeat()
	case 6:
		w.callers.cancel()
	case 7:
		if len(w.limbo) > 0 {
			i := w.rand.IntN(len(w.limbo))
			arrive := w.limbo[i]
			w.limbo = append(w.limbo[:i], w.limbo[i+1:]...)
			arrive()
		}
	default:
		w.pass()
	}
}

// trouble is a second owner while the first believes in itself, a power cut, a
// stream that takes nothing for a while, or a clock that jumps.
func (w *World) trouble() {
	switch w.rand.IntN(8) {
	case 0, 1:
		if w.configuration.catchUp > 0 {
			w.now = w.now.Add(w.span(20 * time.Second)) // its deadlines have passed
		}
		w.start(w.rand.IntN(w.configuration.shards))
	case 2, 3:
		if len(w.processes) > 0 {
			w.processes[w.rand.IntN(len(w.processes))].view.crashed.Store(true)
		}
	case 4, 5, 6:
		w.outage = outage{
			kind:  pick(w.rand, bus.KindRequest, bus.KindRequest, bus.KindRequest, bus.KindSession, bus.KindShard, bus.KindQuarantine),
			until: w.now.Add(2*time.Second + w.span(15*time.Second)),
		}
	case 7:
		switch {
		case w.configuration.shared:
			w.now = w.now.Add(w.span(2 * time.Minute))
		case w.once(4):
			w.now = w.now.Add(w.span(3 * time.Hour))
		}
	}
}

// pass lets time pass: a while, or until something is due.
func (w *World) pass() {
	if next, ok := w.next(); ok && w.once(2) {
		w.now = next
		return
	}
	w.now = w.now.Add(w.span(w.configuration.hurry))
}

// advance lets everybody who can do something do a little of it.
func (w *World) advance() {
	if w.outage.over(w.now) && w.once(2) {
		for _, p := range w.processes {
			p.view.crashed.Store(true) // they do not get over it
		}
	}
	for _, shard := range w.ownerless() {
		w.start(shard)
	}
	for range 2 + w.rand.IntN(12) {
		if n := w.rand.IntN(2*len(w.processes) + len(w.agents)); n < 2*len(w.processes) {
			w.tick(n / 2)
		} else {
			if w.rand.IntN(100) >= w.configuration.idle {
				w.agents[n-2*len(w.processes)].step()
			}
		}
		w.people.step()
		if len(w.processes) == 0 {
			return
		}
	}
}

// settle takes the faults away and runs until nothing is left to do.
func (w *World) settle() {
	for _, arrive := range w.limbo {
		arrive()
	}
	w.limbo, w.calm, w.outage = nil, true, outage{}
	if w.calmSince.IsZero() {
		w.calmSince = w.now
	}
	for _, p := range w.processes {
		p.view.rate, p.view.slowUntil = 0, time.Time{}
	}
	for moments := range enough {
		if !w.advanceAll() {
			break
		}
		if w.quiet() {
			return
		}
		if len(w.ownerless()) > 0 {
			continue
		}
		next, ok := w.next()
		if !ok {
			w.violate(ComesToRest, "nobody waits for a moment, and not everything is done: %s", w.standing())
			return
		}
		w.now = w.budgets.nextDay(moments, next)
	}
	w.violate(ComesToRest, "it goes on and on: %s", w.standing())
}

// standing says who still has what to do.
func (w *World) standing() string {
	var b strings.Builder
	for _, p := range w.processes {
		_, _ = fmt.Fprintf(&b, "[shard %d: busy %t, %d sessions open, low watermark %d, %d on the way] ",
			p.shard, p.owner.Busy(), p.owner.OpenSessions(), p.owner.Watermark(), len(p.view.inbox))
	}
	for _, a := range w.agents {
		if len(a.held) > 0 {
			_, _ = fmt.Fprintf(&b, "[%s: holds %d] ", a.name, len(a.held))
		}
	}
	return b.String()
}

// next returns the next moment at which somebody has something to do.
func (w *World) next() (time.Time, bool) {
	var next time.Time
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, p := range w.processes {
		if at, ok := p.next(); ok {
			sooner(at)
		}
	}
	for _, a := range w.agents {
		for i := range a.held {
			sooner(a.held[i].at)
		}
	}
	w.people.next(sooner)
	if next.IsZero() {
		return next, false
	}
	if !next.After(w.now) {
		next = w.now.Add(time.Millisecond)
	}
	return next, true
}

// enough is how many moments a world has to come to rest, and how often everybody
// may do something at one moment.
const enough = 20_000

// advanceAll lets everybody do all that there is to do now, and reports whether
// that comes to an end.
func (w *World) advanceAll() bool {
	for _, shard := range w.ownerless() {
		w.start(shard)
	}
	left := enough
	for again := true; again; {
		again = false
		for i := range slices.Backward(w.processes) {
			for i < len(w.processes) && w.tick(i) && left > 0 {
				again = true
				left--
			}
		}
		for _, a := range w.agents {
			for a.step() && left > 0 {
				again = true
				left--
			}
		}
		for w.people.step() && left > 0 {
			again = true
			left--
		}
		if left <= 0 {
			return false
		}
	}
	return true
}

// quiet reports whether every input is dealt with and nobody waits for anything.
func (w *World) quiet() bool {
	for shard := range w.configuration.shards {
		last := w.lastInput(shard)
		if !slices.ContainsFunc(w.processes, func(p *process) bool { return p.shard == shard && p.owner.Watermark() >= last }) {
			return false
		}
	}
	for _, a := range w.agents {
		if len(a.held) > 0 {
			return false
		}
	}
	if w.people.waits() {
		return false
	}
	for _, p := range w.processes {
		if p.owner.Busy() || p.owner.OpenSessions() > 0 {
			return false
		}
	}
	return true
}

// Ledger is what the world has left.
func (w *World) Ledger() bus.Core { return w.ledger }

// Recorded are the profiles that its runs have pinned.
func (w *World) Recorded() *restore.Profiles { return w.configurations[0] }

// Sources are its profiles by name; nil when somebody has edited them meanwhile, so that a name stands for several.
func (w *World) Sources() map[string]schemas.Profile {
	if len(w.configurations) > 1 {
		return nil
	}
	sources := map[string]schemas.Profile{}
	for _, name := range []string{outer, inner} {
		sources[name] = w.configurations[0].Current(name).Profile
	}
	return sources
}
