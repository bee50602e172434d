package workflow

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// A Call is a request to an agent that may answer it by a callback, however late.
type Call struct {
	Attempt int    `json:"attempt"`
	Request string `json:"request"`
	Agent   string `json:"agent"`
	Told    string `json:"told"` // the hash of what the agent is told
	// Refused says that a process which was handed the request once more was refused a permit: that this one has failed says nothing of the work.
	Refused bool `json:"refused,omitzero"`
}

// A LeftCall is a call that a run has made for a task of it, and that was not the end of that.
type LeftCall struct {
	Run  int    `json:"run"`
	Task string `json:"task"`
	Call
}

// MaxCalls bounds the calls that a task remembers, and those that runs leave. Answers to older ones are late.
const MaxCalls = 64

// Asked is what a task remembers of its requests. It is never changed in place.
type Asked struct {
	Calls []Call `json:"calls,omitzero"` // the oldest first
	// Permitted is, of a notice, the request that alone was permitted; empty when there is none, or another process may have been permitted too.
	Permitted string `json:"permitted,omitzero"`
	// WaitingUntil is there while the agent of the attempt under way waits and has let go of it, as that says: until when. It stands here for the room that a task takes.
	WaitingUntil *time.Time `json:"waiting_until,omitzero"`
}

// WaitingUntil is until when its agent waits and has let go of it, as that says; nil is that it does not. Then the task takes no place at the agent.
func (t *Task) WaitingUntil() *time.Time {
	if t.Asked == nil {
		return nil
	}
	return t.Asked.WaitingUntil
}

// letGo notes that its agent waits and has let go of it; the zero time is that it does not.
func (t *Task) letGo(until time.Time) {
	if until.IsZero() && t.WaitingUntil() == nil {
		return
	}
	asked := Asked{Calls: t.calls(), Permitted: t.permitted()}
	if !until.IsZero() {
		asked.WaitingUntil = &until
	}
	if t.Asked = &asked; asked.Calls == nil && asked.Permitted == "" && asked.WaitingUntil == nil {
		t.Asked = nil
	}
}

// calls are all that the task remembers.
func (t *Task) calls() []Call {
	if t.Asked == nil {
		return nil
	}
	return t.Asked.Calls
}

// Call returns what the task remembers of a request; false when it was made in a past that is lost, or to somebody who does not answer by
// callbacks.
func (t *Task) Call(request string) (Call, bool) {
	calls := t.calls()
	at := slices.IndexFunc(calls, func(call Call) bool { return call.Request == request })
	if at < 0 {
		return Call{}, false
	}
	return calls[at], true
}

// called notes a request, if its agent may answer it by a callback.
func (t *Task) called(f *schemas.TaskDispatched) {
	if f.Told == "" {
		return
	}
	calls := append(slices.Clip(t.calls()), Call{Attempt: f.Attempt, Request: f.Request, Agent: f.Agent, Told: f.Told})
	t.Asked = &Asked{Calls: newest(calls)}
}

// permitted is the request that alone was permitted; see Asked.
func (t *Task) permitted() string {
	if t.Asked == nil {
		return ""
	}
	return t.Asked.Permitted
}

// permit notes to which request a notice was permitted. Once another one may have been, its answer says nothing of the first.
func (t *Task) permit(request string) {
	if request == t.permitted() {
		return
	}
	t.Asked = nil // a notice has no calls
	if request != "" {
		t.Asked = &Asked{Permitted: request}
	}
}

// noticeIsPermitted notes what becomes of the permit of a notice.
func noticeIsPermitted(t *Task, f schemas.Fact) {
	if t.HumanTask() == 0 {
		return
	}
	switch f := f.(type) {
	case *schemas.PermitGranted:
		if f.Again {
			t.permit("")
		} else {
			t.permit(t.Request)
		}
	case *schemas.TaskFailed:
		if t.Permit == "" {
			t.permit("")
		}
	default:
	}
}

// noteDoubt notes that another process was handed a request, and was not permitted: what it answers says nothing of the process that was.
func noteDoubt(r *Run, f *schemas.PermitRefused) {
	if f.Run == r.Number {
		if task := r.Task(f.Task); task != nil && f.Reason == schemas.PermitUnapproved && f.Attempt == task.Attempt {
			changeTask(r, f.Task).Unapproved = true
		}
		switch task := r.Task(f.Task); {
		case task == nil:
		case task.Asked != nil:
			changeTask(r, f.Task).refuse(f.Attempt)
		case task.Kind != schemas.TaskKindWork && task.Kind != schemas.TaskKindDeliver && f.Attempt == task.Attempt && !fault.Is("the failure of who was refused ends another attempt at a question"): // a question is no call, but for this
			changeTask(r, f.Task).Asked = &Asked{Calls: []Call{{Attempt: f.Attempt, Request: task.Request, Agent: task.Agent, Refused: true}}}
		}
		return
	}
	for i, inquiry := range r.Inquiries {
		if inquiry.Adopts == nil || !isLetter(inquiry.Adopts.Uncertain, f.Run, f.Task) {
			continue
		}
		doubted, adopts := *inquiry, *inquiry.Adopts
		adopts.Uncertain = nil
		doubted.Adopts = &adopts
		r.Inquiries[i] = &doubted
	}
}

// refuse notes that a process which was handed the request of an attempt was refused a permit.
func (t *Task) refuse(attempt int) {
	t.permit("")
	calls := slices.Clone(t.calls())
	for i := range calls {
		calls[i].Refused = calls[i].Refused || calls[i].Attempt == attempt
	}
	if calls != nil {
		t.Asked = &Asked{Calls: calls, WaitingUntil: t.WaitingUntil()}
	}
}

func isLetter(letter *schemas.UncertainLetter, run int, task string) bool {
	return letter != nil && letter.Run == run && letter.Task == task
}

// Uncertain returns the one letter by which people may know of an inquiry, when nobody but who was to send it can say whether it has gone out; nil when
// it is known that one has, or several may have.
func (r *Run) Uncertain(inquiry *Inquiry) *schemas.UncertainLetter {
	var letter *schemas.UncertainLetter
	if inquiry.Adopts != nil {
		if letter = inquiry.Adopts.Uncertain; letter == nil {
			return nil
		}
	}
	for _, notice := range r.DecisionTasks {
		switch {
		case notice.HumanTask() != inquiry.Inquiry || !notice.mayHaveTold():
		case notice.State == TaskCompleted || letter != nil || notice.permitted() == "":
			return nil
		default:
			letter = &schemas.UncertainLetter{Run: r.Number, Task: notice.ID, Request: notice.permitted()}
		}
	}
	return letter
}

// leaveCalls returns the calls that may still be answered when the run has ended: its own, and those before it, for tasks that it has not completed.
func leaveCalls(r *Run, before []LeftCall) []LeftCall {
	var left []LeftCall
	for i := range before {
		if task := r.Task(before[i].Task); task == nil || task.State != TaskCompleted {
			left = append(left, before[i])
		}
	}
	for _, task := range r.Tasks {
		if task.State == TaskCompleted {
			continue
		}
		for _, call := range task.calls() {
			left = append(left, LeftCall{Run: r.Number, Task: task.ID, Call: call})
		}
	}
	return newest(left)
}

func newest[C any](calls []C) []C { return calls[max(len(calls)-MaxCalls, 0):] }
