package schemas

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"podium/schemas/fault"
)

// A Trail is what a record says in its attributes about the session up to it, so that
// a reader finds the records of one run among those of many, by few steps back from
// the newest. Each number but RunPrevious, Jump and Again only grows from record to record.
type Trail struct {
	Applied uint64 // sequence of the newest input that was decided; never 0
	Runs    uint64 // run numbers given out
	Queued  uint64 // of these, that have not begun
	// Others counts what the session remembers beside the messages that were given a run:
	// further messages, control words, permits that were decided, and answers that count once.
	Others uint64
	// Asides counts the records that speak of a run which was not the current one: of
	// one that has ended, or waits.
	Asides uint64
	// RunPrevious is the sequence of the newest record before this one that speaks of
	// the run that was current by then; 0 is the record before.
	RunPrevious uint64
	// Jump is the sequence of a record further back, such that any one before is
	// reached in a number of steps that grows with the logarithm of the distance
	// (Myers, "An applicative random-access stack", 1983); 0 is the record before.
	Jump uint64
	// Reopened counts how often the delivery of a run was reopened, and Again is the run
	// that was, as long as no other one is current; 0 is none.
	Reopened, Again uint64
}

// errTrail reports a text that String has not written.
var errTrail = errors.New("it is not a trail")

// Begun counts the runs that have begun.
func (t *Trail) Begun() uint64 { return t.Runs - t.Queued }

// Current is the run that is under way or was last: the newest to have begun, or the
// one whose delivery was reopened since.
func (t *Trail) Current() uint64 {
	if t.Again > 0 {
		return t.Again
	}
	return t.Begun()
}

// Turns counts how often a run became the current one.
func (t *Trail) Turns() uint64 { return t.Begun() + t.Reopened }

// Seen counts what the session remembers, as its Seen does.
func (t *Trail) Seen() uint64 { return t.Runs + t.Others }

func (t *Trail) numbers() []*uint64 {
	return []*uint64{&t.Applied, &t.Runs, &t.Queued, &t.Others, &t.Asides, &t.RunPrevious, &t.Jump, &t.Reopened, &t.Again}
}

// String returns the numbers with dots between, in the order of the fields, without
// the zeros at the end.
func (t *Trail) String() string {
	var text []byte
	end := 0
	for i, number := range t.numbers() {
		if i > 0 {
			text = append(text, '.')
		}
		if text = strconv.AppendUint(text, *number, 10); *number > 0 {
			end = len(text)
		}
	}
	return string(text[:end])
}

// ParseTrail reads what String has written.
func ParseTrail(text string) (*Trail, error) {
	parts := strings.Split(text, ".")
	var t Trail
	numbers := t.numbers()
	if len(parts) > len(numbers) {
		return nil, errTrail
	}
	for i, number := range numbers[:len(parts)] {
		var err error
		if *number, err = strconv.ParseUint(parts[i], 10, 64); err != nil {
			return nil, errTrail
		}
	}
	if t.Applied == 0 || t.Queued > t.Runs || t.Again > t.Runs || t.Again > 0 && t.Reopened == 0 {
		return nil, errTrail
	}
	return &t, nil
}

// A Tip is where a session ends: what follows from its records for the trail of the
// next one. The zero value is that of a session without records.
type Tip struct {
	sequence uint64 // of the newest record
	trail    Trail
	own      uint64 // sequence of the newest record that speaks of the current run
	roots    []root
}

// The records of a session form complete binary trees, of which the newest record of
// each is its root: as many trees as a number has digits in skew binary. A record
// jumps over the tree that it is the root of.
type root struct{ size, sequence uint64 }

// Next returns the trail of the record that is to follow.
func (t Tip) Next(record *Record) *Trail {
	next := t.trail
	begun, seen, aside := next.Begun(), next.Seen(), false
	current := next.Current()
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		next.Applied = max(next.Applied, transition.Cause.Sequence)
		if transition.Cause.Settles != "" {
			seen++
		}
		for _, fact := range transition.Facts {
			run := uint64(max(RunOf(fact), 0)) //nolint:gosec // not negative
			switch fact := fact.(type) {
			case *RunStarted:
				begun, current, next.Again = max(begun, run), max(begun, run), 0
			case *DeliveryReopened:
				if fault.Is("an answer that is sent again is not found") {
					continue
				}
				current, next.Again = run, run
				next.Reopened++
			case *MessageReceived:
				seen++
				if fact.Begins() {
					next.Runs = max(next.Runs, run)
					continue
				}
			case *PermitGranted, *PermitRefused:
				seen++
			default:
			}
			aside = aside || run > 0 && run != current
		}
	}
	next.Runs = max(next.Runs, begun)
	next.Queued, next.Others = next.Runs-begun, max(seen, next.Runs)-next.Runs
	next.RunPrevious, next.Jump = t.own, t.jump()
	if aside {
		next.Asides++
	}
	for _, place := range [...]*uint64{&next.RunPrevious, &next.Jump} {
		if *place == t.sequence {
			*place = 0
		}
	}
	return &next
}

// jump returns where the next record jumps to.
func (t *Tip) jump() uint64 {
	if !t.joins() || len(t.roots) < 3 {
		return t.sequence
	}
	return t.roots[len(t.roots)-3].sequence
}

// joins reports whether the next record is the root of the two newest trees.
func (t *Tip) joins() bool {
	n := len(t.roots)
	return n >= 2 && t.roots[n-1].size == t.roots[n-2].size
}

// Roots returns the sequences that a record with a snapshot has to name, so that
// whoever reads from there on knows the tip.
func (t *Tip) Roots() []uint64 {
	var sequences []uint64
	for i := range t.roots {
		sequences = append(sequences, t.roots[i].sequence)
	}
	return sequences
}

// After returns the tip once a record is stored. The trail is the record's own.
func (t Tip) After(record *Record, trail *Trail, sequence uint64) Tip {
	before := t.sequence
	grown := root{1, sequence}
	kept := t.roots
	if t.joins() {
		grown.size += 2 * kept[len(kept)-1].size
		kept = kept[:len(kept)-2]
	}
	t.sequence, t.trail, t.roots = sequence, *trail, append(slices.Clip(kept), grown)
	if t.own = trail.RunPrevious; t.own == 0 && trail.Begun() > 0 {
		t.own = before
	}
	for fact := range record.AllFacts() {
		if run := RunOf(fact); run > 0 && uint64(run) == trail.Current() {
			t.own = sequence
			break
		}
	}
	return t
}

// TipBefore returns the tip before a record with a snapshot, as far as After asks.
// Previous is the sequence of the record before it.
func TipBefore(record *Record, previous uint64) Tip {
	t := Tip{sequence: previous}
	left := record.Number - 1
	for _, sequence := range record.Roots {
		size := uint64(1)
		for 2*size+1 <= left {
			size = 2*size + 1
		}
		t.roots = append(t.roots, root{size, sequence})
		left -= min(size, left)
	}
	return t
}
