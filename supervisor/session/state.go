package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"podium/schemas"
	"podium/supervisor/plan"
)

// State is everything that is known about one conversation.
type State struct {
	Session string `json:"session"`
	Profile string `json:"profile,omitzero"` // by name
	// Applied is the sequence of the newest input that was decided.
	Applied uint64 `json:"applied"`
	Records uint64 `json:"records"`
	// Runs counts the run numbers given out.
	Runs   int       `json:"runs"`
	Active *plan.Run `json:"active,omitzero"`
	Queue  []Queued  `json:"queue,omitzero"`
	// Seen remembers every message and control word ever taken, so that a
	// repeat changes nothing, however late it comes.
	Seen []Seen `json:"seen,omitzero"`
}

// Queued is a message that waits until the active run has ended.
type Queued struct {
	Run       int              `json:"run"`
	Message   schemas.Incoming `json:"message"`
	Cancelled bool             `json:"cancelled,omitzero"`
}

// Seen is an input's id, shortened to 64 bits of its SHA-256, and the run it concerns.
type Seen struct {
	ID  string `json:"id"`
	Run int    `json:"run,omitzero"`
}

// New returns the state of a conversation before its first message.
func New(session string) State { return State{Session: session} }

// Idle reports whether the session waits for nothing but a new message.
func (s *State) Idle() bool { return s.Active == nil && len(s.Queue) == 0 }

// Deadlines returns the moments that the session waits for.
func (s *State) Deadlines() []schemas.Deadline {
	if s.Active == nil {
		return nil
	}
	return s.Active.Deadlines()
}

// Requests returns what an answer to the session may name: the ids of the
// requests under way, and the plan, which is all that a bare progress update names.
func (s *State) Requests() []string {
	if s.Active == nil {
		return nil
	}
	requests := []string{schemas.PlanID(schemas.RunID(s.Session, s.Active.Number))}
	for i := range s.Active.Tasks {
		if task := &s.Active.Tasks[i]; task.Request != "" {
			requests = append(requests, task.Request)
		}
	}
	if s.Active.Delivery != nil {
		requests = append(requests, s.Active.Delivery.Request)
	}
	return requests
}

// Fold returns the state after a record.
func (s State) Fold(record *schemas.Record) State {
	next := s.clone()
	next.begin(record.Cause, record.Number)
	for i := range record.Facts {
		next.Apply(&record.Facts[i])
	}
	return next
}

func (s *State) begin(cause schemas.Cause, number uint64) {
	s.Records = number
	s.Applied = max(s.Applied, cause.Sequence)
}

func (s *State) clone() State {
	next := *s
	next.Queue = append([]Queued(nil), s.Queue...)
	next.Seen = slices.Clip(s.Seen)
	if s.Active != nil {
		next.Active = s.Active.Clone()
	}
	return next
}

// Apply changes the state by one fact.
func (s *State) Apply(f *schemas.Fact) {
	switch {
	case f.MessageReceived != nil:
		s.applyMessage(f.MessageReceived)
	case f.RunStarted != nil:
		s.Active = plan.Begin(f.RunStarted)
		s.Profile = f.RunStarted.Profile
		if len(s.Queue) > 0 && s.Queue[0].Run == f.RunStarted.Run {
			s.Queue = s.Queue[1:]
		}
	case f.RunEnded != nil:
		if s.Active != nil {
			s.Active.Apply(f)
			s.Active = nil
		}
	default:
		if s.Active != nil {
			s.Active.Apply(f)
		}
	}
}

func (s *State) applyMessage(f *schemas.MessageReceived) {
	s.Seen = append(s.Seen, Seen{ID: shorten(f.ID), Run: f.Run})
	switch f.Disposition {
	case schemas.DispositionStarted:
		s.Runs = max(s.Runs, f.Run)
	case schemas.DispositionQueued:
		s.Runs = max(s.Runs, f.Run)
		queued := Queued{Run: f.Run}
		if f.Message != nil {
			queued.Message = *f.Message
		}
		s.Queue = append(s.Queue, queued)
	case schemas.DispositionControl:
		for i := range s.Queue {
			if s.Queue[i].Run == f.Run {
				s.Queue[i].Cancelled = true
			}
		}
	case schemas.DispositionIgnored, schemas.DispositionRefused:
	}
}

// Has reports whether the session has taken a message or control word of that id.
func (s *State) Has(id string) bool {
	short := shorten(id)
	for i := range s.Seen {
		if s.Seen[i].ID == short {
			return true
		}
	}
	return false
}

func shorten(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
