package session

import (
	"iter"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/seen"
	"podium/schemas/workflow"
)

// State is everything that is known about one session.
type State struct {
	Session string `json:"session"`
	Profile string `json:"profile,omitzero"` // by name
	// Applied is the sequence of the newest input that was decided.
	Applied uint64 `json:"applied"`
	Records uint64 `json:"records"`
	// Runs counts the run numbers given out.
	Runs int `json:"runs"`
	// Closed is the run that has closed the session most recently (O-13).
	Closed int           `json:"closed,omitzero"`
	Active *workflow.Run `json:"active,omitzero"`
	// Ended are the runs that the newest record has ended and that somebody
	// upstream waits for, or whose agents are to be told to stop.
	Ended []*workflow.Run `json:"ended,omitzero"`
	Queue Queue           `json:"queue,omitzero"`
	// Seen remembers every message and control word ever taken, so that a
	// repeat changes nothing, however late it comes.
	Seen seen.Inputs `json:"seen,omitzero"`
	// Recent are the last requests that have ended, oldest first, and Entities
	// what the session is about (G-29).
	Recent   []schemas.RecentCall `json:"recent,omitzero"`
	Entities map[string]string    `json:"entities,omitzero"`
	// Tainted says that some of Entities come from outside.
	Tainted bool `json:"tainted,omitzero"`
	// Said is what was said last, oldest first.
	Said []Utterance `json:"said,omitzero"`
	// Recipients are those of the newest run, to whom Recent, Said and Entities belong.
	Recipients []schemas.Address `json:"recipients,omitzero"`
	// First is the first run of the conversation with Recipients.
	First int `json:"first,omitzero"`
	// Correspondents is what is known of those who were answered; in JSON its members are those of the state. It is never changed in
	// place, and nil where there is nothing: of sessions without an answer by mail there are many.
	Correspondents *Correspondents `json:",embed"`
	// Attempts is what is known of runs for somebody upstream; in JSON its members are those of the state. It is never changed in place.
	Attempts *Attempts `json:",embed"`
	// Resends are answers that are to be sent again, once no other run is under way.
	Resends []schemas.ResendRequested `json:"resends,omitzero"`

	now time.Time // of the record that is applied
}

// New returns the state of a session before its first message.
func New(session string) State { return State{Session: session} }

// Idle reports whether the session waits for nothing but a new message.
func (s *State) Idle() bool { return s.Active == nil && s.Queue.IsZero() }

// Deadlines returns the moments that the session waits for.
func (s *State) Deadlines() []schemas.Deadline {
	if s.Active == nil {
		return nil
	}
	return s.Active.Deadlines()
}

// Requests yields what an answer to the session may name: all attempts of the run under way, in
// a shard of that number and of any epoch, those of runs before whose answers count for it, and the plan,
// which is all that a bare progress update names.
func (s *State) Requests(shard int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.Active == nil {
			return
		}
		run := schemas.RunID(s.Session, s.Active.Number)
		if !yield(schemas.PlanID(run)) {
			return
		}
		for i := range s.Active.TaskCount() {
			task := s.Active.TaskAt(i)
			for attempt := 1; attempt < task.Attempt; attempt++ {
				if !yield(schemas.RequestID(shard, 0, run, task.ID, attempt)) {
					return
				}
			}
			if task.Request != "" && !yield(task.Request) {
				return
			}
		}
		if left := s.leftFor(s.Active); left != nil {
			for i := range left.Calls {
				if !yield(left.Calls[i].Request) {
					return
				}
			}
		}
	}
}

// AwaitingGrant yields the tasks that are ready and wait for a grant, in order. Those that wait for a judge or for the budget do not.
func (s *State) AwaitingGrant(yield func(schemas.Grant, *workflow.Task) bool) {
	judged := s.Active != nil && s.Active.Judge() != nil && !fault.Is("a grant does not wait for the judge")
	for i := range s.Active.TaskCount() {
		task := s.Active.TaskAt(i)
		if judged && s.Active.HoldsBack(task) {
			continue
		}
		if task.State == workflow.TaskReady && !task.Held && !yield(schemas.Grant{Run: s.Active.Number, Task: task.ID}, task) {
			return
		}
	}
}

// AwaitingDay yields the tasks that wait for the budget of a day, in order.
func (s *State) AwaitingDay(yield func(schemas.Grant, *workflow.Task) bool) {
	if s.Active == nil || s.Active.Account == nil || s.Active.Account.Day == "" {
		return
	}
	for i := range s.Active.TaskCount() {
		task := s.Active.TaskAt(i)
		if task.HeldForDay() && !s.Active.HoldsBack(task) && !yield(schemas.Grant{Run: s.Active.Number, Task: task.ID}, task) {
			return
		}
	}
}

// AwaitingAgent yields the tasks that wait for their agent, unless it is noted that
// nobody serves it.
func (s *State) AwaitingAgent(yield func(*workflow.Task) bool) {
	for i := range s.Active.TaskCount() {
		task := s.Active.TaskAt(i)
		if task.Unbegun() && task.Unserved == nil && !yield(task) {
			return
		}
	}
}

// UnderWay yields the tasks that an agent has been asked for and has not answered.
func (s *State) UnderWay(yield func(*workflow.Task) bool) {
	for i := range s.Active.TaskCount() {
		task := s.Active.TaskAt(i)
		if (task.State.UnderWay() || task.State == workflow.TaskWaitingInput && fault.Is("a task that waits for a person keeps its place")) && !yield(task) {
			return
		}
	}
}

// FoldRecord returns the state after a record.
func (s State) FoldRecord(record *schemas.Record) State {
	next := s.clone()
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		next.foldTransition(transition, record.Number)
	}
	return next
}

// FoldTransition returns the state after one transition of a record of that number.
func (s State) FoldTransition(transition *schemas.Transition, record uint64) State {
	next := s.clone()
	next.foldTransition(transition, record)
	return next
}

// WithinRecord returns the state with which to decide one more transition of the
// record that led to it.
func (s State) WithinRecord() State {
	s.Records--
	return s
}

func (s *State) foldTransition(transition *schemas.Transition, record uint64) {
	s.begin(transition.Cause, record)
	for i := range transition.Facts {
		s.Apply(transition.Facts[i])
	}
}

func (s *State) begin(cause schemas.Cause, number uint64) {
	s.Records = number
	s.Applied = max(s.Applied, cause.Sequence)
	s.Ended, s.now = nil, cause.Time
	if cause.Settles != "" {
		s.settle(cause.Settles)
	}
}

func (s *State) clone() State {
	next := *s
	if s.Active != nil {
		next.Active = s.Active.Clone()
	}
	return next
}

// Apply changes the state by one fact.
func (s *State) Apply(f schemas.Fact) {
	switch f := f.(type) {
	case *schemas.MessageReceived:
		s.applyMessage(f)
	case *schemas.RunStarted:
		s.Active, s.Profile = workflow.Begin(f), f.Profile
		s.keepAttempts(s.possibleEffects(), s.left().At(s.now))
		if f.Message.Withheld == "" { // else it is no part of the session
			to := recipients(f.Message.Reply)
			s.turnTo(to, f)
			s.Entities, s.Recipients = f.Entities, to
			s.Tainted = f.Message.FromOutside() && len(f.Entities) > 0
			s.rememberMessage(f)
		}
		if s.Queue.first == f.Run && !s.Queue.IsZero() {
			s.Queue = s.Queue.rest()
		}
	case *schemas.ResendRequested:
		s.Resends = append(slices.Clip(s.Resends), *f)
	case *schemas.DeliveryReopened:
		s.applyReopened(f)
	case *schemas.RunEnded:
		s.applyEnd(f)
	default:
		if s.Active != nil {
			s.Active.Apply(f, s.now)
			if s.Active.Message.Withheld == "" {
				s.rememberCall(f)
				s.rememberWord(f)
			}
			s.rememberReply(f)
		}
		s.rememberPermit(f)
		s.takeOver(f)
	}
}

func (s *State) applyEnd(f *schemas.RunEnded) {
	if s.Active == nil {
		return
	}
	withheld := s.Active.Message.Withheld != ""
	s.Active.Apply(f, s.now)
	s.rememberAnswer(s.Active)
	if s.Active.Message.Upstream != nil || s.Active.Delivery == nil || s.Active.Delivery.State == workflow.TaskCancelled {
		s.Ended = append(s.Ended, s.Active)
	}
	s.leave(f)
	s.Active = nil
	if f.Reason == schemas.StopFinished && !withheld && f.Run >= s.begun() { // else it has gone on since
		s.Closed, s.Recent, s.Said, s.Entities, s.Tainted, s.First = f.Run, nil, nil, nil, false, 0
	}
}

// recentCalls is how many ended requests an agent is told of (G-29).
const recentCalls = 3

// rememberCall keeps the last requests that have ended.
func (s *State) rememberCall(f schemas.Fact) {
	var status schemas.ResponseStatus
	switch f := f.(type) {
	case *schemas.TaskCompleted:
		if f.Attempt > 0 {
			status = schemas.StatusCompleted
		}
	case *schemas.TaskFailed:
		if f.Attempt > 0 && f.Cause != schemas.FailureUnavailable && f.Unrecovered == "" {
			status = schemas.StatusFailed
		}
	default:
	}
	task := s.Active.Task(schemas.TaskOf(f))
	if status == "" || task == nil || task.Plan == nil {
		return
	}
	call := schemas.RecentCall{Request: task.Request, Agent: task.AgentOf(task.Attempt), Task: task.ID, Status: status}
	kept := s.Recent[max(len(s.Recent)-recentCalls+1, 0):]
	s.Recent = append(slices.Clip(kept), call)
}

func (s *State) applyMessage(f *schemas.MessageReceived) {
	s.see(f.ID, f.Run)
	switch f.Disposition {
	case schemas.DispositionStarted:
		s.Runs = max(s.Runs, f.Run)
	case schemas.DispositionQueued:
		s.Runs = max(s.Runs, f.Run)
		message := f.Message
		if message == nil {
			message = &schemas.Incoming{}
		}
		before := s.Queue.waiting
		s.Queue = s.Queue.with(f.Run, message)
		if newest, _ := s.Queue.newest(); fault.Is("the newest message starts first") {
			s.Queue.waiting = s.Queue.waiting.Set(0, newest)
			for place := range before.Len() {
				s.Queue.waiting = s.Queue.waiting.Set(place+1, before.At(place))
			}
		}
	case schemas.DispositionMerged:
		if newest, some := s.Queue.newest(); some && f.Message != nil {
			message := *newest.message
			message.MergedTexts = append(slices.Clip(message.MergedTexts), f.Message.Text)
			message.Reply, message.Files = f.Message.Reply, message.Files+f.Message.Files
			s.Queue = s.Queue.merged(&message)
		}
	case schemas.DispositionControl:
		s.Queue = s.Queue.cancelled(f.Run, f.Final)
	case schemas.DispositionHeld:
		s.keepAttempts(s.possibleEffects(), s.left().WithWord(schemas.InquiryName{Run: f.Run, Inquiry: f.Inquiry}, f.Sequence))
	case schemas.DispositionIgnored, schemas.DispositionRefused, schemas.DispositionAnswered:
	}
}

// begun counts the runs that wait no more.
func (s *State) begun() int { return s.Runs - s.Queue.Len() }

// see remembers that an id was taken.
func (s *State) see(id string, run int) { s.Seen = s.Seen.With(id, run) }

// RunOf returns the run that a message of that id began or waits for; 0 is none.
func (s *State) RunOf(id string) int {
	if place := s.Seen.Find(id); place >= 0 {
		return s.Seen.Run(place)
	}
	return 0
}

// HasTaken reports whether the session has taken a message or control word of that id.
func (s *State) HasTaken(id string) bool { return s.Seen.Find(id) >= 0 }
