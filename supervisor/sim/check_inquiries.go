package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/schemas"
)

// The invariants that speak of what people are asked.
const (
	InquiriesNumbered   = "an inquiry has the next number of its run"
	AsksBounded         = "a task asks who has begun the run, and no more often than the profile lets it"
	InquiriesEndOnce    = "an inquiry ends once, for a reason that holds"
	AskedOnce           = "a person is told of an inquiry once, and reminded once at its time, while it is open"
	WaitingIsSilent     = "nothing is done for a task while it waits for a person"
	WaitingHoldsNothing = "who waits for a person keeps nobody from an agent or a resource"
	RunsRest            = "a run does not end by its time while it waits for a person, and ends as much later afterwards"
	AskingIsFree        = "an attempt that has led to an inquiry is not counted"
)

func (o *oracle) inquiriesAreNumbered(m *moment) {
	f := schemas.As[*schemas.InquiryOpened](m.fact)
	if f != nil && f.Inquiry != len(m.run.inquiries)+1 {
		o.world.violate(InquiriesNumbered, "%s: inquiry %d follows %d", m.id, f.Inquiry, len(m.run.inquiries))
	}
}

// asksAreBounded: nobody upstream is asked, and nobody at all where the profile says nothing of it.
func (o *oracle) asksAreBounded(m *moment) {
	f := schemas.As[*schemas.InquiryOpened](m.fact)
	if f == nil || !f.Kind.IsInput() {
		return // see workIsHanded and approvalsAreAsked
	}
	before := 0
	for _, i := range m.run.inquiries {
		if i.task == m.task && i.input() {
			before++
		}
	}
	policy, planned := m.run.profile.Waiting, m.task != nil && m.task.planned != nil
	if policy == nil || before >= policy.Asks || len(f.People) > 0 || m.run.message.Reply == nil || m.run.message.Upstream != nil || !planned || m.run.settled != nil {
		o.world.violate(AsksBounded, "%s: inquiry %d, after %d, by %+v", m.id, f.Inquiry, before, policy)
	}
	if policy != nil && (f.Expire != policy.Expire || f.Remind != policy.Remind) {
		o.world.violate(AsksBounded, "%s: inquiry %d waits %v", m.id, f.Inquiry, f.Expire)
	}
}

// inquiriesEndForAReason: what its end says is what has happened.
func (o *oracle) inquiriesEndForAReason(m *moment) {
	var number int
	answered, closed := schemas.As[*schemas.InquiryAnswered](m.fact), schemas.As[*schemas.InquiryClosed](m.fact)
	switch {
	case answered != nil:
		number = answered.Inquiry
	case closed != nil:
		number = closed.Inquiry
	default:
		return
	}
	i := m.run.inquiry(number)
	if i == nil || !i.open {
		o.world.violate(InquiriesEndOnce, "%s: inquiry %d ends and is not open", m.id, number)
		return
	}
	if closed == nil {
		return
	}
	cause, holds := m.cause, false
	switch closed.Reason {
	case schemas.InquiryExpired:
		rung := cause.Deadline
		holds = rung != nil && rung.Kind == schemas.DeadlineInquiry && !i.asked.IsZero() && !cause.Time.Before(i.expires())
	case schemas.InquiryCancelled:
		holds = cause.Type == schemas.TypeControl
	case schemas.InquirySuperseded:
		holds = cause.Type == schemas.TypeEmailReceived || cause.Type == schemas.TypeChatReceived || cause.Type == schemas.TypeExecutionRequest
	case schemas.InquiryWithdrawn:
		holds = !i.reminds(m.cause) || o.withdrawn(m, i) // else with its run: see inquiriesEndOnce
	case schemas.InquiryUnreachable:
		first := m.run.task(schemas.NoticeTask(number, 1))
		holds = first != nil && first.state == taskFailed || o.bounces(m, number)
	}
	if !holds {
		o.world.violate(InquiriesEndOnce, "%s: inquiry %d is %s by %s %+v at %s, asked at %s", m.id, number, closed.Reason, cause.Type, cause.Deadline, cause.Time, i.asked)
	}
}

// bounces reports whether the cause says that a notice of an inquiry was not delivered.
func (o *oracle) bounces(m *moment, number int) bool {
	mail, i := o.heard(m.shard, m.cause.Sequence).mail, m.run.inquiry(number)
	if mail == nil || mail.Bounce == nil || mail.Bounce.Action != "failed" {
		return false
	}
	if recipient := mail.Bounce.Recipient; i.toPeople() && (len(i.fact.To) > 1 && i.nobody != m.cause || len(i.fact.To) == 1 && recipient != "" && !strings.EqualFold(recipient, i.fact.To[0].Address)) {
		return false // others have got it
	}
	for _, letter := range i.letters(m.run) {
		asked := m.run.session.runs[letter.Run-1]
		for n := range 2 {
			notice := task{run: asked, id: schemas.NoticeTask(letter.Inquiry, n+1)}
			if strings.HasPrefix(mail.Bounce.MessageID, notice.effect()) {
				return true
			}
		}
	}
	return false
}

// reminds reports whether a cause is that an inquiry is to be told once more.
func (i *inquiry) reminds(cause *schemas.Cause) bool {
	rung := cause.Deadline
	return rung != nil && rung.Kind == schemas.DeadlineRemind && noticeOf(rung.Task) == i.number
}

// inquiriesEndOnce: none is open at the end, and those that end with their run do so when it is settled.
func (o *oracle) inquiriesEndOnce(session *sessionHistory) {
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			others := i.toPeople() && i.closed == schemas.InquiryWithdrawn && (i.unsent != nil && i.unsent == i.cause || i.reminds(i.cause) || r.declinesTwin(i))
			others = others || r.plannedAnew(i)
			others = others || i.fact.Kind.IsBudget() && i.closed == schemas.InquiryWithdrawn // what was held fits after all
			withRun := !others && (i.closed == schemas.InquiryCancelled || i.closed == schemas.InquirySuperseded || i.closed == schemas.InquiryWithdrawn)
			switch {
			case i.open || (i.answered == nil) == (i.closed == ""):
				o.world.violate(InquiriesEndOnce, "%s: inquiry %d has not ended", r.id(), i.number)
			case withRun && i.ofAnswer():
				o.answerIsTakenBack(r, i)
			case withRun && (r.settled == nil || r.settledBy != i.cause || !fitsEnd(i.closed, r.settled.Reason)):
				o.world.violate(InquiriesEndOnce, "%s: inquiry %d is %s, and the run is settled otherwise", r.id(), i.number, i.closed)
			}
		}
	}
}

func fitsEnd(closed schemas.InquiryReason, end schemas.StopReason) bool {
	want := map[schemas.StopReason]schemas.InquiryReason{
		schemas.StopCancelled: schemas.InquiryCancelled, schemas.StopSuperseded: schemas.InquirySuperseded,
	}
	if reason, its := want[end]; its {
		return closed == reason
	}
	return closed == schemas.InquiryWithdrawn
}

// askedOnce: a second notice is a reminder, and there is no third, whoever owns the shard.
func (o *oracle) askedOnce(m *moment) {
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
	case id != schemas.NoticeTask(number, 2) || i.fact.Remind == 0:
		o.world.violate(AskedOnce, "%s: %s of inquiry %d", m.id, m.fact.Name(), number)
	case m.task == nil && (m.cause.Deadline == nil || m.cause.Deadline.Kind != schemas.DeadlineRemind || i.asked.IsZero() ||
		m.cause.Time.Before(i.asked.Add(time.Duration(i.fact.Remind)))):
		o.world.violate(AskedOnce, "%s: a reminder of inquiry %d at %s, asked at %s", m.id, number, m.cause.Time, i.asked)
	}
	if i == nil {
		return
	}
	o.dismissed(m, i)
	for _, other := range m.run.inquiries {
		if other.open && other.number < number && !other.toPeople() && !i.toPeople() && !other.fact.Upstream {
			o.world.violate(AskedOnce, "%s: inquiry %d is told while inquiry %d is open", m.id, number, other.number)
		}
	}
}

// waitingIsSilent: only the end of the run goes on without the word.
func (o *oracle) waitingIsSilent(m *moment) {
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

// waitingHoldsNothing: nobody begins only now that a person has answered, because somebody else's task
// waited for that. Who is held waits for the budget of its own run. In worlds of tiers a supervisor may keep others from itself and from a resource for longer; see roomIsGiven.
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
		since := i.opened
		for _, later := range [...]time.Time{t.begun, o.world.calmSince} {
			if later.After(since) {
				since = later
			}
		}
		if i.ended.Sub(since) > longWait && !m.cause.Time.Before(i.ended) {
			o.world.violate(WaitingHoldsNothing, "%s begins at %s, and has waited since %s while %s/%s waited for a person",
				m.id, m.cause.Time, t.begun, other.run.id(), other.id)
		}
	}
}

// runsRest: the time in which somebody is asked does not count, so that no run ends by its time then.
func (o *oracle) runsRest(m *moment) {
	upstream := m.run.message.Upstream != nil // who waits as long as they have said
	if rung := m.cause.Deadline; rung == nil || rung.Kind != schemas.DeadlineRun || rung.Run != m.run.number || upstream || m.run.spending.parked {
		return
	}
	if answered, closed := schemas.As[*schemas.InquiryAnswered](m.fact), schemas.As[*schemas.InquiryClosed](m.fact); answered != nil || closed != nil {
		o.world.violate(RunsRest, "%s: it ends by its time at %s, and a human task is open", m.id, m.cause.Time)
	}
}

// lacking reports whether a task fails for what nobody has said, and not by an agent's word.
func (m *moment) lacking() bool {
	f := schemas.As[*schemas.TaskFailed](m.fact)
	if f == nil || f.Cause != schemas.FailureBlocked || m.task == nil || m.task.state == taskUnderWay {
		return false
	}
	for _, i := range slices.Backward(m.run.inquiries) {
		if i.task == m.task {
			return i.closed != "" || i.fact.Attempt == 0 || m.takesArguments()
		}
	}
	return m.takesArguments()
}

func (m *moment) takesArguments() bool {
	return slices.ContainsFunc(m.run.profile.Agents, func(use schemas.AgentUse) bool { return use.Name == m.task.agent && len(use.Arguments) > 0 })
}

// askingIsFree: nobody gives up on a task that has asked before its agent was asked as often as if it had not.
func (o *oracle) askingIsFree(m *moment) {
	f, t := schemas.As[*schemas.TaskFailed](m.fact), m.task
	if f == nil || t == nil || t.inquired == 0 || t.refused > 0 || t.state != taskUnderWay || !f.RetryAt.IsZero() {
		return
	}
	again := []schemas.FailureKind{schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureCrashed, schemas.FailureMalformed}
	if !slices.Contains(again, f.Cause) {
		return
	}
	if spent := f.Attempt - t.base - t.inquired; spent < m.run.profile.Retry.Attempts {
		o.world.violate(AskingIsFree, "%s: given up by %s after %d of %d attempts, and %d that have asked", m.id, f.Cause, spent, m.run.profile.Retry.Attempts, t.inquired)
	}
}

// An inquiry is what a person is asked, as the records have it.
type inquiry struct {
	task     *task
	number   int
	fact     *schemas.InquiryOpened
	agent    string // of the task, when it was asked
	opened   time.Time
	asked    time.Time // when the first notice went out
	open     bool
	cause    *schemas.Cause // of its end
	ended    time.Time
	answered *schemas.InquiryAnswered
	agreed   []*schemas.InquiryAnswered // the words of those who have agreed while others had to
	closed   schemas.InquiryReason
	bounced  bool           // nobody has a letter of it
	lost     []string       // who has none, of several
	nobody   *schemas.Cause // since which nobody has one of it, of several
	unsent   *schemas.Cause // since which it is known that its only letter has not gone out
	after    []schemas.Fact // of a failure, what follows about its task by the cause of its end
	replans  bool           // and the plan is changed
	held     uint64         // the word that was held for it when it was adopted; 0 is none
}

// expires is when a word on it counts no more; zero while nobody was asked.
func (i *inquiry) expires() time.Time {
	if i.asked.IsZero() {
		return time.Time{}
	}
	return i.asked.Add(time.Duration(i.fact.Expire))
}

func (r *run) inquiry(number int) *inquiry {
	if number < 1 || number > len(r.inquiries) {
		return nil
	}
	return r.inquiries[number-1]
}

// openInquiry returns the oldest that waits for a word of the requester, or nil.
func (r *run) openInquiry() *inquiry {
	for _, i := range r.inquiries {
		if i.open && !i.toPeople() && !i.fact.Upstream {
			return i
		}
	}
	return nil
}

// rests reports whether any person is asked.
func (r *run) rests() bool {
	return slices.ContainsFunc(r.inquiries, func(i *inquiry) bool { return i.open })
}

// awaits reports whether a person is asked for something that a task lacks.
func (r *run) awaits(t *task) bool {
	return slices.ContainsFunc(r.inquiries, func(i *inquiry) bool { return i.open && i.task == t })
}

func (r *run) answersTo(t *task) []*inquiry {
	var answered []*inquiry
	for _, i := range r.inquiries {
		if i.task != nil && i.task.root() == t.root() && i.answered != nil && i.input() {
			answered = append(answered, i)
		}
	}
	return answered
}

// notice returns the number of the inquiry that a task tells a person of; 0 is none.
func (t *task) notice() int {
	if t == nil || t.planned != nil {
		return 0
	}
	return noticeOf(t.id)
}

// noticed notes that a notice goes out.
func (m *moment) noticed(t *task) {
	if i := m.run.inquiry(t.notice()); i != nil && i.asked.IsZero() {
		i.asked = m.cause.Time
	}
}

// opens lets a task wait for a person: an attempt that has led to that is over.
func (o *oracle) opens(m *moment, f *schemas.InquiryOpened) {
	i := &inquiry{task: m.task, number: f.Inquiry, fact: f, opened: m.cause.Time, open: true}
	if !m.run.rests() {
		m.run.resting = m.cause.Time
	}
	if f.Upstream {
		i.asked = m.cause.Time
	}
	if f.Adopts != nil && len(f.Adopts.Letters) > 0 {
		i.asked = f.Adopts.Asked
		i.lost = f.Adopts.Bounced
		i.held = m.run.session.held[f.Adopts.Letters[0]].Sequence
		delete(m.run.session.held, f.Adopts.Letters[0])
	}
	if m.task == nil && m.aboutAnswer(f) {
		m.task = &task{run: m.run, id: f.Task, agent: m.run.message.Reply.Agent}
		m.run.aside, i.task = append(m.run.aside, m.task), m.task
	}
	m.run.inquiries, o.asked = append(m.run.inquiries, i), append(o.asked, i)
	if m.task == nil || f.Kind.IsBudget() { // its task waits for the budget, and not for a person
		return
	}
	i.agent = m.task.agent
	o.endTask(m, m.task, taskAsked)
	if f.Attempt > 0 && f.After == 0 { // else it asks once more what the agent has asked
		m.task.permit = nil
		m.task.inquired++
	}
}

// ends ends an inquiry: a task that was told something may begin.
func (o *oracle) ends(m *moment, number int, end func(*inquiry)) {
	i := m.run.inquiry(number)
	if i == nil || !i.open {
		return // see inquiriesEndForAReason
	}
	i.open, i.cause, i.ended = false, m.cause, m.cause.Time
	if i.nobody != nil && i.nobody != m.cause {
		o.world.violate(InquiriesEndOnce, "%s: inquiry %d is open, and since %s nobody has a letter of it", m.id, number, i.nobody.Time)
	}
	end(i)
	if i.said(schemas.ChoiceRetry) {
		i.tries(m)
	}
	if t := i.task; i.answered != nil && (i.input() || i.approved() || i.said(schemas.ChoiceRetry)) && t != nil && t.state == taskAsked {
		t.state, t.ready, t.until, t.begun = taskReady, m.at, time.Time{}, m.cause.Time
		m.enlist(t)
	}
}

// resume has the run end by itself as much later as people were asked, once nobody is.
func (r *run) resume(now time.Time) {
	if r.rests() || r.resting.IsZero() {
		return
	}
	if !r.expires.IsZero() && r.message.Upstream == nil {
		r.expires = r.expires.Add(max(now.Sub(r.resting), 0))
	}
	r.resting = time.Time{}
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

// isExplanation reports whether a task tells how an inquiry is decided.
func isExplanation(task string) bool { return noticeOf(task) > 0 && strings.Contains(task, ":how:") }
