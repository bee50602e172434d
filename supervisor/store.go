package supervisor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/eventloop"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// storeRecord stores the record of a batch. Until the ledger has it, nothing of it has happened.
func (o *Owner) storeRecord(ctx context.Context, live *liveSession, b *batch) {
	b.record = schemas.Record{
		Session: live.id(), Number: b.state.Records, Epoch: o.checkpoint.Epoch, Transitions: b.transitions,
	}
	if len(b.inputs) == 0 && !fault.Is("the low watermark passes a record that no input has caused") {
		live.watermarkPin = o.watermark.Pin()
	}
	o.begin(live, stageStoring)
	o.stall.decided.Add(1)
	event, err := recordEvent(live, &b.record, &b.state, live.sinceSnapshot.Due())
	switch {
	case err != nil && len(b.inputs) == 0:
		o.admission.Release(&live.demand) // it holds this session back, and no other
		o.retry(live, o.now, err)
		return
	case err != nil:
		o.unstorable(ctx, live, b, err)
		return
	}
	b.link, b.weight, b.trail = schemas.LinkOf(&event, event.Data), len(event.Data), event.Trail
	subject := bus.SessionSubject(live.id(), o.Core.Shards())
	o.publisher.Publish(ctx, subject, &event, fault.Either("an append expects nothing", bus.Expect{}, bus.ExpectLast(live.sequence)), func(now time.Time, ack bus.Ack, err error) {
		switch {
		case err == nil:
			o.stored(live, &b.record)
			live.commit(b, ack.Sequence)
			if fault.Is("the low watermark passes an input before its outputs are acknowledged") {
				for _, in := range b.inputs {
					o.watermark.Leave(in.entry)
				}
			}
			o.trackSession(live)
			o.assignOrphans(live, live.sequence)
			o.publishRecord(ctx, live, &b.record, func(time.Time) { o.complete(live, b.inputs) }, now)
		case errors.Is(err, bus.ErrConflict) && live.assumptionFailed():
			o.end(live)
		case len(b.inputs) > 0 && (errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent)):
			o.unstorable(ctx, live, b, err)
		case errors.Is(err, bus.ErrConflict) || bus.Temporary(err):
			o.resolveAppend(ctx, live, b, now, err)
		default:
			o.admission.Release(&live.demand) // others need not wait for this one
			o.retry(live, now, err)
		}
	})
}

// unstorable puts an input whose record the ledger can never take into
// quarantine. Of several it is not known which one it is: the first is decided
// anew, alone. Nothing is sent, so that whoever it was admitted to has its room back.
func (o *Owner) unstorable(ctx context.Context, live *liveSession, b *batch, err error) {
	o.admission.Release(&live.demand)
	if len(b.inputs) > 1 {
		live.alone = true
		o.end(live)
		return
	}
	if !live.confirmed(b.inputs[0].message.Sequence) {
		o.begin(live, stageConfirming)
		o.confirm(ctx, live)
		return
	}
	o.begin(live, stageQuarantining)
	detail := "what follows from it cannot be stored: " + err.Error()
	o.putInQuarantine(ctx, b.inputs[0], schemas.QuarantineMalformed, detail, func(time.Time) { o.complete(live, b.inputs) })
}

func recordEvent(live *liveSession, record *schemas.Record, state *session.State, snapshot bool) (schemas.Event, error) {
	event := schemas.Event{
		ID: record.Session + "/" + strconv.FormatUint(record.Number, 10), Source: "/podium/supervisor",
		Type: schemas.TypeRecord, Time: record.First().Cause.Time, DataContentType: schemas.MediaTypeJSON,
		CausationID: record.First().Cause.ID, Phase: string(workflow.PhaseComplete), SnapshotSequence: live.snapshotSequence, PreviousSequence: live.sequence,
		Chain: fault.Either("a record names no predecessor", "", live.link.String()), Trail: live.tip.Next(record),
	}
	if run := runOf(record); run > 0 {
		event.CorrelationID = schemas.RunID(record.Session, run)
		event.Subject = event.CorrelationID
	}
	if state.Active != nil {
		event.Phase = string(state.Active.Phase)
	}
	if snapshot {
		event.SnapshotSequence = 0
		if state.Active != nil && fault.Is("a snapshot forgets the inquiries") {
			forgetful, run := *state, *state.Active
			run.Inquiries = nil
			forgetful.Active, state = &run, &forgetful
		}
		if fault.Is("a snapshot forgets the queue") {
			forgetful := *state
			forgetful.Queue, state = session.Queue{}, &forgetful
		}
		body, err := schemas.Marshal(state)
		if err != nil {
			return event, err
		}
		record.Snapshot, record.Roots = body, live.tip.Roots()
	}
	body, err := schemas.Marshal(record)
	event.Data = body
	return event, err
}

func runOf(record *schemas.Record) int {
	for fact := range record.AllFacts() {
		if run := schemas.RunOf(fact); run > 0 {
			return run
		}
	}
	return 0
}

// commit makes a stored record the session's newest.
func (live *liveSession) commit(b *batch, sequence uint64) {
	live.state, live.sequence, live.link, live.fresh = b.state, sequence, b.link, true
	live.loaded = sequence >= live.newestSequence // else another owner has written behind it
	if len(b.record.Snapshot) > 0 {
		live.snapshotSequence = sequence
	}
	live.sinceSnapshot = live.sinceSnapshot.With(b.weight, len(b.record.Snapshot))
	live.tip = live.tip.After(&b.record, b.trail, sequence)
}

// resolveAppend resolves an append whose outcome is unknown or a conflict: read again
// and compare. If the record is there, it counts as acknowledged. If a later owner
// wrote one, the shard is not ours any more; if a former one did, the checkpoint
// says whether it still is.
func (o *Owner) resolveAppend(ctx context.Context, live *liveSession, b *batch, now time.Time, cause error) {
	conflict := errors.Is(cause, bus.ErrConflict)
	if !conflict {
		live.tries++
	}
	o.loop.At(now.Add(o.pause(live, conflict)), func(time.Time) {
		eventloop.StartResult(o.loop, func() (*restore.StoredSession, error) {
			return restore.Load(ctx, o.Core, live.id())
		}, func(now time.Time, found *restore.StoredSession, err error) {
			switch {
			case err != nil && !bus.Temporary(err):
				live.invalidate() // it is loaded first, which decides what becomes of it
				o.admission.Release(&live.demand)
				o.end(live)
			case err != nil:
				o.resolveAppend(ctx, live, b, now, &bus.TemporaryError{Op: "read the session again", Err: err})
			case found.Link == b.link:
				o.stored(live, &b.record)
				live.restoreFrom(found)
				live.demand.MarkDecided()
				o.trackSession(live)
				o.assignOrphans(live, live.sequence)
				o.publishRecord(ctx, live, &b.record, func(time.Time) { o.complete(live, b.inputs) }, now)
			case found.Sequence == live.sequence:
				o.becomeKnown(live)
				o.admission.Release(&live.demand) // who waits comes first
				o.end(live)                       // it never arrived: decide anew
			case live.assumptionFailed():
				o.end(live)
			case o.fenced(found):
				o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			default:
				o.noteForeignRecord(live)
				live.restoreFrom(found)
				o.trackSession(live)
				o.admission.RecoverDays(&live.demand, found.Last)
				o.assignOrphans(live, 0)
				o.publishRecord(ctx, live, found.Last, func(time.Time) { o.end(live) }, now)
			}
		})
	})
}

func (o *Owner) pause(live *liveSession, conflict bool) time.Duration {
	if conflict {
		return 0
	}
	return o.publisher.Backoff.After(int(live.tries))
}

// stored tells those who follow what happens of a record that is on the ledger, given the
// session before it.
func (o *Owner) stored(live *liveSession, record *schemas.Record) {
	if o.Observe != nil {
		o.Observe(&live.state, record)
	}
	o.admission.Observe(&live.demand, record)
}
