package workflow

import (
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// An Inquiry is a question to a person, and what has become of it.
type Inquiry struct {
	schemas.InquiryOpened
	Opened  time.Time `json:"opened"`
	Asked   time.Time `json:"asked,omitzero"`   // when its first notice went out: its times count from there
	Notices int       `json:"notices,omitzero"` // that were made
	// Agreed are the words of those who have agreed while others had to.
	Agreed []*schemas.InquiryAnswered `json:"agreed,omitzero"`
	// Answered is the person's word, and Closed why there is none; both are empty while it is open.
	Answered *schemas.InquiryAnswered `json:"answered,omitzero"`
	Closed   schemas.InquiryReason    `json:"closed,omitzero"`
	Ended    time.Time                `json:"ended,omitzero"`
	// Bounced are those of To whom no letter has reached, when several were asked.
	Bounced []string `json:"bounced,omitzero"`
}

// Addressed are words for whoever is asked: in a thread of several they are called by their names.
func (i *Inquiry) Addressed(words string) string {
	if !i.InThread {
		return words
	}
	return strings.Join(i.People, ", ") + ": " + words
}

// Open reports whether a word on it counts.
func (i *Inquiry) Open() bool { return i.Answered == nil && i.Closed == "" }

// Approved reports whether enough persons have agreed to what it asks.
func (i *Inquiry) Approved() bool {
	return i.Kind.IsApproval() && i.Answered != nil && i.Answered.Choice == schemas.ChoiceApprove && i.Answered.Lacking == 0
}

// Agreements are the words of those who have agreed, the last among them.
func (i *Inquiry) Agreements() []*schemas.InquiryAnswered {
	if i.Answered == nil || i.Answered.Choice != schemas.ChoiceApprove {
		return i.Agreed
	}
	return append(slices.Clip(i.Agreed), i.Answered)
}

// Edited reports whether somebody has changed what they have agreed to.
func (i *Inquiry) Edited() bool { return i.Answered != nil && len(i.Answered.Arguments) > 0 }

// AgreedHash is what was agreed to, and AgreedCall what may be done outside then.
func (i *Inquiry) AgreedHash() string {
	if i.Edited() {
		return i.Answered.Hash
	}
	return i.Hash
}

// AgreedCall is said at AgreedHash.
func (i *Inquiry) AgreedCall() string {
	if i.Edited() {
		return i.Answered.Call
	}
	return i.Call
}

// AgreedOperation is what an agent has proposed, as it was agreed to; nil is nothing.
func (i *Inquiry) AgreedOperation() *schemas.Operation {
	if i.Operation == nil || !i.Edited() {
		return i.Operation
	}
	edited := *i.Operation
	edited.Arguments = i.Answered.Arguments
	return &edited
}

// Disapproved reports whether somebody has said no to what it asks.
func (i *Inquiry) Disapproved() bool {
	return i.Kind.IsApproval() && i.Answered != nil && i.Answered.Choice == schemas.ChoiceReject
}

// Expires is when nobody waits for a word any more; zero while nobody was asked.
func (i *Inquiry) Expires() time.Time {
	if i.Asked.IsZero() {
		return time.Time{}
	}
	return i.Asked.Add(time.Duration(i.Expire))
}

// Reaches reports whether anybody who was asked by a letter may have one.
func (i *Inquiry) Reaches() bool {
	return slices.ContainsFunc(i.To, func(to schemas.Address) bool {
		return !slices.ContainsFunc(i.Bounced, func(lost string) bool { return strings.EqualFold(lost, to.Address) })
	})
}

// without returns the inquiry when a letter has not reached one of those who were asked.
func (i *Inquiry) without(recipient string) *Inquiry {
	if slices.Contains(i.Bounced, recipient) {
		return i
	}
	lost := *i
	lost.Bounced = append(slices.Clip(i.Bounced), recipient)
	return &lost
}

// Inquiry returns the inquiry of that number, or nil.
func (r *Run) Inquiry(number int) *Inquiry {
	if number < 1 || number > len(r.Inquiries) {
		return nil
	}
	return r.Inquiries[number-1]
}

// InquiryNamed returns the inquiry that people name so: one of the run, or one that it has adopted; nil when there is none.
func (r *Run) InquiryNamed(name schemas.InquiryName) *Inquiry {
	if name.Run == r.Number {
		return r.Inquiry(name.Inquiry)
	}
	for _, inquiry := range r.Inquiries {
		if inquiry.Adopts != nil && slices.Contains(inquiry.Adopts.Letters, name) {
			return inquiry
		}
	}
	return nil
}

// InquiryNotifiedBy returns the inquiry of which the newest notification has that id, or nil.
func (r *Run) InquiryNotifiedBy(notification string) *Inquiry {
	for _, inquiry := range r.Inquiries {
		if schemas.NoticeTask(inquiry.Inquiry, inquiry.Notices) == notification {
			return inquiry
		}
	}
	return nil
}

// OpenInquiry returns the oldest inquiry that waits for a word of the requester, or nil. They are asked one thing
// at a time.
func (r *Run) OpenInquiry() *Inquiry {
	for _, inquiry := range r.Inquiries {
		if inquiry.Open() && inquiry.OfRequester() {
			return inquiry
		}
	}
	return nil
}

// AsksAbout returns the open inquiry about the failure of a task, or nil.
func (r *Run) AsksAbout(task string) *Inquiry {
	for _, inquiry := range r.Inquiries {
		if inquiry.Open() && inquiry.Kind.IsTaskFailure() && inquiry.Task == task {
			return inquiry
		}
	}
	return nil
}

// AsksAboutReview returns the open inquiry about the review, or nil, and how often people have said something to one.
func (r *Run) AsksAboutReview() (open *Inquiry, answered int) {
	for _, inquiry := range r.Inquiries {
		switch {
		case !inquiry.Kind.IsReview():
		case inquiry.Open():
			open = inquiry
		case inquiry.Answered != nil:
			answered++
		}
	}
	return open, answered
}

// AsksUpstream returns the oldest inquiry that waits for a word of whoever has asked for the run, or nil.
func (r *Run) AsksUpstream() *Inquiry {
	for _, inquiry := range r.Inquiries {
		if inquiry.Open() && inquiry.Upstream {
			return inquiry
		}
	}
	return nil
}

// Blocked reports whether the run waits for somebody to decide about a failure, and nothing of it goes on meanwhile (M-56).
func (r *Run) Blocked() bool {
	decides := func(inquiry *Inquiry) bool { return inquiry.Open() && inquiry.Kind.IsAboutFailure() }
	if r.Settled() || !slices.ContainsFunc(r.Inquiries, decides) {
		return false
	}
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		if !task.NotifiesPeople() && (task.State.UnderWay() || task.State == TaskReady || task.State == TaskDue || task.State == TaskWaiting) {
			return false
		}
	}
	return true
}

// WaitsForPeople reports whether any inquiry is open.
func (r *Run) WaitsForPeople() bool { return slices.ContainsFunc(r.Inquiries, (*Inquiry).Open) }

// AnswerHeld reports whether people have to agree to the answer, and have not: nothing of it has been sent.
func (r *Run) AnswerHeld() bool {
	about := func(inquiry *Inquiry) bool { return inquiry.Task == schemas.DeliveryTask }
	agreed := func(inquiry *Inquiry) bool { return about(inquiry) && inquiry.Approved() }
	return slices.ContainsFunc(r.Inquiries, about) && !slices.ContainsFunc(r.Inquiries, agreed)
}

// AnswerWaits reports whether the answer waits for people, for its first attempt since they have agreed, or for its budget: until then the run
// can be cancelled.
func (r *Run) AnswerWaits() bool {
	about := func(inquiry *Inquiry) bool { return inquiry.Task == schemas.DeliveryTask }
	unsent := r.Phase == PhaseAssembling && r.Delivery != nil && r.Delivery.Attempt == 0 && !r.Delivery.State.Ended()
	return unsent && (r.AnswerDelayed() || slices.ContainsFunc(r.Inquiries, about))
}

// AnswerDelayed reports whether the answer waits until its budget has capacity for it; no agent was asked to deliver it.
func (r *Run) AnswerDelayed() bool {
	return r.Delivery != nil && r.Delivery.Attempt == 0 && r.Delivery.State == TaskWaiting && r.Delivery.LastFailure == nil
}

// tellsOfAnswer reports whether a task tells people of the answer that they are to agree to.
func tellsOfAnswer(r *Run, about *schemas.TaskAbout) bool {
	if about == nil {
		return false
	}
	inquiry := r.Inquiry(about.HumanTask)
	return inquiry != nil && inquiry.Task == schemas.DeliveryTask
}

// InquiriesOf counts how often a task has asked for what it lacks.
func (r *Run) InquiriesOf(task string) int {
	count := 0
	for _, inquiry := range r.Inquiries {
		if inquiry.Task == task && inquiry.Kind.IsInput() {
			count++
		}
	}
	return count
}

// Escalations counts how often people were asked about failures of a task. Whoever is asked in the place of others is no further time.
func (r *Run) Escalations(task string) int {
	count := 0
	for _, inquiry := range r.Inquiries {
		if inquiry.Task == task && inquiry.Kind.IsTaskFailure() && inquiry.Answered != nil && !fault.Is("people are asked without end") {
			count++
		}
	}
	return count
}

// Proposals counts what a task has proposed to people.
func (r *Run) Proposals(task string) int {
	count := 0
	for _, inquiry := range r.Inquiries {
		if inquiry.Task == task && inquiry.Operation != nil {
			count++
		}
	}
	return count
}

// Explanations counts the notices that tell how an inquiry is decided.
func (r *Run) Explanations(inquiry int) int {
	count := 0
	for _, task := range r.DecisionTasks {
		if task.HumanTask() == inquiry && task.IsExplanation() {
			count++
		}
	}
	return count
}

// Rests reports whether the run's own end is not waited for: a person is asked, and nobody upstream waits.
func (r *Run) Rests() bool {
	return !r.Resting.IsZero() && !fault.Is("a run's own time goes on while a person is asked") && r.Message.Upstream == nil
}

func applyInquiry(r *Run, f schemas.Fact, now time.Time) {
	switch f := f.(type) {
	case *schemas.InquiryOpened:
		if !r.WaitsForPeople() && r.Parked() == nil {
			r.Resting = now
		}
		opened := &Inquiry{InquiryOpened: *f, Opened: now}
		if f.Adopts != nil {
			opened.Asked, opened.Notices, opened.Bounced = f.Adopts.Asked, f.Adopts.Notices, f.Adopts.Bounced
		}
		if f.Upstream {
			opened.Asked = now
		}
		r.Inquiries = append(r.Inquiries, opened)
		if f.Task == schemas.DeliveryTask {
			takeTask(r, f.Task, schemas.TaskKindDeliver, nil).Agent = r.Message.ReplyAgent()
		}
		settleAccount(r, f)
		if task := changeTask(r, f.Task); task != nil {
			ruleOf(f.Kind).suspend(task, f)
		}
	case *schemas.InquiryAnswered:
		if asked := r.Inquiry(f.Inquiry); asked != nil && f.Lacking > 0 && len(f.Arguments) == 0 {
			more := *asked
			more.Agreed = append(slices.Clip(asked.Agreed), f)
			r.Inquiries[f.Inquiry-1] = &more
			return
		}
		raiseAccount(r, f)
		endInquiry(r, f.Inquiry, now, func(ended *Inquiry) { ended.Answered, ended.Ended = f, now })
	case *schemas.InquiryClosed:
		noteUnraised(r, f)
		endInquiry(r, f.Inquiry, now, func(ended *Inquiry) { ended.Closed, ended.Ended = f.Reason, now })
	default:
	}
}

// endInquiry ends an inquiry. A task that has learned what it lacked may go on, and the deadline of the run moves by the time that it has rested.
func endInquiry(r *Run, number int, now time.Time, end func(*Inquiry)) {
	open := r.Inquiry(number)
	if open == nil {
		return
	}
	ended := *open
	end(&ended)
	r.Inquiries[number-1] = &ended
	resumeRun(r, now)
	ruleOf(ended.Kind).resume(r, &ended)
}

// noteNotified notes that a person is told of an inquiry, or will be once there is room.
func noteNotified(r *Run, task *Task, now time.Time) {
	inquiry := r.Inquiry(task.HumanTask())
	if inquiry == nil {
		return
	}
	told := *inquiry
	if task.ID != schemas.NoticeTask(told.Inquiry, told.Notices) && !task.IsExplanation() {
		told.Notices++
	}
	if told.Asked.IsZero() && task.Attempt > 0 {
		told.Asked = now
	}
	r.Inquiries[told.Inquiry-1] = &told
}

func (i *Inquiry) deadlines(to []schemas.Deadline, run int) []schemas.Deadline {
	if !i.Open() || i.Asked.IsZero() {
		return to
	}
	notice := schemas.NoticeTask(i.Inquiry, i.Notices)
	if remind := time.Duration(i.Remind); remind > 0 && remind < time.Duration(i.Expire) && i.Notices == 1 {
		to = append(to, schemas.Deadline{Run: run, Task: notice, Kind: schemas.DeadlineRemind, At: i.Asked.Add(remind)})
	}
	return append(to, schemas.Deadline{Run: run, Task: notice, Kind: schemas.DeadlineInquiry, At: i.Expires()})
}
