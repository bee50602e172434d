package supervisor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/history"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// append stores the record of a batch: step 2 of a transition.
func (o *Owner) append(ctx context.Context, c *conversation, b *batch) {
	b.record = schemas.Record{
		Session: c.id(), Number: b.state.Records, Epoch: o.checkpoint.Epoch, Chain: c.chain.String(),
		Cause: b.transitions[0].Cause, Facts: b.transitions[0].Facts,
	}
	if len(b.transitions) > 1 {
		b.record.Then = b.transitions[1:]
	}
	if len(b.inputs) == 0 {
		c.hold = o.watermark.Pin()
	}
	o.begin(c)
	event, err := recordEvent(c, &b.record, &b.state, c.behind.Due())
	switch {
	case err != nil && len(b.inputs) == 0:
		o.admission.Release(&c.admission) // it holds this session back, and no other
		o.retry(c, o.now, err)
		return
	case err != nil:
		o.unstorable(ctx, c, b, err)
		return
	}
	b.body, b.trail = event.Data, event.Trail
	subject := bus.SessionSubject(c.id(), o.shards)
	o.publisher.Publish(ctx, subject, &event, bus.After(c.sequence), func(now time.Time, ack bus.Ack, err error) {
		switch {
		case err == nil:
			o.stored(c, &b.record)
			c.adopt(b, ack.Sequence)
			o.track(c)
			o.recognize(c, c.sequence)
			o.emit(ctx, c, b.record.Last(), func(time.Time) { o.settle(c, b.inputs) }, now)
		case errors.Is(err, bus.ErrConflict) && c.misjudged():
			o.end(c)
		case len(b.inputs) > 0 && (errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent)):
			o.unstorable(ctx, c, b, err)
		case errors.Is(err, bus.ErrConflict) || bus.Temporary(err):
			o.doubt(ctx, c, b, now, err)
		default:
			o.admission.Release(&c.admission) // others need not wait for this one
			o.retry(c, now, err)
		}
	})
}

// unstorable puts an input whose record the ledger can never take into
// quarantine. Of several it is not known which one it is: the first is decided
// anew, alone. Nothing is sent, so that whoever it was admitted to has its room back.
func (o *Owner) unstorable(ctx context.Context, c *conversation, b *batch, err error) {
	o.admission.Release(&c.admission)
	if len(b.inputs) > 1 {
		c.alone = true
		o.end(c)
		return
	}
	if !c.confirmed(b.inputs[0].message.Sequence) {
		o.confirm(ctx, c)
		return
	}
	detail := "what follows from it cannot be stored: " + err.Error()
	o.isolate(ctx, b.inputs[0], schemas.QuarantineMalformed, detail, func(time.Time) { o.settle(c, b.inputs) })
}

func recordEvent(c *conversation, record *schemas.Record, state *session.State, snapshot bool) (schemas.Event, error) {
	event := schemas.Event{
		ID: record.Session + "/" + strconv.FormatUint(record.Number, 10), Source: "/podium/supervisor",
		Type: schemas.TypeRecord, Time: record.Cause.Time, DataContentType: schemas.MediaTypeJSON,
		CausationID: record.Cause.ID, Phase: string(plan.PhaseComplete), Snap: c.snap, Previous: c.sequence, Trail: c.tip.Next(record),
	}
	if run := runOf(record); run > 0 {
		event.CorrelationID = schemas.RunID(record.Session, run)
		event.Subject = event.CorrelationID
	}
	if state.Active != nil {
		event.Phase = string(state.Active.Phase)
	}
	if snapshot {
		event.Snap = 0
		body, err := schemas.Marshal(state)
		if err != nil {
			return event, err
		}
		record.Snapshot, record.Roots = body, c.tip.Roots()
	}
	body, err := schemas.Marshal(record)
	event.Data = body
	return event, err
}

func runOf(record *schemas.Record) int {
	for fact := range record.AllFacts() {
		if run := fact.Run(); run > 0 {
			return run
		}
	}
	return 0
}

// adopt makes a stored record the conversation's newest.
func (c *conversation) adopt(b *batch, sequence uint64) {
	c.state, c.sequence, c.chain, c.fresh = b.state, sequence, history.Hash(b.body), true
	c.loaded = sequence >= c.newest // else another owner has written behind it
	if len(b.record.Snapshot) > 0 {
		c.snap = sequence
	}
	c.behind = c.behind.With(len(b.body), len(b.record.Snapshot))
	c.tip = c.tip.After(&b.record, b.trail, sequence)
}

// doubt resolves an append whose outcome is unknown or a conflict: read again
// and compare. If the record is there, it counts as acknowledged. If a later owner
// wrote one, the shard is not ours any more; if a former one did, the checkpoint
// says whether it still is.
func (o *Owner) doubt(ctx context.Context, c *conversation, b *batch, now time.Time, cause error) {
	conflict := errors.Is(cause, bus.ErrConflict)
	if !conflict {
		c.tries++
	}
	var found *history.Session
	o.loop.At(now.Add(o.pause(c, conflict)), func(time.Time) {
		o.loop.Await(func() (err error) {
			found, err = history.Load(ctx, o.Core, c.id())
			return err
		}, func(now time.Time, err error) {
			switch {
			case err != nil && !bus.Temporary(err):
				c.outdate() // it is loaded first, which decides what becomes of it
				o.admission.Release(&c.admission)
				o.end(c)
			case err != nil:
				o.doubt(ctx, c, b, now, &bus.TemporaryError{Op: "read the session again", Err: err})
			case found.Chain == history.Hash(b.body):
				o.stored(c, &b.record)
				c.take(found)
				o.track(c)
				o.recognize(c, c.sequence)
				o.emit(ctx, c, b.record.Last(), func(time.Time) { o.settle(c, b.inputs) }, now)
			case found.Sequence == c.sequence:
				o.learn(c)
				o.admission.Release(&c.admission) // who waits comes first
				o.end(c)                          // it never arrived: decide anew
			case c.misjudged():
				o.end(c)
			case o.deposed(found):
				o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			default:
				o.overwritten(c)
				c.take(found)
				o.track(c)
				o.recognize(c, 0)
				o.emit(ctx, c, found.Last.Last(), func(time.Time) { o.end(c) }, now)
			}
		})
	})
}

func (o *Owner) pause(c *conversation, conflict bool) time.Duration {
	if conflict {
		return 0
	}
	return o.backoff.After(int(c.tries))
}

// stored tells those who follow what happens of a record that is on the ledger, given the
// conversation before it.
func (o *Owner) stored(c *conversation, record *schemas.Record) {
	if o.Observe != nil {
		o.Observe(&c.state, record)
	}
	o.admission.Observe(&c.admission, record)
}
