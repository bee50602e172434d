package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/seen"
)

// A SessionReader is a session as it stood on the ledger when it was opened. By the trails of
// its records it reads those of one run out of any number: how many messages it reads
// grows with the logarithm of that number, and with the records that speak of the run.
// It is for one goroutine.
type SessionReader struct {
	ledger  bus.Ledger
	id      string
	stream  string
	subject string
	newest  *step
	known   map[uint64]*step // that a search has come by
}

// A step is a record on the way back through a session.
type step struct {
	message  bus.Message
	number   uint64 // of the record
	previous uint64
	snap     uint64 // sequence of the newest record with a snapshot; 0 is this one or none
	trail    schemas.Trail
}

// A ReceivedMessage is what became of a message, and where that is said.
type ReceivedMessage struct {
	schemas.MessageReceived
	Record uint64 // sequence of the record
}

// OpenSession looks a session up.
func OpenSession(ctx context.Context, ledger bus.Ledger, session string) (*SessionReader, error) {
	stream, subject := sessionPlace(ledger, session)
	s := &SessionReader{ledger: ledger, id: session, stream: stream, subject: subject, known: make(map[uint64]*step)}
	message, err := ledger.Last(ctx, subject)
	if errors.Is(err, bus.ErrNotFound) {
		return s, nil
	}
	if err == nil {
		s.newest, err = s.step(message)
	}
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", session, err)
	}
	return s, nil
}

// Newest returns the sequence of the newest record; 0 when there is none.
func (s *SessionReader) Newest() uint64 {
	if s.newest == nil {
		return 0
	}
	return s.newest.message.Sequence
}

// Run yields the records that speak of a run, in order, and further ones by their
// sequences; they may say something else as well. Of what is said about a run while it
// waits, or once it has ended and the next has begun, it finds what stands in the
// next sixteen records that speak of such a run, and all of it while its delivery is
// reopened. It ends after the first error.
func (s *SessionReader) Run(ctx context.Context, number int, further ...uint64) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		if s.newest == nil {
			return
		}
		found, err := s.places(ctx, number, further)
		if err != nil {
			yield(StoredRecord{}, fmt.Errorf("run %d of session %s: %w", number, s.id, err))
			return
		}
		found.read(ctx, s, yield)
	}
}

// Received returns what became of the message with an id that is the input at a
// sequence, or ErrNotFound: it is not decided, or is one that came before.
func (s *SessionReader) Received(ctx context.Context, input uint64, id string) (ReceivedMessage, error) {
	if s.newest == nil || s.newest.trail.Applied < input {
		return ReceivedMessage{}, bus.ErrNotFound
	}
	took, err := s.first(ctx, s.newest, func(t *schemas.Trail) bool { return t.Applied >= input })
	if err != nil {
		return ReceivedMessage{}, err
	}
	return s.receptionAt(ctx, took, id)
}

// ReceivedBefore returns what became of a message by its id alone, or ErrNotFound. It
// reads the newest snapshot, which grows with what the session has seen, and for what
// is not in that the records behind it, which weigh no more.
func (s *SessionReader) ReceivedBefore(ctx context.Context, id string) (ReceivedMessage, error) {
	if s.newest == nil {
		return ReceivedMessage{}, bus.ErrNotFound
	}
	snapshot, err := s.newestSnapshot(ctx)
	if err != nil {
		return ReceivedMessage{}, err
	}
	place, err := s.placeIn(ctx, snapshot, id)
	if err != nil {
		return ReceivedMessage{}, err
	}
	if place >= 0 {
		took, err := s.first(ctx, snapshot, func(t *schemas.Trail) bool { return t.Seen() > uint64(place) }) //nolint:gosec // not negative
		if err != nil {
			return ReceivedMessage{}, err
		}
		return s.receptionAt(ctx, took, id)
	}
	for at := s.newest; ; {
		if reception, err := s.receptionAt(ctx, at, id); !errors.Is(err, bus.ErrNotFound) {
			return reception, err
		}
		if at.message.Sequence <= snapshot.message.Sequence {
			return ReceivedMessage{}, bus.ErrNotFound
		}
		if at, err = s.at(ctx, at.previous); err != nil {
			return ReceivedMessage{}, err
		}
	}
}

// newestSnapshot returns the newest record with a snapshot, or the first when there is none.
func (s *SessionReader) newestSnapshot(ctx context.Context) (*step, error) {
	if s.newest.snap != 0 {
		return s.back(ctx, s.newest, s.newest.snap)
	}
	record, err := ReadRecord(ctx, s.ledger, s.newest.message)
	if err != nil || len(record.Snapshot) > 0 {
		return s.newest, err
	}
	return s.first(ctx, s.newest, func(*schemas.Trail) bool { return true })
}

// placeIn returns the place of a message in what a snapshot has seen, or -1.
func (s *SessionReader) placeIn(ctx context.Context, at *step, id string) (int, error) {
	record, err := ReadRecord(ctx, s.ledger, at.message)
	if err != nil || len(record.Snapshot) == 0 {
		return -1, err
	}
	var state struct {
		Seen seen.Inputs `json:"seen"`
	}
	if err = schemas.Unmarshal(record.Snapshot, &state); err != nil {
		return -1, fmt.Errorf("snapshot of session %s: %w", s.id, err)
	}
	return state.Seen.Find(id), nil
}

func (s *SessionReader) receptionAt(ctx context.Context, took *step, id string) (ReceivedMessage, error) {
	record, err := ReadRecord(ctx, s.ledger, took.message)
	if err != nil {
		return ReceivedMessage{}, err
	}
	for fact := range record.AllFacts() {
		if received, is := fact.(*schemas.MessageReceived); is && received.ID == id {
			return ReceivedMessage{MessageReceived: *received, Record: record.Sequence}, nil
		}
	}
	return ReceivedMessage{}, bus.ErrNotFound
}

// step reads what a record says of its place.
func (s *SessionReader) step(message bus.Message) (*step, error) {
	event, err := binding.Decode(message)
	if err != nil {
		return nil, fmt.Errorf("record %d of %s: %w", message.Sequence, message.Stream, err)
	}
	_, position, _ := strings.Cut(event.ID, "/")
	number, err := strconv.ParseUint(position, 10, 64)
	if err != nil || event.Type != schemas.TypeRecord || event.Trail == nil || event.PreviousSequence >= message.Sequence {
		return nil, s.astray(message.Sequence)
	}
	return &step{message: message, number: number, previous: event.PreviousSequence, snap: event.SnapshotSequence, trail: *event.Trail}, nil
}

func (s *SessionReader) astray(sequence uint64) error {
	return fmt.Errorf("record %d of %s: %w", sequence, s.stream, &bus.MalformedError{Detail: "its trail leads nowhere in session " + s.id})
}

// at reads a record that another one leads to.
func (s *SessionReader) at(ctx context.Context, sequence uint64) (*step, error) {
	if known := s.known[sequence]; known != nil {
		return known, nil
	}
	message, err := s.ledger.Get(ctx, s.stream, sequence)
	if errors.Is(err, bus.ErrNotFound) || err == nil && message.Subject != s.subject {
		return nil, s.astray(sequence)
	}
	if err != nil {
		return nil, err
	}
	return s.step(message)
}

// back reads the record that one leads back to; 0 is the record before it.
func (s *SessionReader) back(ctx context.Context, from *step, to uint64) (*step, error) {
	if to == 0 {
		to = from.previous
	}
	if to >= from.message.Sequence {
		return nil, s.astray(from.message.Sequence)
	}
	read, err := s.at(ctx, to)
	if err == nil && read.number >= from.number {
		err = s.astray(from.message.Sequence)
	}
	return read, err
}

// first returns the first record whose trail has reached something that no later one
// has not, given one that has.
func (s *SessionReader) first(ctx context.Context, from *step, reached func(*schemas.Trail) bool) (*step, error) {
	for from.previous != 0 {
		if from.trail.Jump != 0 {
			far, err := s.back(ctx, from, from.trail.Jump)
			if err != nil {
				return nil, err
			}
			s.known[far.message.Sequence] = far
			if reached(&far.trail) {
				from = far
				continue
			}
		}
		near, err := s.back(ctx, from, 0)
		if err != nil {
			return nil, err
		}
		s.known[near.message.Sequence] = near
		if !reached(&near.trail) {
			break
		}
		from = near
	}
	return from, nil
}

// places are where the records stand that speak of a run.
type places struct {
	steps []*step
	dense []stretch
}

// A stretch is a part of the session in which most records speak of a run: all of it is
// read, to excluded.
type stretch struct{ from, to uint64 }

// asides bounds the records that are read of what is said about a run while it waits,
// and once the next has begun.
const asides = 16

func (s *SessionReader) places(ctx context.Context, number int, further []uint64) (places, error) {
	var found places
	if wanted := uint64(max(number, 0)); wanted > 0 && wanted <= s.newest.trail.Runs { //nolint:gosec // not negative
		if err := s.about(ctx, &found, wanted); err != nil {
			return found, err
		}
	}
	for _, sequence := range further {
		at, err := s.at(ctx, sequence)
		if err != nil {
			return found, err
		}
		found.steps = append(found.steps, at)
	}
	return found, nil
}

// about finds what speaks of a run: its message, its own records, and what is said
// about it while it waits and once the next one has begun.
func (s *SessionReader) about(ctx context.Context, found *places, run uint64) (err error) {
	last, begun := s.newest, s.newest // the last record that may be its own, and the one that it begins with
	if run <= begun.trail.Begun() {
		if begun, err = s.first(ctx, begun, func(t *schemas.Trail) bool { return t.Begun() >= run }); err != nil {
			return err
		}
		if last, err = s.turn(ctx, found, begun, begun.trail.Begun() > run); err != nil {
			return err
		}
		if err = s.reopened(ctx, found, begun, run); err != nil {
			return err
		}
	}
	given, err := s.first(ctx, begun, func(t *schemas.Trail) bool { return t.Runs >= run })
	if err != nil {
		return err
	}
	found.steps = append(found.steps, given)
	return errors.Join(s.beside(ctx, found, given, begun), s.beside(ctx, found, last, s.newest))
}

// turn finds the records of the run that becomes the current one with a record, up to
// the one with which another becomes it, and returns that. Passed says that this is the
// same record.
func (s *SessionReader) turn(ctx context.Context, found *places, begun *step, passed bool) (last *step, err error) {
	last = s.newest
	switch turn := begun.trail.Turns(); {
	case passed:
		last = begun
	case turn < last.trail.Turns():
		if last, err = s.first(ctx, last, func(t *schemas.Trail) bool { return t.Turns() > turn }); err != nil {
			return nil, err
		}
	}
	return last, s.own(ctx, found, last, begun)
}

// reopened finds the records of the times when the delivery of a run was reopened. It
// looks at all such times of the session since the run has begun.
func (s *SessionReader) reopened(ctx context.Context, found *places, begun *step, run uint64) error {
	for count := begun.trail.Reopened + 1; count <= s.newest.trail.Reopened; count++ {
		at, err := s.first(ctx, s.newest, func(t *schemas.Trail) bool { return t.Reopened >= count })
		if err != nil {
			return err
		}
		if at.trail.Again != run {
			continue
		}
		if _, err = s.turn(ctx, found, at, false); err != nil {
			return err
		}
	}
	return nil
}

// beside finds records behind one, up to another, that speak of runs which are not the
// newest begun.
func (s *SessionReader) beside(ctx context.Context, found *places, from, to *step) error {
	for count := from.trail.Asides + 1; count <= min(to.trail.Asides, from.trail.Asides+asides); count++ {
		aside, err := s.first(ctx, to, func(t *schemas.Trail) bool { return t.Asides >= count })
		if err != nil {
			return err
		}
		found.steps = append(found.steps, aside)
	}
	return nil
}

// What makes reading all records cheaper than going from one of the run's own to the
// one before it: so many of them have been found, and what is left is at most so many
// times as much.
const (
	denseFrom = 32
	denseRest = 16
)

// own finds the records of a run from its last back to its first. Between them may
// stand any number of messages that were queued meanwhile.
func (s *SessionReader) own(ctx context.Context, found *places, last, begun *step) error {
	found.steps = append(found.steps, last)
	for at, hops := last, uint64(1); at.message.Sequence > begun.message.Sequence; hops++ {
		if rest := at.number - begun.number; hops >= denseFrom && rest > denseFrom && rest <= denseRest*hops {
			found.dense = append(found.dense, stretch{begun.message.Sequence, at.message.Sequence})
			return nil
		}
		before, err := s.back(ctx, at, at.trail.RunPrevious)
		if err != nil {
			return err
		}
		if before.message.Sequence < begun.message.Sequence {
			return s.astray(at.message.Sequence)
		}
		found.steps = append(found.steps, before)
		at = before
	}
	return nil
}

// read yields the records, in order and each once.
func (p *places) read(ctx context.Context, s *SessionReader, yield func(StoredRecord, error) bool) {
	slices.SortFunc(p.steps, func(a, b *step) int { return cmp.Compare(a.number, b.number) })
	next := uint64(0)
	one := func(message bus.Message) bool {
		if message.Sequence < next {
			return true
		}
		next = message.Sequence + 1
		record, err := ReadRecord(ctx, s.ledger, message)
		return yield(record, err) && err == nil
	}
	for _, at := range p.steps {
		for len(p.dense) > 0 && at.message.Sequence >= p.dense[0].from {
			for message, err := range s.ledger.Scan(ctx, s.stream, p.dense[0].from, s.subject) {
				if err != nil {
					yield(StoredRecord{}, fmt.Errorf("session %s: %w", s.id, err))
					return
				}
				if message.Sequence >= p.dense[0].to {
					break
				}
				if !one(message) {
					return
				}
			}
			p.dense = p.dense[1:]
		}
		if !one(at.message) {
			return
		}
	}
}
