// Package intake is the one way of an adapter onto the bus: [Intake] submits what was
// received outside to the shard of its session.
//
// It refuses what would fill the last tenth of a stream, of the artifacts or of their
// disk ([Usage] knows how full they are), so that work under way can end. It does not
// know what an event means.
package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// IntakeShare is the percentage of a stream's limit, or of what its disk has, at which
// intake is refused, so that work under way can end.
const IntakeShare = 90

// An Intake is the one way of an adapter onto the bus. It is safe for use by several
// goroutines at once.
type Intake struct {
	core bus.Core
	used *Usage
}

// A Receipt says where an event went. It is as durable as the ledger promises.
type Receipt struct {
	Session  string // that it belongs to
	Shard    int
	Sequence uint64 // in the shard's stream
}

// NewIntake returns the intake of a ledger.
func NewIntake(core bus.Core) *Intake {
	return &Intake{core: core, used: NewUsage(core)}
}

// Submit publishes an event that an adapter has received, and waits until the ledger
// has it. Profile is required; without a PartitionKey the event is a
// session of its own. Errors: schemas.ErrInvalidEvent, ErrFull from
// IntakeShare on, ErrTooLarge over artifact.MaxSize, and temporary errors after
// which the same event (the same ID) may be submitted again.
func (i *Intake) Submit(ctx context.Context, adapter string, e schemas.Event) (Receipt, error) {
	s, err := i.admitted(ctx, adapter, e)
	if err != nil {
		return Receipt{}, err
	}
	return s.publish(i.core).wait(ctx)
}

// An Outcome is what became of one event of SubmitAll.
type Outcome struct {
	Receipt Receipt
	Err     error // as of Submit
}

// SubmitAll submits events in their order, as Submit does, and does not wait for
// one before the next goes out, except within a session: there each goes out
// when the ledger has the one before. After a failure that is not one event's own
// (ErrInvalidEvent, ErrTooLarge) no further event goes out, and each of those has
// that error; of those that were under way the ledger may have some. It returns an
// outcome for each event when the last of them is known, or when ctx ends.
func (i *Intake) SubmitAll(ctx context.Context, adapter string, events []schemas.Event) []Outcome {
	outcomes := make([]Outcome, len(events))
	out := make([]*publishing, len(events)) // nil is not under way
	settle := func(n int) error {
		if out[n] != nil {
			outcomes[n].Receipt, outcomes[n].Err = out[n].wait(ctx)
			out[n] = nil
		}
		return outcomes[n].Err
	}
	newest := make(map[string]int, len(events)) // by session
	for n := range events {
		s, err := i.admitted(ctx, adapter, events[n])
		if before, found := newest[s.receipt.Session]; err == nil && found {
			if failed := settle(before); failed != nil && !itsOwn(failed) {
				err = failed
			}
		}
		if err == nil {
			out[n] = s.publish(i.core)
			newest[s.receipt.Session] = n
			continue
		}
		if itsOwn(err) {
			outcomes[n].Err = err
			continue
		}
		for rest := n; rest < len(events); rest++ {
			outcomes[rest].Err = err
		}
		break
	}
	for n := range events {
		_ = settle(n) // it is in the outcomes
	}
	return outcomes
}

// itsOwn tells an error that concerns one event from one that all would meet.
func itsOwn(err error) bool {
	return errors.Is(err, schemas.ErrInvalidEvent) || errors.Is(err, bus.ErrTooLarge)
}

// A submission is an event that may go onto the ledger.
type submission struct {
	kind    string
	message bus.Message
	receipt Receipt // without a sequence
}

// A publishing is a submission on its way.
type publishing struct {
	submission
	bus.Appending
}

// admitted checks and encodes an event. A body that is too large for a message is
// in the object store then.
func (i *Intake) admitted(ctx context.Context, adapter string, e schemas.Event) (submission, error) {
	if !schemas.ValidToken(adapter) {
		return submission{}, fmt.Errorf("%q cannot be the name of an adapter", adapter)
	}
	if err := e.Validate(); err != nil {
		return submission{}, err
	}
	if e.Profile == "" {
		return submission{}, fmt.Errorf("%w: attribute %q is missing", schemas.ErrInvalidEvent, "profile")
	}
	e.PartitionKey = cmp.Or(e.PartitionKey, e.ID)
	session := e.Session()
	shard := schemas.ShardOf(session, i.core.Shards())
	if err := i.admit(ctx, shard); err != nil {
		return submission{}, err
	}
	if len(e.Data) > artifact.MessageInlineLimit {
		i.used.Add(bus.ArtifactStream, len(e.Data))
	}
	if err := artifact.Offload(ctx, i.core.Artifacts(), &e); err != nil {
		return submission{}, err
	}
	message, err := binding.Encode(bus.InSubject(adapter, shard), &e)
	if err != nil {
		return submission{}, err
	}
	i.used.Add(bus.ShardStream(shard), len(message.Body))
	return submission{kind: e.Type, message: message, receipt: Receipt{Session: session, Shard: shard}}, nil
}

func (s submission) publish(ledger bus.Ledger) *publishing {
	return &publishing{submission: s, Appending: bus.AppendAsync(ledger, s.message, bus.Expect{})}
}

// wait returns when the ledger has the event. It is called once.
func (p *publishing) wait(ctx context.Context) (Receipt, error) {
	ack, err := p.Appending.Wait(ctx)
	if err != nil {
		return Receipt{}, fmt.Errorf("submit a %s: %w", p.kind, err)
	}
	p.receipt.Sequence = ack.Sequence
	return p.receipt, nil
}

// admit refuses what would fill the last tenth of a shard's stream, of the artifacts, or
// of their disk.
func (i *Intake) admit(ctx context.Context, shard int) error {
	fill, err := i.used.Fill(ctx, shard)
	if err != nil {
		return err
	}
	if fill.Share() >= IntakeShare {
		return fmt.Errorf("shard %d takes no more events from outside: %w: %s", shard, bus.ErrFull, fill)
	}
	return nil
}
