package sim

import (
	"context"
	"errors"
	"math/rand/v2"

	"podium/bus"
)

// faults is one process's view of the ledger, as bad as the seed wants it.
type faults struct {
	bus.Core
	rand    *rand.Rand
	rate    float64   // of a fault for each effect; 0 is a healthy process
	crashed bool      // nothing it does reaches anybody any more
	inbox   []func()  // operations and acknowledgments on their way to the process
	limbo   *[]func() // messages on their way to the ledger, which outlive the process
}

var errLost = errors.New("simulated: no answer")

func temporary(op string) error { return &bus.TemporaryError{Op: op, Err: errLost} }

func (f *faults) fault() bool { return f.rate > 0 && f.rand.Float64() < f.rate }

// Publish fails before, after, or says nothing about what it did.
func (f *faults) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if f.crashed {
		return
	}
	if !f.fault() {
		f.Core.Publish(message, expect, func(ack bus.Ack, err error) {
			f.arrive(func() { done(ack, err) })
		})
		return
	}
	switch f.rand.IntN(5) {
	case 0: // crash before
		f.crashed = true
	case 1: // crash after
		f.Core.Publish(message, expect, func(bus.Ack, error) {})
		f.crashed = true
	case 2: // refused for now
		f.arrive(func() { done(bus.Ack{}, temporary("publish")) })
	case 3: // stored, but the acknowledgment is lost
		f.Core.Publish(message, expect, func(bus.Ack, error) {})
		f.arrive(func() { done(bus.Ack{}, temporary("publish")) })
	case 4: // given up on, and stored much later
		f.arrive(func() { done(bus.Ack{}, temporary("publish")) })
		*f.limbo = append(*f.limbo, func() { f.Core.Publish(message, expect, func(bus.Ack, error) {}) })
	}
}

// arrive hands something to the process now or later.
func (f *faults) arrive(deliver func()) {
	if f.rate > 0 && f.rand.IntN(3) == 0 {
		f.inbox = append(f.inbox, deliver)
		return
	}
	deliver()
}

// Go runs an operation of the process, now or later.
func (f *faults) Go(operation func()) {
	f.arrive(func() {
		if !f.crashed {
			operation()
		}
	})
}

// settle delivers one thing that was on its way to the process.
func (f *faults) settle() bool {
	if f.crashed || len(f.inbox) == 0 {
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
	if f.fault() {
		return bus.Message{}, temporary("last")
	}
	return f.Core.Last(ctx, subject)
}

// Get fails now and then.
func (f *faults) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	if f.fault() {
		return bus.Message{}, temporary("get")
	}
	return f.Core.Get(ctx, stream, sequence)
}

// Read opens a reader that breaks now and then.
func (f *faults) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	reader, err := f.Core.Read(ctx, stream, from, subjects...)
	return &flaky{Reader: reader, faults: f}, err
}

type flaky struct {
	bus.Reader
	faults *faults
}

// Next holds messages back, and breaks now and then.
func (r *flaky) Next() (bus.Message, bool, error) {
	if r.faults.rate > 0 {
		if r.faults.rand.IntN(4) == 0 {
			return bus.Message{}, false, nil
		}
		if r.faults.rand.Float64() < r.faults.rate/10 {
			return bus.Message{}, false, errLost
		}
	}
	return r.Reader.Next()
}
