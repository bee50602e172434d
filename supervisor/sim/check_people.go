package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/schemas"
)

// The invariants that speak of people. Whom they are of, what they are asked, and which of their words decides what,
// are policies.
const (
	InquiriesNumbered    = "an inquiry has the next number of its run"
	InquiriesEndOnce     = "an inquiry ends once, by a word or for a reason"
	AskedOnce            = "a person is told of an inquiry once, and reminded once, while it is open"
	WaitingIsSilent      = "nothing is done for a task while it waits for a person"
	WaitingHoldsNothing  = "who waits for a person keeps nobody from an agent or a resource"
	WordsHaveOneFate     = "a word is an answer to one inquiry, or a message like any other"
	ApprovedBeforeActing = "what somebody has to agree to begins once somebody has, to what is known by then and for the agent that does it"
	AnswersWait          = "an answer that people have to agree to goes out once enough of them have, and never else"
)

func inquiriesAreNumbered(o *oracle, m *moment) {
	f := schemas.As[*schemas.InquiryOpened](m.fact)
	if f != nil && f.Inquiry != len(m.run.inquiries)+1 {
		o.world.violate(InquiriesNumbered, "%s: inquiry %d follows %d", m.id, f.Inquiry, len(m.run.inquiries))
	}
}

// endsWhileOpen: what ends has not ended before.
func endsWhileOpen(o *oracle, m *moment) {
	number := 0
	if answered := schemas.As[*schemas.InquiryAnswered](m.fact); answered != nil {
		number = answered.Inquiry
	} else if closed := schemas.As[*schemas.InquiryClosed](m.fact); closed != nil {
		number = closed.Inquiry
	}
	if i := m.run.inquiry(number); number > 0 && (i == nil || !i.open) {
		o.world.violate(InquiriesEndOnce, "%s: inquiry %d ends and is not open", m.id, number)
	}
}

// inquiriesEndOnce: none is open at the end.
func inquiriesEndOnce(o *oracle, session *sessionHistory) {
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			if i.open || (i.answered == nil) == (i.closed == "") {
				o.world.violate(InquiriesEndOnce, "%s: inquiry %d has not ended", r.id(), i.number)
			}
		}
	}
}

// askedOnce: a second notice is a reminder, and there is no third, whoever owns the shard.
func askedOnce(o *oracle, m *moment) {
	ready, dispatched := schemas.As[*schemas.TaskReady](m.fact), schemas.As[*schemas.TaskDispatched](m.fact)
	id := schemas.TaskOf(m.fact)
	number := noticeOf(id)
	if ready == nil && dispatched == nil || number == 0 || m.task != nil && m.task.planned != nil {
		return
	}
	i := m.run.inquiry(number)
	switch {
	case i == nil || !i.open || i.fact.Upstream:
		o.world.violate(AskedOnce, "%s: %s of inquiry %d, which is not open", m.id, m.fact.Name(), number)
	case dispatched != nil && dispatched.Attempt == 1 && m.task != nil && m.task.attempts > 0:
		o.world.violate(AskedOnce, "%s: inquiry %d is told once more from the beginning", m.id, number)
	case isExplanation(id) && i.fact.Kind.IsRestricted():
	case i.fact.Adopts != nil && (id == schemas.NoticeTask(number, 1) || i.fact.Adopts.Notices > 1):
		o.world.violate(AskedOnce, "%s: inquiry %d is told, and those who are asked know of it by %d letters", m.id, number, i.fact.Adopts.Notices)
	case id == schemas.NoticeTask(number, 1):
	case id != schemas.NoticeTask(number, 2) || i.fact.Remind == 0 || m.task == nil && (m.cause.Deadline == nil || m.cause.Deadline.Kind != schemas.DeadlineRemind):
		o.world.violate(AskedOnce, "%s: %s of inquiry %d", m.id, m.fact.Name(), number)
	}
}

// waitingIsSilent: only the end of the run goes on without the word.
func waitingIsSilent(o *oracle, m *moment) {
	if m.task == nil || m.task.state != taskAsked || !m.run.awaits(m.task) || schemas.As[*schemas.TaskCancelled](m.fact) != nil || schemas.As[*schemas.PermitRefused](m.fact) != nil ||
		schemas.As[*schemas.ResponseLate](m.fact) != nil {
		return
	}
	if filled := schemas.As[*schemas.ArgumentsFilled](m.fact); filled != nil && filled.Edited {
		return // by whoever agrees
	}
	o.world.violate(WaitingIsSilent, "%s: %s, and it waits for a person", m.id, m.fact.Name())
}

// longWait is longer than anything that is no person keeps others waiting, once nothing goes wrong.
const longWait = 11 * time.Minute

// waitingHoldsNothing: nobody begins only now that a person has answered, because somebody else's task waited for that.
// Who is held waits for the budget of its own run. In worlds of tiers a supervisor may keep others from itself and from
// a resource for longer; see roomIsGiven.
func (o *oracle) waitingHoldsNothing(m *moment, t *task) {
	if t.state != taskReady || t.held || o.world.calmSince.IsZero() || o.world.tiers != nil && (t.agent == tower || len(t.resources()) > 0) {
		return
	}
	for _, i := range o.asked {
		other := i.task
		if i.open || other == nil || other.run == t.run ||
			other.agent != t.agent && !slices.ContainsFunc(t.resources(), func(r string) bool { return slices.Contains(other.resources(), r) }) {
			continue
		}
		since := later(later(i.opened, t.begun), o.world.calmSince)
		if i.ended.Sub(since) > longWait && !m.cause.Time.Before(i.ended) {
			o.world.violate(WaitingHoldsNothing, "%s begins at %s, and has waited since %s while %s/%s waited for a person",
				m.id, m.cause.Time, t.begun, other.run.id(), other.id)
		}
	}
}

// wordsHaveOneFate: each message that is an answer stands for one, and begins nothing. A further attempt of whoever is
// upstream goes by what was said before.
func wordsHaveOneFate(o *oracle, session *sessionHistory) {
	answers := map[uint64]*inquiry{}
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			for _, word := range i.words() {
				if asked := answers[word.Sequence]; asked != nil && (i.fact.Adopts == nil || i.oldest() != asked.oldest()) {
					o.world.violate(WordsHaveOneFate, "%s: inquiry %d is answered by %d, as inquiry %d is", r.id(), i.number, word.Sequence, asked.number)
				}
				answers[word.Sequence] = i
			}
		}
	}
	count := 0
	for id, received := range session.messages {
		for n := range received {
			_, answered := answers[received[n].Sequence]
			disposition := received[n].Disposition
			if answered != (disposition == schemas.DispositionAnswered) && disposition != schemas.DispositionHeld {
				o.world.violate(WordsHaveOneFate, "session %s: message %s is %s, and answers: %t", session.id, id, disposition, answered)
			}
			if answered {
				count++
			}
		}
	}
	if count != len(answers) {
		o.world.violate(WordsHaveOneFate, "session %s: %d messages are answers, and %d were given", session.id, count, len(answers))
	}
	for _, r := range session.runs {
		began := answers[r.message.Sequence] != nil
		for n := range r.message.MergedTexts {
			began = began || answers[r.message.MergedTexts[n].Sequence] != nil
		}
		if began {
			o.world.violate(WordsHaveOneFate, "%s begins with the answer to an inquiry", r.id())
		}
	}
}

// commandsAreTaken: each word to the service itself about a run is on record once.
func commandsAreTaken(o *oracle) {
	if o.world.people == nil {
		return
	}
	for _, said := range o.world.people.commands {
		if session := o.sessions[said.session]; session == nil || len(session.messages[said.id]) != 1 {
			o.world.violate(WordsHaveOneFate, "command %s was not taken once", said.id)
		}
	}
}

// approvalRule is the rule by which somebody has to agree to a task; nil is none. No rule of these worlds is tainted.
func (r *run) approvalRule(t *task, agent string) *schemas.ApprovalRule {
	if t == nil || t.planned == nil {
		return nil
	}
	for n := range r.profile.Approval {
		if rule := &r.profile.Approval[n]; slices.Contains(rule.Agents, agent) && t.planned.Seconds >= rule.Seconds {
			return rule
		}
	}
	return nil
}

// approvedBeforeActing: a word is for what was known when it was asked for. An answer to the same task and another
// agent make something else of it.
func approvedBeforeActing(o *oracle, m *moment, f *schemas.TaskDispatched) {
	if m.task == nil {
		return
	}
	rule, agreed := m.run.approvalRule(m.task, f.Agent), m.run.inquiry(f.Approval)
	if rule == nil && agreed == nil {
		return
	}
	if agreed == nil || !agreed.approved() || agreed.task != m.task || agreed.agent != f.Agent {
		o.world.violate(ApprovedBeforeActing, "%s: attempt %d of agent %s begins by inquiry %d, and nobody has agreed to that", m.id, f.Attempt, f.Agent, f.Approval)
		return
	}
	for _, i := range m.run.inquiries {
		if i.fact.Kind.IsInput() && i.task == m.task && i.answered != nil && i.number > f.Approval {
			o.world.violate(ApprovedBeforeActing, "%s: attempt %d begins by inquiry %d, and inquiry %d was answered since", m.id, f.Attempt, f.Approval, i.number)
		}
	}
}

// answerRule is the rule by which people have to agree to the answer of a run; nil when nobody has to, since it goes
// upstream or by itself.
func (r *run) answerRule() *schemas.ApprovalRule {
	if r.message.Reply == nil || r.message.Reply.Agent == "" || r.message.Upstream != nil || r.message.Withheld != "" {
		return nil
	}
	for n := range r.profile.Approval {
		if rule := &r.profile.Approval[n]; rule.Delivery {
			return rule
		}
	}
	return nil
}

// agreedTo reports whether enough persons have agreed to the answer, each counted once.
func (r *run) agreedTo() bool {
	persons, approved := map[string]bool{}, false
	for _, i := range r.inquiries {
		for _, word := range i.words() {
			if i.ofAnswer() && word.Choice == schemas.ChoiceApprove {
				persons[word.Actor.ID] = true
			}
		}
		approved = approved || i.ofAnswer() && i.approved()
	}
	return approved && len(persons) >= max(r.answerRule().Need, 1)
}

// asksAboutAnswer reports whether a fact is about a notice by which people learn of the answer.
func (m *moment) asksAboutAnswer() bool {
	i := m.run.inquiry(noticeOf(schemas.TaskOf(m.fact)))
	return i != nil && i.ofAnswer()
}

// answersWait: the first attempt to deliver follows leave, whoever has asked for it, and what is sent again has had it.
func answersWait(o *oracle, m *moment) {
	reopened := schemas.As[*schemas.DeliveryReopened](m.fact) != nil
	asked := schemas.As[*schemas.TaskDispatched](m.fact) != nil || schemas.As[*schemas.PermitGranted](m.fact) != nil
	if m.run.answerRule() == nil || !reopened && (!asked || schemas.TaskOf(m.fact) != schemas.DeliveryTask) || m.run.agreedTo() {
		return
	}
	o.world.violate(AnswersWait, "%s: %s, and nobody has agreed to the answer", m.id, m.fact.Name())
}

// An inquiry is what a person is asked, as the records have it.
type inquiry struct {
	run      *run
	task     *task
	number   int
	fact     *schemas.InquiryOpened
	agent    string // of the task, when it was asked
	opened   time.Time
	open     bool
	ended    time.Time
	answered *schemas.InquiryAnswered
	agreed   []*schemas.InquiryAnswered // the words of those who have agreed while others had to
	closed   schemas.InquiryReason
}

func (i *inquiry) ofAnswer() bool {
	return i.fact.Kind.IsApproval() && i.fact.Task == schemas.DeliveryTask
}

func (i *inquiry) approved() bool {
	return i.fact.Kind.IsApproval() && i.answered != nil && i.answered.Choice == schemas.ChoiceApprove && i.answered.Lacking == 0
}

// retried reports whether somebody has a task tried once more that has failed.
func (i *inquiry) retried() bool {
	return i.fact.Kind.IsAboutFailure() && i.answered != nil && i.answered.Choice == schemas.ChoiceRetry
}

// words are all that count of an inquiry.
func (i *inquiry) words() []*schemas.InquiryAnswered {
	if i.answered == nil {
		return i.agreed
	}
	return append(slices.Clip(i.agreed), i.answered)
}

// oldest is the first name by which people know an inquiry.
func (i *inquiry) oldest() schemas.InquiryName {
	if i.fact.Adopts != nil && len(i.fact.Adopts.Letters) > 0 {
		return i.fact.Adopts.Letters[0]
	}
	return schemas.InquiryName{Run: i.run.number, Inquiry: i.number}
}

func (r *run) inquiry(number int) *inquiry {
	if number < 1 || number > len(r.inquiries) {
		return nil
	}
	return r.inquiries[number-1]
}

// awaits reports whether a person is asked for something that a task lacks.
func (r *run) awaits(t *task) bool {
	return slices.ContainsFunc(r.inquiries, func(i *inquiry) bool { return i.open && i.task == t })
}

// opens lets a task wait for a person: an attempt that has led to that is over.
func (o *oracle) opens(m *moment, f *schemas.InquiryOpened) {
	if m.task == nil && f.Task == schemas.DeliveryTask && f.Kind.IsApproval() && m.run.message.Reply != nil {
		m.task = &task{run: m.run, id: f.Task, agent: m.run.message.Reply.Agent}
		m.run.aside = append(m.run.aside, m.task)
	}
	i := &inquiry{run: m.run, task: m.task, number: f.Inquiry, fact: f, opened: m.cause.Time, open: true}
	m.run.inquiries, o.asked = append(m.run.inquiries, i), append(o.asked, i)
	if m.task == nil || f.Kind.IsBudget() { // its task waits for the budget, and not for a person
		return
	}
	i.agent = m.task.agent
	o.endTask(m, m.task, taskAsked)
	if f.Attempt > 0 && f.After == 0 { // else it asks once more what the agent has asked
		m.task.permit = nil
	}
}

// ends ends an inquiry: a task that was told something may begin.
func (o *oracle) ends(m *moment, number int, end func(*inquiry)) {
	i := m.run.inquiry(number)
	if i == nil || !i.open {
		return // see endsWhileOpen
	}
	i.open, i.ended = false, m.cause.Time
	end(i)
	t := i.task
	if t == nil || i.answered == nil {
		return
	}
	if i.retried() && t.failed != nil && t.failed.Cause == schemas.FailureUnknownEffect { // what nobody knew to have happened may happen then
		t.close(m)
		t.permit, t.doubted = nil, false
		t.cleared++
	}
	if (i.fact.Kind.IsInput() || i.approved() || i.retried()) && t.state == taskAsked {
		t.state, t.ready, t.until, t.begun = taskReady, m.at, time.Time{}, m.cause.Time
		m.enlist(t)
	}
}

// The simulator sees what agents and records see: it reads from the id of a task what Podium has made it of.

// noticeOf returns the inquiry that a task is a notification of; 0 when it is none.
func noticeOf(task string) int {
	rest, is := strings.CutPrefix(task, "ask:")
	number, _, _ := strings.Cut(rest, ":")
	inquiry, err := strconv.Atoi(number)
	if !is || err != nil || inquiry < 1 {
		return 0
	}
	return inquiry
}

// notice returns the number of the inquiry that a task tells a person of; 0 is none.
func (t *task) notice() int {
	if t == nil || t.planned != nil {
		return 0
	}
	return noticeOf(t.id)
}

// isExplanation reports whether a task tells how an inquiry is decided.
func isExplanation(task string) bool { return noticeOf(task) > 0 && strings.Contains(task, ":how:") }
