package bustest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/seen"
)

// A Script writes the records of a session by hand, as an owner does.
type Script struct {
	tb      testing.TB
	ledger  bus.Ledger
	session string

	mutex    sync.Mutex
	number   uint64
	sequence uint64 // of the newest record
	tip      schemas.Tip
	seen     seen.Inputs
	snap     uint64 // sequence of the newest record with a snapshot
	snapshot uint64 // number of the next one
}

// NewScript returns the script of a session without records.
func NewScript(tb testing.TB, ledger bus.Ledger, session string) *Script {
	tb.Helper()
	return &Script{tb: tb, ledger: ledger, session: session}
}

// What the snapshots of a script are apart: so many records, and the more the longer
// the session is.
const (
	snapshotEvery = 10
	snapshotShare = 10
)

// Record appends a record of one transition, a second after the one before, and
// returns it and its sequence. Its cause is the newest message that it speaks of. It
// may be called from any goroutine.
func (s *Script) Record(facts ...schemas.Fact) (schemas.Record, uint64) {
	s.tb.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.number++
	cause := schemas.Cause{Time: time.Unix(1_700_000_000+int64(s.number), 0).UTC()} //nolint:gosec // a handful
	for _, f := range facts {
		if received, is := f.(*schemas.MessageReceived); is {
			cause.Sequence = received.Sequence
			s.seen = s.seen.With(received.ID, received.Run)
		}
	}
	record := schemas.Record{Session: s.session, Number: s.number, Transitions: []schemas.Transition{{Cause: cause, Facts: facts}}}
	trail := s.tip.Next(&record)
	trail.Applied = max(trail.Applied, 1) // some scripts begin in the midst of a run
	if s.number >= max(s.snapshot, snapshotEvery) {
		s.snapshot = s.number + snapshotEvery + s.number/snapshotShare
		record.Snapshot, record.Roots = s.state(), s.tip.Roots()
	}
	body, err := schemas.Marshal(record)
	if err != nil {
		s.tb.Error(err)
	}
	event := schemas.Event{
		ID: s.session + "/" + strconv.FormatUint(s.number, 10), Source: "/podium/supervisor", Type: schemas.TypeRecord,
		DataContentType: schemas.MediaTypeJSON, SnapshotSequence: s.snap, PreviousSequence: s.sequence, Trail: trail, Data: body,
	}
	if len(record.Snapshot) > 0 {
		event.SnapshotSequence = 0
	}
	s.sequence = s.append(&event)
	if s.tip = s.tip.After(&record, trail, s.sequence); len(record.Snapshot) > 0 {
		s.snap = s.sequence
	}
	return record, s.sequence
}

// Append appends an event as the session's next record, whatever it says.
func (s *Script) Append(event *schemas.Event) uint64 {
	s.tb.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sequence = s.append(event)
	return s.sequence
}

func (s *Script) append(event *schemas.Event) uint64 {
	s.tb.Helper()
	message, err := binding.Encode(bus.SessionSubject(s.session, s.ledger.Shards()), event)
	if err != nil {
		s.tb.Error(err)
	}
	ack, err := bus.Append(context.Background(), s.ledger, message, bus.Expect{})
	if err != nil {
		s.tb.Error(err)
	}
	return ack.Sequence
}

// state is as much of a snapshot as anybody but an owner reads, and what nobody may see.
func (s *Script) state() []byte {
	body, err := schemas.Marshal(struct {
		Secret string      `json:"secret"`
		Seen   seen.Inputs `json:"seen"`
	}{"state", s.seen})
	if err != nil {
		s.tb.Error(err)
	}
	return body
}
