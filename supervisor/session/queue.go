package session

import (
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"podium/schemas"
	"podium/schemas/immutable"
)

// A Queue holds the messages that wait until the active run has ended, oldest
// first. Their runs have consecutive numbers.
//
// It is small, however many wait: of most of them it keeps the sequence of the
// input, and once what many have in common. The rest is read from the input when
// its turn comes. The newest is held whole, since more may become part of it, and so
// is what the input alone does not say.
type Queue struct {
	first   int // run of the oldest
	waiting immutable.List[waiting]
}

// waiting is a message in a queue.
type waiting struct {
	sequence uint64
	// message is all of it; of a referred one what its input does not say, or what is
	// asked about it before its turn, in one place for all that are alike.
	message   *schemas.Incoming
	referred  bool
	cancelled bool
	final     bool // a person has
}

// Queued is a message that waits until the active run has ended.
type Queued struct {
	Run int
	// Message has at least Channel, Language, Withheld and Upstream, and of Reply who sends the
	// answer to whom. It is shared: nobody changes it.
	Message   *schemas.Incoming
	Cancelled bool
}

// errQueue reports a text that MarshalJSON has not written.
var errQueue = errors.New("it does not say which messages wait")

// IsZero reports whether nothing waits.
func (q Queue) IsZero() bool { return q.Len() == 0 }

// Len counts the messages that wait.
func (q Queue) Len() int { return q.waiting.Len() }

// All yields the messages that wait, oldest first.
func (q Queue) All() iter.Seq[Queued] {
	return func(yield func(Queued) bool) {
		run := q.first
		for w := range q.waiting.All() {
			if !yield(Queued{Run: run, Message: w.message, Cancelled: w.cancelled}) {
				return
			}
			run++
		}
	}
}

// has reports whether a run waits.
func (q Queue) has(run int) bool { return run >= q.first && run < q.first+q.Len() }

// newest returns the newest message that waits; false when there is none.
func (q Queue) newest() (waiting, bool) {
	if q.Len() == 0 {
		return waiting{}, false
	}
	return q.waiting.At(q.Len() - 1), true
}

// with returns the queue with one message more.
func (q Queue) with(run int, message *schemas.Incoming) Queue {
	switch n := q.Len(); n {
	case 0:
		q.first = run
	case 1:
		q.waiting = q.waiting.Set(0, q.waiting.At(0).referring(waiting{}))
	default:
		q.waiting = q.waiting.Set(n-1, q.waiting.At(n-1).referring(q.waiting.At(n-2)))
	}
	q.waiting = q.waiting.With(waiting{sequence: message.Sequence, message: message})
	return q
}

// referring returns a message as a queue holds it that is not the newest any more:
// a reference, if nothing is lost by it.
func (w waiting) referring(before waiting) waiting {
	if w.referred || !referable(w.message) {
		return w
	}
	w.referred = true
	if before.referred && sameSharedPart(before.message, w.message) {
		w.message = before.message
	} else {
		w.message = sharedPart(w.message)
	}
	return w
}

// referable reports whether a message follows from its input and what common keeps.
func referable(m *schemas.Incoming) bool {
	plain := m.Text.Sequence == m.Sequence && m.Text.Offset == 0 && m.Text.Text == "" && m.Text.Data == nil && m.Text.MediaType == ""
	return plain && m.Upstream == nil && m.Reply != nil && len(m.MergedTexts) == 0 && len(m.Entities) == 0 && len(m.Proven) == 0
}

// sharedPart returns what a queue keeps of a message beside its sequence.
func sharedPart(m *schemas.Incoming) *schemas.Incoming {
	return &schemas.Incoming{Channel: m.Channel, Language: m.Language, Withheld: m.Withheld, Reply: &schemas.Reply{Agent: m.Reply.Agent, To: m.Reply.To}}
}

func sameSharedPart(kept, m *schemas.Incoming) bool {
	return kept.Channel == m.Channel && kept.Language == m.Language && kept.Withheld == m.Withheld && kept.Reply.Agent == m.Reply.Agent && slices.Equal(kept.Reply.To, m.Reply.To)
}

// merged returns the queue with another message in the place of the newest.
func (q Queue) merged(message *schemas.Incoming) Queue {
	w, _ := q.newest()
	w.message, w.referred = message, false
	q.waiting = q.waiting.Set(q.Len()-1, w)
	return q
}

// cancelled returns the queue in which a run is to end as soon as it begins. Final says that a person has cancelled it.
func (q Queue) cancelled(run int, final bool) Queue {
	if q.has(run) {
		w := q.waiting.At(run - q.first)
		w.cancelled, w.final = true, w.final || final
		q.waiting = q.waiting.Set(run-q.first, w)
	}
	return q
}

// rest returns the queue without its oldest message.
func (q Queue) rest() Queue {
	q.first, q.waiting = q.first+1, q.waiting.Rest()
	return q
}

// A queueSegment is what a snapshot has of a queue: one message, or several that are
// alike and referred to.
type queueSegment struct {
	Run       int               `json:"run"` // of the first
	Message   *schemas.Incoming `json:"message,omitzero"`
	Cancelled bool              `json:"cancelled,omitzero"`
	Final     bool              `json:"final,omitzero"` // a person has cancelled it
	// Sequences are those of the inputs that are referred to, each as its distance
	// from the one before it, in varints as encoding/binary has them.
	Sequences []byte            `json:"sequences,omitzero"`
	Channel   string            `json:"channel,omitzero"`
	Language  string            `json:"language,omitzero"`
	Agent     string            `json:"agent,omitzero"`
	To        []schemas.Address `json:"to,omitzero"`

	Withheld schemas.WithheldReason `json:"withheld,omitzero"`
}

// MarshalJSON returns an array of segments.
func (q Queue) MarshalJSON() ([]byte, error) {
	segments := []queueSegment{}
	var before waiting
	run := q.first
	for w := range q.waiting.All() {
		switch {
		case !w.referred:
			segments = append(segments, queueSegment{Run: run, Message: w.message, Cancelled: w.cancelled, Final: w.final})
		case before.referred && before.cancelled == w.cancelled && before.final == w.final && sameSharedPart(before.message, w.message):
			last := &segments[len(segments)-1]
			last.Sequences = binary.AppendUvarint(last.Sequences, w.sequence-before.sequence)
		default:
			m := w.message
			segments = append(segments, queueSegment{
				Run: run, Cancelled: w.cancelled, Final: w.final, Sequences: binary.AppendUvarint(nil, w.sequence),
				Channel: m.Channel, Language: m.Language, Agent: m.Reply.Agent, To: m.Reply.To, Withheld: m.Withheld,
			})
		}
		before = w
		run++
	}
	return schemas.Marshal(segments)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (q *Queue) UnmarshalJSON(body []byte) error {
	var segments []queueSegment
	if err := schemas.Unmarshal(body, &segments); err != nil {
		return errors.Join(errQueue, err)
	}
	var read []waiting
	for i := range segments {
		s := &segments[i]
		if s.Run != segments[0].Run+len(read) || (s.Message == nil) == (len(s.Sequences) == 0) {
			return errQueue
		}
		if s.Message != nil {
			read = append(read, waiting{sequence: s.Message.Sequence, message: s.Message, cancelled: s.Cancelled, final: s.Final})
			continue
		}
		of := &schemas.Incoming{Channel: s.Channel, Language: s.Language, Withheld: s.Withheld, Reply: &schemas.Reply{Agent: s.Agent, To: s.To}}
		for sequence, left := uint64(0), s.Sequences; len(left) > 0; {
			distance, n := binary.Uvarint(left)
			if n <= 0 {
				return errQueue
			}
			sequence, left = sequence+distance, left[n:]
			read = append(read, waiting{sequence: sequence, message: of, referred: true, cancelled: s.Cancelled, final: s.Final})
		}
	}
	*q = Queue{waiting: immutable.ListOf(read)}
	if len(segments) > 0 {
		q.first = segments[0].Run
	}
	return nil
}
