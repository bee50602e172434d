package workflow

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// Left is what the runs for one effect have left for the next attempt of whoever is upstream. It is never changed in place.
type Left struct {
	Effect    string        `json:"effect"`
	Inquiries []LeftInquiry `json:"inquiries,omitzero"` // that people know of, at most one of a task and schemas.MaxInquiries
	Results   []LeftResult  `json:"results,omitzero"`   // at most one of a task, together at most maxLeftResults
	Calls     []LeftCall    `json:"calls,omitzero"`     // that may still be answered by a callback, at most MaxCalls; the oldest first
}

// A LeftInquiry is one that people may answer though its run has ended.
type LeftInquiry struct {
	Run     int      `json:"run"`
	Inquiry *Inquiry `json:"inquiry"`
	Word    uint64   `json:"word,omitzero"` // sequence of what was said to it since; 0 while nothing was
	// Uncertain is the one letter by which they may know of it; nil when it is known that one has gone out.
	Uncertain *schemas.UncertainLetter `json:"uncertain,omitzero"`
}

// A LeftResult is what a task was completed with.
type LeftResult struct {
	Agent     string                 `json:"agent"`
	Completed *schemas.TaskCompleted `json:"completed"`
}

// maxLeftResults bounds Left.Results, in bytes of JSON. What is beyond is done again.
const maxLeftResults = 64 << 10

// Letters are the names by which people may answer the inquiry, the oldest first.
func (l *LeftInquiry) Letters() []schemas.InquiryName {
	var letters []schemas.InquiryName
	if l.Inquiry.Adopts != nil {
		letters = append(letters, l.Inquiry.Adopts.Letters...)
	}
	letters = append(letters, schemas.InquiryName{Run: l.Run, Inquiry: l.Inquiry.Inquiry})
	if beyond := len(letters) - schemas.MaxLetters; beyond > 0 { // the first letter is what people have
		letters = slices.Delete(letters, 1, 1+beyond)
	}
	return letters
}

// Over reports whether nobody waits for a word any more, and none was said that decides.
func (l *LeftInquiry) Over(now time.Time) bool {
	return l.Word == 0 && l.Inquiry.Answered == nil && !now.Before(l.Inquiry.Expires())
}

// Words are the sequences of what was said to the inquiry, in that order: to an approval also while its run was under way.
func (l *LeftInquiry) Words() []uint64 {
	var words []uint64
	for _, agreed := range l.Inquiry.Agreements() {
		words = append(words, agreed.Sequence)
	}
	if l.Word > 0 {
		words = append(words, l.Word)
	}
	return words
}

// Named returns the inquiry that people name so, or nil.
func (l *Left) Named(name schemas.InquiryName) *LeftInquiry {
	if l == nil {
		return nil
	}
	for i := range l.Inquiries {
		if slices.Contains(l.Inquiries[i].Letters(), name) {
			return &l.Inquiries[i]
		}
	}
	return nil
}

// InquiryOf returns the inquiry about a task, or nil.
func (l *Left) InquiryOf(task string) *LeftInquiry {
	if l == nil {
		return nil
	}
	at := slices.IndexFunc(l.Inquiries, func(other LeftInquiry) bool { return other.Inquiry.Task == task })
	if at < 0 {
		return nil
	}
	return &l.Inquiries[at]
}

// ResultOf returns the result of a task, or nil.
func (l *Left) ResultOf(task string) *LeftResult {
	if l == nil {
		return nil
	}
	at := slices.IndexFunc(l.Results, func(other LeftResult) bool { return other.Completed.Task == task })
	if at < 0 {
		return nil
	}
	return &l.Results[at]
}

// orNil returns nil for what says nothing.
func (l *Left) orNil() *Left {
	if len(l.Inquiries) == 0 && len(l.Results) == 0 && len(l.Calls) == 0 {
		return nil
	}
	return l
}

// At returns what is left at a moment: without inquiries whose time is over.
func (l *Left) At(now time.Time) *Left {
	if l == nil || !slices.ContainsFunc(l.Inquiries, func(left LeftInquiry) bool { return left.Over(now) }) {
		return l
	}
	rest := *l
	rest.Inquiries = slices.DeleteFunc(slices.Clone(l.Inquiries), func(left LeftInquiry) bool { return left.Over(now) })
	return rest.orNil()
}

// WithWord returns what is left once a word was said to an inquiry. The first counts.
func (l *Left) WithWord(name schemas.InquiryName, sequence uint64) *Left {
	if left := l.Named(name); left == nil || left.Word != 0 || left.Inquiry.Answered != nil {
		return l
	}
	said := *l
	said.Inquiries = slices.Clone(l.Inquiries)
	said.Named(name).Word = sequence
	return &said
}

// Call returns the call with a request, or nil.
func (l *Left) Call(request string) *LeftCall {
	if l == nil {
		return nil
	}
	at := slices.IndexFunc(l.Calls, func(call LeftCall) bool { return call.Request == request })
	if at < 0 {
		return nil
	}
	return &l.Calls[at]
}

// Unsent returns the inquiry of which nobody knows, if what a request was to send has not gone out; else nil. What somebody has said to one has arrived.
func (l *Left) Unsent(request string) *LeftInquiry {
	if l == nil {
		return nil
	}
	at := slices.IndexFunc(l.Inquiries, func(left LeftInquiry) bool {
		return left.Uncertain != nil && left.Uncertain.Request == request && len(left.Words()) == 0
	})
	if at < 0 {
		return nil
	}
	return &l.Inquiries[at]
}

// withLetter returns the place of the inquiry that a letter asks by which people may know of it; -1 is none.
func (l *Left) withLetter(run int, task string) int {
	if l == nil {
		return -1
	}
	return slices.IndexFunc(l.Inquiries, func(left LeftInquiry) bool { return isLetter(left.Uncertain, run, task) })
}

// Late returns what is left once the agent of a letter has answered: nobody knows of an inquiry whose only letter has not gone out.
func (l *Left) Late(f *schemas.ResponseLate) *Left {
	at := l.withLetter(f.Run, f.Task)
	if !f.Undone || at < 0 || fault.Is("a letter that has not gone out is waited for") {
		return l
	}
	return l.Without(l.Inquiries[at].Inquiry.Task)
}

// Doubted returns what is left once another process was refused a permit: see Run.doubt.
func (l *Left) Doubted(f *schemas.PermitRefused) *Left {
	if l == nil {
		return nil
	}
	doubted := *l
	if at := l.withLetter(f.Run, f.Task); at >= 0 {
		doubted.Inquiries = slices.Clone(l.Inquiries)
		doubted.Inquiries[at].Uncertain = nil
	}
	is := func(call LeftCall) bool { return call.Run == f.Run && call.Task == f.Task && call.Attempt == f.Attempt }
	if at := slices.IndexFunc(l.Calls, is); at >= 0 {
		doubted.Calls = slices.Clone(l.Calls)
		doubted.Calls[at].Refused = true
	}
	return &doubted
}

// Bounced returns what is left once a letter has come back: nobody knows of an inquiry whose letter has reached nobody. What somebody has said to one
// has arrived.
func (l *Left) Bounced(f *schemas.DeliveryBounced) *Left {
	lost := l.Named(schemas.InquiryName{Run: f.Run, Inquiry: f.Inquiry})
	switch {
	case !f.Failed || lost == nil || len(lost.Words()) > 0:
		return l
	case f.Recipient == "":
		return l.Without(lost.Inquiry.Task)
	}
	inquiry := lost.Inquiry.without(f.Recipient)
	if !inquiry.Reaches() {
		return l.Without(inquiry.Task)
	}
	rest := *l
	rest.Inquiries = slices.Clone(l.Inquiries)
	rest.Named(schemas.InquiryName{Run: f.Run, Inquiry: f.Inquiry}).Inquiry = inquiry
	return &rest
}

// Without returns what is left without the inquiry about a task: it was adopted, or people are asked anew.
func (l *Left) Without(task string) *Left {
	if l.InquiryOf(task) == nil {
		return l
	}
	rest := *l
	rest.Inquiries = slices.DeleteFunc(slices.Clone(l.Inquiries), func(other LeftInquiry) bool { return other.Inquiry.Task == task })
	return rest.orNil()
}

// LeavesAll reports whether what the run leaves may be taken over: whoever is upstream may ask for the same effect once more.
func (r *Run) LeavesAll() bool {
	return r.Message.Upstream != nil && r.Message.Upstream.Effect != ""
}

// Leave returns what a run that has ended at now leaves, beside what runs before it have left and it has not touched.
func (r *Run) Leave(before *Left, now time.Time) *Left {
	left := Left{Effect: r.Message.Upstream.Effect}
	if before != nil && before.Effect == left.Effect {
		left.Results, left.Calls = before.Results, before.Calls
		if rest := before.At(now); rest != nil {
			left.Inquiries = slices.Clone(rest.Inquiries)
		}
	}
	for i, inquiry := range r.Inquiries {
		newer := slices.ContainsFunc(r.Inquiries[i+1:], func(other *Inquiry) bool { return other.Task == inquiry.Task })
		if own := (LeftInquiry{Run: r.Number, Inquiry: asTold(r, inquiry), Uncertain: r.Uncertain(inquiry)}); !newer && leavesInquiry(r, inquiry) && !own.Over(now) {
			left.Inquiries = append(left.Inquiries, own)
		}
	}
	left.Inquiries = left.Inquiries[max(len(left.Inquiries)-schemas.MaxInquiries, 0):]
	left.Calls = leaveCalls(r, left.Calls)
	return left.orNil()
}

// leavesInquiry reports whether people may still answer an inquiry of a run that has ended: they were written to, as far as
// is known, and it has come to nothing because of the run alone.
func leavesInquiry(r *Run, inquiry *Inquiry) bool {
	if inquiry.Told == "" || len(inquiry.People) == 0 || inquiry.Asked.IsZero() {
		return false
	}
	if inquiry.Approved() { // an effect that may have happened is for people to look at once more
		task := r.Task(inquiry.Task)
		return !inquiry.Edited() && task != nil && task.State != TaskCompleted && task.Permit == ""
	}
	switch inquiry.Closed {
	case schemas.InquiryCancelled, schemas.InquirySuperseded, schemas.InquiryWithdrawn:
	case schemas.InquiryExpired, schemas.InquiryUnreachable:
		return false
	default: // it was answered
		return false
	}
	return inquiry.Adopts != nil || slices.ContainsFunc(r.DecisionTasks, func(notice *Task) bool {
		return notice.HumanTask() == inquiry.Inquiry && notice.mayHaveTold()
	})
}

// asTold returns an inquiry without a reminder that was taken back before it went out: whoever takes it over has to make it.
func asTold(r *Run, inquiry *Inquiry) *Inquiry {
	newest := schemas.NoticeTask(inquiry.Inquiry, inquiry.Notices)
	unsent := func(notice *Task) bool { return notice.ID == newest && !notice.mayHaveTold() }
	if inquiry.Notices < 2 || !slices.ContainsFunc(r.DecisionTasks, unsent) {
		return inquiry
	}
	told := *inquiry
	told.Notices--
	return &told
}

// mayHaveTold reports whether a notice has gone out, as far as is known.
func (t *Task) mayHaveTold() bool { return t.State == TaskCompleted || t.Permit != "" }

// Completed returns what is left once a task of a run was completed. What stands in an answer is left there, and what there is no room
// for is left out: it is done again.
func (r *Run) Completed(before *Left, f *schemas.TaskCompleted) *Left {
	task := r.Task(f.Task)
	if f.Told == "" || task == nil || !r.LeavesAll() {
		return before
	}
	left := Left{Effect: r.Message.Upstream.Effect}
	if before != nil && before.Effect == left.Effect {
		left = *before
	}
	left.Results = slices.DeleteFunc(slices.Clone(left.Results), func(other LeftResult) bool { return other.Completed.Task == f.Task })
	completed := *f
	completed.Attempt, completed.Recovered, completed.Tokens, completed.Brought, completed.Permit = 0, "", 0, 0, task.Permit
	if f.Sequence > 0 && f.Result.Sequence == 0 {
		completed.Result = schemas.Content{Result: schemas.Result{MediaType: f.Result.MediaType}, Sequence: f.Sequence, Size: len(f.Result.Text)}
	}
	left.Results = append(left.Results, LeftResult{Agent: task.Agent, Completed: &completed})
	if body, err := schemas.Marshal(left.Results); err != nil || len(body) > maxLeftResults {
		left.Results = left.Results[:len(left.Results)-1]
	}
	return left.orNil()
}
