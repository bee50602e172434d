package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unique"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/ingest/imap/mailbox"
	"podium/schemas"
)

// An eventIndex knows the event of every message of one mailbox and UIDVALIDITY,
// and what became of it. It takes 24 bytes a message.
type eventIndex struct {
	prefix   string // of the ids
	validity uint32
	all      []indexedEvent // by UID, each once
	earlier  uint64         // of other UIDVALIDITYs
}

type indexedEvent struct {
	sequence uint64
	uid      uint32
	shard    uint16
	became   unique.Handle[result]
}

// A result is what became of a message, and why.
type result struct {
	outcome Outcome
	reason  string
}

func became(outcome Outcome, reason string) unique.Handle[result] {
	return unique.Make(result{outcome, reason})
}

// indexEvents reads the events of a mailbox, then what became of them.
func indexEvents(ctx context.Context, core bus.Core, account, name string, uidValidity uint32) (*eventIndex, error) {
	x := &eventIndex{prefix: mailbox.EventPrefix(account, name), validity: uidValidity}
	pending := became(OutcomePending, "its event waits for its session")
	for shard := range core.Shards() {
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, bus.InSubject(mailbox.AdapterName, shard)) {
			if err != nil {
				return nil, fmt.Errorf("read the events of the mailbox: %w", err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				continue // none of an adapter, and in quarantine by itself
			}
			validity, uid, ok := mailbox.ParseEventID(x.prefix, event.ID)
			switch {
			case !ok:
			case validity != uidValidity:
				x.earlier++
			default:
				x.all = append(x.all, indexedEvent{
					sequence: message.Sequence, uid: uid, shard: uint16(shard), became: pending, //nolint:gosec // at most 256 shards
				})
			}
		}
	}
	slices.SortStableFunc(x.all, func(a, b indexedEvent) int { return cmp.Compare(a.uid, b.uid) })
	x.all = slices.CompactFunc(x.all, func(a, b indexedEvent) bool { return a.uid == b.uid })
	for shard := range core.Shards() {
		if err := x.readQuarantine(ctx, core, shard); err != nil {
			return nil, err
		}
		if err := x.readRecords(ctx, core, shard); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// readQuarantine marks events that could not be used.
func (x *eventIndex) readQuarantine(ctx context.Context, core bus.Core, shard int) error {
	reasons := map[uint64]schemas.QuarantineReason{} // by the event's sequence
	for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.dead.*.%d", shard)) {
		var event schemas.Event
		var dead schemas.Quarantined
		if err == nil {
			event, err = artifact.DecodeWhole(ctx, core.Artifacts(), message)
		}
		if err == nil {
			err = schemas.Unmarshal(event.Data, &dead)
		}
		if err != nil {
			return fmt.Errorf("read the quarantine: %w", err)
		}
		if dead.Subject == bus.InSubject(mailbox.AdapterName, shard) {
			reasons[dead.Sequence] = dead.Reason
		}
	}
	for i := range x.all {
		e := &x.all[i]
		if reason, dead := reasons[e.sequence]; dead && int(e.shard) == shard {
			e.became = became(OutcomeQuarantined, string(reason))
		}
	}
	return nil
}

// readRecords marks events that a session has taken.
func (x *eventIndex) readRecords(ctx context.Context, core bus.Core, shard int) error {
	for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.session.%d.*", shard)) {
		if err != nil {
			return fmt.Errorf("read the records: %w", err)
		}
		record, err := history.ReadRecord(ctx, core, message)
		if err != nil {
			return err
		}
		for fact := range record.AllFacts() {
			received, is := fact.(*schemas.MessageReceived)
			if !is {
				continue
			}
			validity, uid, ok := mailbox.ParseEventID(x.prefix, received.ID)
			if !ok || validity != x.validity {
				continue
			}
			events := x.between(uid, uid)
			for i := range events {
				events[i].became = decided(received)
			}
		}
	}
	return nil
}

// decided translates what a session has decided about a message.
func decided(received *schemas.MessageReceived) unique.Handle[result] {
	switch received.Disposition {
	case schemas.DispositionIgnored:
		return became(OutcomeIgnored, cmp.Or(received.Reason, "it needs no answer"))
	case schemas.DispositionRefused:
		return became(OutcomeIgnored, "refused: "+received.Reason)
	case schemas.DispositionStarted, schemas.DispositionQueued, schemas.DispositionControl, schemas.DispositionMerged, schemas.DispositionAnswered, schemas.DispositionHeld:
	}
	return became(OutcomeRun, string(received.Disposition))
}

// between returns the events of messages between two UIDs, both included.
func (x *eventIndex) between(first, last uint32) []indexedEvent {
	from, _ := slices.BinarySearchFunc(x.all, first, func(e indexedEvent, uid uint32) int { return cmp.Compare(e.uid, uid) })
	to := from
	for to < len(x.all) && x.all[to].uid <= last {
		to++
	}
	return x.all[from:to]
}
