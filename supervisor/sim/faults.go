package sim

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/schemas"
)

// faults is one process's view of the ledger, as bad as the seed wants it.
type faults struct {
	bus.Core
	shard   int
	since   uint64 // the newest message of the shard before it was taken over
	now     func() time.Time
	rand    *rand.Rand
	rate    float64     // of a flaw for each effect; 0 is a healthy process
	crashed atomic.Bool // nothing it does reaches anybody any more
	inbox   []func()    // operations and acknowledgments on their way to the process
	limbo   *[]func()   // messages on their way to the ledger, which outlive the process
	fuse    *strike     // instead of the rate
	outage  *outage     // of the whole ledger, for everybody
	watch   *observations

	nameless    bool      // the server has no name at times
	slowUntil   time.Time // until then no checkpoint arrives
	checkpoints []func()  // that do not yet
	meanwhile   func()    // happens while the shard is taken over, once
}

var errLost = errors.New("simulated: no answer")

func temporary(op string) error { return &bus.TemporaryError{Op: op, Err: errLost} }

// A Flaw is what goes wrong with one effect.
type Flaw int

// The flaws.
const (
	FlawNone    Flaw = iota
	CrashBefore      // the process ends before the effect
	Refused          // for now
	CrashAfter       // the process ends before it hears of the effect
	Unanswered       // it is done, but nobody says so
	Adrift           // given up on, and done much later
	Full             // the ledger takes nothing more, for once
	flaws
)

// Flaws lists everything that goes wrong.
func Flaws() []Flaw { return []Flaw{CrashBefore, Refused, CrashAfter, Unanswered, Adrift, Full} }

// A strike puts one flaw at one effect, counted from 1. Shards are taken over by
// several goroutines; they only read at the same time, so that it makes no
// difference to the ledger which of them is struck.
type strike struct {
	at    int64
	flaw  Flaw
	count atomic.Int64
}

func (s *strike) next() Flaw {
	if s.count.Add(1) == s.at {
		return s.flaw
	}
	return FlawNone
}

// An outage is a stream that takes nothing for a while.
type outage struct {
	kind  bus.Kind // of the subjects concerned; empty when there is none
	until time.Time
}

func (o *outage) hits(subject string, now time.Time) bool {
	if o.kind == "" || !now.Before(o.until) {
		return false
	}
	parsed, err := bus.ParseSubject(subject)
	return err == nil && parsed.Kind == o.kind
}

// over reports whether there was an outage that has just ended, once.
func (o *outage) over(now time.Time) bool {
	if o.kind == "" || now.Before(o.until) {
		return false
	}
	o.kind = ""
	return true
}

// flaw picks what goes wrong with the next effect.
func (f *faults) flaw() Flaw {
	if f.fuse != nil {
		return f.fuse.next()
	}
	if f.rate == 0 || f.rand.Float64() >= f.rate {
		return FlawNone
	}
	return 1 + Flaw(f.rand.IntN(int(flaws)-1))
}

// effect runs something that waits for the ledger and changes it.
func (f *faults) effect(op string, do func() error) error {
	if f.crashed.Load() {
		return temporary(op)
	}
	switch f.flaw() {
	case FlawNone:
		return do()
	case CrashBefore:
		f.crashed.Store(true)
	case Refused, Full, Adrift, flaws:
	case CrashAfter:
		f.crashed.Store(true)
		_ = do() // nobody hears of it
	case Unanswered:
		_ = do()
	}
	return temporary(op)
}

// look runs something that only reads.
func (f *faults) look(op string, do func() error) error {
	if f.crashed.Load() {
		return temporary(op)
	}
	switch f.flaw() {
	case CrashBefore, CrashAfter:
		f.crashed.Store(true)
		return temporary(op)
	case Refused:
		return temporary(op)
	case FlawNone, Unanswered, Adrift, Full, flaws:
	}
	return do()
}

// looked is look of something that is read.
func looked[T any](f *faults, op string, do func() (T, error)) (read T, err error) {
	err = f.look(op, func() (err error) {
		read, err = do()
		return err
	})
	return read, err
}

// done is effect of something that says what it has done.
func done[T any](f *faults, op string, do func() (T, error)) (made T, err error) {
	err = f.effect(op, func() (err error) {
		made, err = do()
		return err
	})
	return made, err
}

// Publish fails before, after, or says nothing about what it did. Done is always
// called: a call that waits for it inside of a crashed process must come back.
func (f *faults) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	lost := func() { f.arrive(func() { done(bus.Ack{}, temporary("publish")) }) }
	if f.crashed.Load() {
		done(bus.Ack{}, temporary("publish"))
		return
	}
	asked := f.watch.began
	if len(message.Body) == 0 {
		asked = unknown // its body had to be stored first
	}
	if f.outage.hits(message.Subject, f.now()) {
		lost()
		return
	}
	if f.slow(&message, func() { f.Publish(message, expect, done) }) {
		return
	}
	switch f.flaw() {
	case FlawNone:
		f.store(message, expect, func(ack bus.Ack, err error) {
			f.arrive(func() {
				if err == nil && strings.HasPrefix(message.Subject, sessions) {
					f.watch.learn(f, ack.Sequence, asked)
				}
				done(ack, err)
			})
		})
		return
	case CrashBefore:
		f.crashed.Store(true)
		done(bus.Ack{}, temporary("publish"))
		return
	case CrashAfter:
		f.store(message, expect, func(bus.Ack, error) {})
		f.crashed.Store(true)
		done(bus.Ack{}, temporary("publish"))
		return
	case Full:
		f.arrive(func() { done(bus.Ack{}, bus.ErrFull) })
		return
	case Unanswered:
		f.store(message, expect, func(bus.Ack, error) {})
	case Adrift:
		sent := f.now()
		*f.limbo = append(*f.limbo, func() {
			f.store(message, expect, func(ack bus.Ack, err error) {
				if err == nil {
					f.watch.late[place{f.shard, ack.Sequence}] = true
					f.watch.adrift[place{f.shard, ack.Sequence}] = f.now().Sub(sent) > margin
				}
			})
		})
	case Refused, flaws:
	}
	lost()
}

// store has the ledger take a message, and notes the order of records over all
// shards.
func (f *faults) store(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	f.Core.Publish(message, expect, func(ack bus.Ack, err error) {
		if err == nil && strings.HasPrefix(message.Subject, sessions) {
			f.watch.order(place{f.shard, ack.Sequence})
		}
		done(ack, err)
	})
}

// sessions begins the subjects of records.
const sessions = "podium.session."

// arrive hands something to the process now or later.
func (f *faults) arrive(deliver func()) {
	if f.rate > 0 && f.fuse == nil && f.rand.IntN(3) == 0 {
		f.inbox = append(f.inbox, deliver)
		return
	}
	deliver()
}

// Go runs an operation of the process, now or later.
func (f *faults) Go(operation func()) {
	f.arrive(func() {
		if !f.crashed.Load() {
			operation()
		}
	})
}

// settle delivers one thing that was on its way to the process.
func (f *faults) settle() bool {
	if f.crashed.Load() {
		return false
	}
	if f.hurry() {
		return true
	}
	if len(f.inbox) == 0 {
		return false
	}
	i := f.rand.IntN(len(f.inbox))
	deliver := f.inbox[i]
	f.inbox = append(f.inbox[:i], f.inbox[i+1:]...)
	deliver()
	return true
}

// Last fails now and then.
func (f *faults) Last(ctx context.Context, subject string) (bus.Message, error) {
	return looked(f, "last", func() (bus.Message, error) { return f.Core.Last(ctx, subject) })
}

// LastOf fails now and then.
func (f *faults) LastOf(ctx context.Context, shard int, subjects []string) (messages []bus.Message, err error) {
	err = f.look("last of", func() (err error) {
		messages, err = f.Core.LastOf(ctx, shard, subjects)
		return err
	})
	if meanwhile := f.meanwhile; meanwhile != nil {
		f.meanwhile = nil
		meanwhile()
	}
	return messages, err
}

// Get fails now and then.
func (f *faults) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	return looked(f, "get", func() (bus.Message, error) { return f.Core.Get(ctx, stream, sequence) })
}

// Signal loses hints.
func (f *faults) Signal(subject string, body []byte) error {
	if f.crashed.Load() {
		return nil
	}
	f.overhear(subject, body)
	if f.rate > 0 && f.rand.IntN(4) == 0 {
		return nil
	}
	return f.Core.Signal(subject, body)
}

// overhear notes who is told that it may act, and who that nobody waits for it.
func (f *faults) overhear(subject string, body []byte) {
	parsed, err := bus.ParseSubject(subject)
	var answer schemas.PermitAnswer
	if err != nil || string(parsed.Kind) != bus.SignalPermitted || schemas.Unmarshal(body, &answer) != nil || !answer.Granted && answer.Reason != schemas.PermitStale {
		return
	}
	state, err := f.Core.State(context.Background(), bus.ShardStream(f.shard))
	word := told{answer.Permit, f.shard, state.Last, f, f.watch.newest[f.shard] == f}
	switch {
	case err != nil:
	case answer.Granted:
		f.watch.told = append(f.watch.told, word)
	default:
		f.watch.denied = append(f.watch.denied, word)
	}
}

// Artifacts returns the object store as the process sees it.
func (f *faults) Artifacts() bus.ArtifactStore { return &flakyArtifacts{f} }

type flakyArtifacts struct{ faults *faults }

// Put fails now and then, before or after it has stored.
func (a *flakyArtifacts) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	return done(a.faults, "put an artifact", func() (schemas.Artifact, error) { return a.faults.Core.Artifacts().Put(ctx, r, mediaType) })
}

// PutPending is none of what a process of the simulation does: its agents have an artifact service of their own.
func (a *flakyArtifacts) PutPending(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	return a.Put(ctx, r, mediaType)
}

// Keep fails now and then, before or after it has done so.
func (a *flakyArtifacts) Keep(ctx context.Context, sha256 string) error {
	return a.faults.effect("keep an artifact", func() error { return a.faults.Core.Artifacts().Keep(ctx, sha256) })
}

// RemovePending is the service's, which the simulation has none of.
func (a *flakyArtifacts) RemovePending(context.Context, time.Time) (int, error) { return 0, nil }

// Get fails now and then.
func (a *flakyArtifacts) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	return looked(a.faults, "get an artifact", func() (io.ReadCloser, error) { return a.faults.Core.Artifacts().Get(ctx, artifact) })
}

// Part fails now and then.
func (a *flakyArtifacts) Part(ctx context.Context, sha256 string, offset int64, limit int) (piece []byte, size int64, err error) {
	err = a.faults.look("get a piece of an artifact", func() (err error) {
		piece, size, err = a.faults.Core.Artifacts().Part(ctx, sha256, offset, limit)
		return err
	})
	return piece, size, err
}

// Read opens a reader that breaks now and then.
func (f *faults) Read(ctx context.Context, stream string, from uint64, subjects ...string) (reader bus.Reader, err error) {
	err = f.look("read", func() error {
		inner, err := f.Core.Read(ctx, stream, from, subjects...)
		reader = &flaky{Reader: inner, faults: f}
		return err
	})
	return reader, err
}

type flaky struct {
	bus.Reader
	faults *faults
	held   *bus.Message
}

// late is how long a message may be on its way to a reader. An owner takes it for
// granted that this is shorter than Config.CatchUp.
const late = 500 * time.Millisecond

// Next holds messages back for a while, and breaks now and then.
func (r *flaky) Next() (bus.Message, bool, error) {
	if r.faults.rate > 0 && r.faults.rand.Float64() < r.faults.rate/10 {
		return bus.Message{}, false, errLost
	}
	if r.held == nil {
		message, ok, err := r.Reader.Next()
		if !ok || err != nil {
			return message, ok, err
		}
		r.held = &message
	}
	if r.faults.rate > 0 && r.faults.now().Sub(r.held.Recorded) < late && r.faults.rand.IntN(4) == 0 {
		return bus.Message{}, false, nil
	}
	message := *r.held
	r.held = nil
	r.faults.watch.hand(r.faults, message.Sequence)
	return message, true, nil
}
