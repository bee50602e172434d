package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus/artifact"
	"podium/schemas"
)

// The invariants that speak of people who do work.
const (
	WorkIsHanded     = "work is handed to those whom its agent names, where they are reached now, and to nobody else"
	WordsOfTheStaff  = "a word on work counts when it is of one of those who were asked and still work there, or the service's own, and names it"
	WorkIsWhatTheyDo = "work is done by a person's word and is what they have written, and nothing comes of one that declines"
)

// work reports whether people are asked to do a task, and not its requester for what it lacks.
func (i *inquiry) work() bool { return i.fact.Kind.IsWork() }

// adoptable reports whether a further attempt of somebody upstream may take an inquiry over.
func (i *inquiry) adoptable() bool {
	return i.work() || i.fact.Kind.IsApproval()
}

// person says who does the tasks of an agent, or nil when it is no person.
func (r *run) person(agent string) *schemas.PersonPolicy {
	for n := range r.profile.Agents {
		if use := &r.profile.Agents[n]; use.Name == agent {
			return use.Person
		}
	}
	return nil
}

// reached are the addresses of those of some people whom one account writes to, as the profile in force says.
func (o *oracle) reached(m *moment, people []string) []schemas.Address {
	var to []schemas.Address
	account := ""
	for _, name := range people {
		person, works := o.profile(m.cause.Profile).People[name]
		if !works || account != "" && person.Account != account {
			continue
		}
		account, to = person.Account, append(to, schemas.Address{Address: person.Mail})
	}
	return to
}

// workIsHanded holds an inquiry to the profiles, and requests too: no task of a person is any machine's.
func (o *oracle) workIsHanded(m *moment) {
	t := m.task
	if t == nil {
		return
	}
	if f := schemas.As[*schemas.InquiryOpened](m.fact); f != nil && f.Kind.IsWork() {
		does, to := m.run.person(t.agent), o.reached(m, f.People)
		switch {
		case does == nil || t.planned == nil || m.run.settled != nil || t.state.ended() || t.state == taskUnderWay || m.run.awaits(t):
			o.world.violate(WorkIsHanded, "%s: inquiry %d hands what agent %s does", m.id, f.Inquiry, t.agent)
		case !slices.Equal(f.People, does.People) || f.Adopts == nil && (f.Expire != does.Expire || f.Remind != does.Remind) || len(to) == 0 || !slices.Equal(f.To, to):
			o.world.violate(WorkIsHanded, "%s: inquiry %d goes to %v of %v instead of %v of %v", m.id, f.Inquiry, f.To, f.People, to, does.People)
		}
		return
	}
	asked := schemas.As[*schemas.TaskDispatched](m.fact) != nil || schemas.As[*schemas.TaskReady](m.fact) != nil
	if asked && t.planned != nil && schemas.TaskOf(m.fact) == t.id && m.run.person(m.agent()) != nil {
		o.world.violate(WorkIsHanded, "%s: %s for agent %s, who is a person", m.id, m.fact.Name(), m.agent())
	}
}

// agent is who a task waits for or goes to, by a fact that says so.
func (m *moment) agent() string {
	switch f := m.fact.(type) {
	case *schemas.TaskDispatched:
		return f.Agent
	case *schemas.TaskReady:
		return f.Agent
	default:
		return ""
	}
}

// dismissed: who is not among those who are asked now is told nothing once more.
func (o *oracle) dismissed(m *moment, i *inquiry) {
	if to := o.asks(m, i.fact); i.toPeople() && m.cause.Deadline != nil && m.cause.Deadline.Kind == schemas.DeadlineRemind && !slices.Equal(i.fact.To, to) {
		o.world.violate(WorkIsHanded, "%s: inquiry %d is told once more to %v, and those who work there are %v", m.id, i.number, i.fact.To, to)
	}
}

// author returns which of those who are asked by a question has written a message, as the profile in force says; empty is none.
func (o *oracle) author(m *moment, i *inquiry, heard *hearing) string {
	if heard.chat != nil {
		return o.inThread(m, i, heard)
	}
	if heard.mail == nil || len(heard.mail.From) == 0 {
		return ""
	}
	for _, name := range i.fact.People {
		person, works := o.profile(m.cause.Profile).People[name]
		if works && strings.EqualFold(person.Mail, heard.mail.From[0].Address) {
			return name
		}
	}
	return ""
}

func (o *oracle) wordsOfTheStaff(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.work() {
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	if control := heard.control; control != nil {
		choice := map[schemas.ControlAction]schemas.InquiryChoice{schemas.ControlAnswer: schemas.ChoiceAnswer, schemas.ControlReject: schemas.ChoiceReject}[control.Action]
		about := control.Inquiry > 0 && m.run.named(control.Run, control.Inquiry) == f.Inquiry || control.Run == m.run.id() && (control.Inquiry == f.Inquiry || control.Inquiry == 0 && m.run.openInquiry() == nil && f.Inquiry == len(m.run.inquiries))
		if !about || choice != f.Choice || f.Actor.Via != schemas.ViaAPI || !i.has(m, f) {
			o.world.violate(WordsOfTheStaff, "%s: inquiry %d has the word %s by %+v", m.id, f.Inquiry, f.Choice, control)
		}
		return
	}
	by, via := o.author(m, i, &heard), schemas.ViaMail
	if heard.chat != nil {
		via = schemas.ViaChat
	}
	if by == "" || f.Actor.ID != by || f.Actor.Via != via || !o.isAsked(m, i, &heard) || f.Choice != schemas.ChoiceAnswer || !i.has(m, f) {
		o.world.violate(WordsOfTheStaff, "%s: inquiry %d has the word %s by %q of %v, which names %d", m.id, f.Inquiry, f.Choice, f.Actor.ID, i.fact.People, heard.names(m.run))
	}
}

// workIsWhatTheyDo: the task of a person is completed in the moment of their word, and by that.
func (o *oracle) workIsWhatTheyDo(m *moment) {
	f := schemas.As[*schemas.TaskCompleted](m.fact)
	if f == nil || f.Brought > 0 || m.task.planned == nil || m.run.person(m.task.agent) == nil {
		return
	}
	var said *inquiry
	for _, i := range m.run.inquiries {
		if i.task == m.task {
			said = i
		}
	}
	if said != nil && said.said(schemas.ChoiceAnswer) {
		return // see recoveredAsSaid
	}
	if said == nil || !said.work() || said.answered == nil || said.answered.Choice != schemas.ChoiceAnswer || said.cause != m.cause || f.Sequence != said.answered.Sequence {
		o.world.violate(WorkIsWhatTheyDo, "%s: it is done by %d, and nobody has done it", m.id, f.Sequence)
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	if words := heard.said(); f.Result.Text != words && (f.Result.Text != "" || f.Result.Sequence != f.Sequence || f.Result.Size != len(words)) {
		o.world.violate(WorkIsWhatTheyDo, "%s: it is %+v, and the word was %q", m.id, f.Result, words)
	}
}

// workEndsByWords: what came of each word is what it says, and there are no two results.
func (o *oracle) workEndsByWords(session *sessionHistory) {
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			if !i.work() || i.answered == nil || i.task == nil {
				continue
			}
			does := i.task.state == taskCompleted && i.task.result.Sequence == i.answered.Sequence
			if does != (i.answered.Choice == schemas.ChoiceAnswer) {
				o.world.violate(WorkIsWhatTheyDo, "%s/%s: inquiry %d has the word %s, which is its result: %t", r.id(), i.task.id, i.number, i.answered.Choice, does)
			}
		}
	}
}

// nobodyWorks reports whether a task fails because none of the people who do such tasks works there any more.
func (o *oracle) nobodyWorks(m *moment) bool {
	if m.task == nil || m.task.state == taskUnderWay {
		return false
	}
	does := m.run.person(m.task.agent)
	return does != nil && len(o.reached(m, does.People)) == 0
}

// withdrawn reports whether work is taken back when it is to be told once more, because others do it by now.
func (o *oracle) withdrawn(m *moment, i *inquiry) bool {
	rung := m.cause.Deadline
	return i.toPeople() && i.fact.Remind > 0 && rung != nil && rung.Kind == schemas.DeadlineRemind && !i.asked.IsZero() &&
		!m.cause.Time.Before(i.asked.Add(time.Duration(i.fact.Remind))) && !slices.Equal(i.fact.To, o.asks(m, i.fact))
}

// The invariants that speak of further attempts of whoever is upstream.
const (
	AdoptedIsLeft = "what a further attempt adopts is an inquiry that an earlier one has left, unchanged and in its time, and no person has stopped that"
	BroughtIsDone = "a result that a further attempt brings is what an earlier one has completed the task with, told the same, and no person has stopped that"
	FinalByPeople = "a run is over for good when a person has cancelled it, also while it waited for its turn, and only then"
	LettersCount  = "a letter that its agent says not to have gone out, or that is reported to have come back, has told nobody, and any other one may have"
)

// has reports whether a word is the cause of the fact that it counts, or was held until the inquiry was adopted.
func (i *inquiry) has(m *moment, f *schemas.InquiryAnswered) bool {
	return f.Sequence == m.cause.Sequence || i.held != 0 && f.Sequence == i.held && i.opened.Equal(m.cause.Time)
}

// letters are the names by which people know an inquiry, the oldest first.
func (i *inquiry) letters(r *run) []schemas.InquiryName {
	var letters []schemas.InquiryName
	if i.fact.Adopts != nil {
		letters = slices.Clone(i.fact.Adopts.Letters)
	}
	return append(letters, schemas.InquiryName{Run: r.number, Inquiry: i.number})
}

// piece is what the run does for whoever is upstream, if further attempts may take over what it leaves; else it is empty.
func (r *run) piece() string {
	if r.message.Upstream == nil {
		return ""
	}
	return r.message.Upstream.Effect
}

// before yields the earlier attempts of a run, the newest first, back to where a person has stopped one or another piece of work was done.
func (r *run) before(yield func(*run) bool) {
	for _, other := range slices.Backward(r.session.runs[:r.number-1]) {
		switch {
		case other.piece() == "":
		case other.piece() != r.piece() || other.ended == nil || other.ended.Final || !yield(other):
			return
		}
	}
}

// leaves reports whether people may still answer an inquiry that ended with its run: they were written to, or may have been.
func (i *inquiry) leaves(r *run) bool {
	ended := i.closed == schemas.InquiryCancelled || i.closed == schemas.InquirySuperseded || i.closed == schemas.InquiryWithdrawn
	if !ended || i.bounced || i.nobody != nil || i.unsent != nil || i.fact.Told == "" || !i.adoptable() || i.asked.IsZero() {
		return false
	}
	if i.fact.Adopts != nil {
		return true
	}
	return slices.ContainsFunc(r.aside, func(t *task) bool { return t.notice() == i.number && (t.state == taskCompleted || t.permit != nil) })
}

// left returns what earlier attempts have left of a task that people do, and which of them; nil is nothing.
func (m *moment) left() (*inquiry, *run) {
	if m.run.piece() == "" || slices.ContainsFunc(m.run.inquiries, func(i *inquiry) bool { return i.task == m.task }) {
		return nil, nil
	}
	for r := range m.run.before {
		for _, i := range slices.Backward(r.inquiries) {
			if i.task == nil || i.task.id != m.task.id {
				continue
			}
			if !i.leaves(r) {
				return nil, nil
			}
			return i, r
		}
	}
	return nil, nil
}

// adoptedIsLeft: people are asked anew when there is nothing that they know of, and else they are not written to.
func (o *oracle) adoptedIsLeft(m *moment) {
	f := schemas.As[*schemas.InquiryOpened](m.fact)
	if f == nil || m.task == nil || !f.Kind.IsWork() {
		return
	}
	left, of := m.left()
	same := left != nil && left.fact.Told == f.Told && left.fact.Account == f.Account && slices.Equal(left.fact.People, f.People) && slices.Equal(left.fact.To, f.To)
	if f.Adopts == nil {
		if same && m.cause.Time.Add(longestSkew).Before(left.expires()) {
			o.world.violate(AskedOnce, "%s: inquiry %d asks anew, and inquiry %d of run %d is known until %s", m.id, f.Inquiry, left.number, of.number, left.expires())
		}
		return
	}
	if !same {
		o.world.violate(AdoptedIsLeft, "%s: inquiry %d adopts %v, and that was not left", m.id, f.Inquiry, f.Adopts.Letters)
		return
	}
	letters := left.letters(of)
	_, held := m.run.session.held[letters[0]]
	if !slices.Equal(left.lost, f.Adopts.Bounced) {
		o.world.violate(AdoptedIsLeft, "%s: inquiry %d adopts letters that have not reached %v, and it was %v", m.id, f.Inquiry, f.Adopts.Bounced, left.lost)
	}
	if !slices.Equal(letters, f.Adopts.Letters) || !f.Adopts.Asked.Equal(left.asked) || f.Expire != left.fact.Expire || f.Remind != left.fact.Remind ||
		!held && !m.cause.Time.Before(left.expires()) {
		o.world.violate(AdoptedIsLeft, "%s: inquiry %d adopts %+v at %s, and %v asked at %s for %s was left", m.id, f.Inquiry, f.Adopts, m.cause.Time, letters, left.asked, time.Duration(left.fact.Expire))
	}
}

// isHeld: a word is held that names an inquiry which may still be adopted, in its time, and is the first.
func (o *oracle) isHeld(session *sessionHistory, m *moment, f *schemas.MessageReceived) {
	if f.Run < 1 || f.Run > len(session.runs) || session.runs[f.Run-1].inquiry(f.Inquiry) == nil {
		o.world.violate(WordsHaveOneFate, "session %s: message %s is held for inquiry %d of run %d", session.id, f.ID, f.Inquiry, f.Run)
		return
	}
	r := session.runs[f.Run-1]
	i := r.inquiry(f.Inquiry)
	oldest := i.letters(r)[0]
	_, before := session.held[oldest]
	heard := o.heard(m.shard, f.Sequence)
	if before || i.open || i.answered != nil || r.ended == nil || r.ended.Final || r.piece() == "" || !heard.taken.Before(i.expires()) {
		o.world.violate(WordsHaveOneFate, "%s: message %s is held for inquiry %d, asked at %s, held before: %t", r.id(), f.ID, f.Inquiry, i.asked, before)
	}
	session.held[oldest] = *f
}

func (o *oracle) broughtIsDone(m *moment) {
	f := schemas.As[*schemas.TaskCompleted](m.fact)
	if f == nil || f.Brought == 0 || m.task == nil || m.run.retries > 0 {
		return // see retriesBringWhatStands
	}
	for r := range m.run.before {
		t := r.task(f.Task)
		if t == nil || t.state != taskCompleted || t.result.Told == "" {
			continue
		}
		done := t.result
		whole := f.Result.Text == done.Result.Text && f.Result.Sequence == done.Result.Sequence
		referred := f.Result.Text == "" && f.Result.Sequence != 0 && f.Result.Sequence == done.Sequence
		if r.number != f.Brought || done.Told != f.Told || f.Attempt != 0 || m.task.attempts > 0 || f.Sequence != done.Sequence || !whole && !referred ||
			t.agent != m.task.agent && t.agent != m.run.fallback(m.task.agent) || o.wordsFor(t) != o.wordsFor(m.task) {
			o.world.violate(BroughtIsDone, "%s: it is brought from run %d as %+v by agent %s, and run %d has %+v by agent %s", m.id, f.Brought, f, m.task.agent, r.number, done, t.agent)
		}
		return
	}
	o.world.violate(BroughtIsDone, "%s: it is brought from run %d, and no attempt before has completed it", m.id, f.Brought)
}

// wordsFor are those of whoever is upstream for a task: of a plan its own, of one task these, and where a plan is refused those of the person that it brings.
// Of several that a planner is given nobody else is told.
func (o *oracle) wordsFor(t *task) string {
	event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), o.shards[t.run.session.shard].inputs[t.run.message.Sequence])
	o.world.must(err)
	request, err := schemas.DecodeExecutionRequest(event.Data)
	o.world.must(err)
	asked := request.Payload.Tasks
	if t.run.source != schemas.PlannerExternal {
		if len(asked) == 1 && asked[0].AssignedTo == request.To {
			return asked[0].Description
		}
		return asked[0].Context.Request
	}
	for i := range asked {
		if asked[i].TaskID == t.id {
			return asked[i].Description
		}
	}
	return ""
}

func (r *run) fallback(agent string) string {
	for i := range r.profile.Agents {
		if r.profile.Agents[i].Name == agent {
			return r.profile.Agents[i].Fallback
		}
	}
	return ""
}

// asks returns the inquiry that a notice asks, and its run: the newest that has adopted it; nil when there is none.
func (s *sessionHistory) asks(notice *task) (*inquiry, *run) {
	name := schemas.InquiryName{Run: notice.run.number, Inquiry: notice.notice()}
	for _, r := range slices.Backward(s.runs) {
		for _, i := range slices.Backward(r.inquiries) {
			if slices.Contains(i.letters(r), name) {
				return i, r
			}
		}
	}
	return nil, nil
}

// told are the notices that people may know an inquiry by.
func (i *inquiry) told(r *run) []*task {
	var told []*task
	for _, letter := range i.letters(r) {
		asked := r.session.runs[letter.Run-1]
		for _, t := range asked.aside {
			if t.notice() == letter.Inquiry && (t.state == taskCompleted || t.permit != nil) {
				told = append(told, t)
			}
		}
	}
	return told
}

// lettersAreUnsent: what the agent of a letter says when its run has ended is about the only one by which people may know of an inquiry, and about that
// one process which was permitted to send it; or it changes nothing.
func (o *oracle) lettersAreUnsent(m *moment) {
	f := schemas.As[*schemas.ResponseLate](m.fact)
	if f == nil || m.task == nil || m.task.notice() == 0 {
		return
	}
	by, err := o.saidAt(m.shard, f.Sequence)
	i, r := m.run.session.asks(m.task)
	failed := by.status == schemas.StatusFailed || by.status == schemas.StatusBlocked
	known := err == nil && i != nil && i.adoptable() && failed && !by.open && by.agent == schemas.MailDelivery &&
		m.run.ended != nil && m.task.permit != nil && !m.task.doubted && m.task.permit.request == by.request && m.task.state != taskCompleted
	if known {
		told := i.told(r)
		_, held := m.run.session.held[i.letters(r)[0]]
		known = len(told) == 1 && !held && (i.open || r.ended != nil && i.leaves(r))
	}
	switch {
	case f.Undone && !known:
		o.world.violate(LettersCount, "%s: the letter of attempt %d is said not to have gone out, and nobody can say that", m.id, f.Attempt)
	case known:
		i.unsent = m.cause
	}
}

// lettersComeBack: of several who were asked those have no letter of whom that is reported.
func (o *oracle) lettersComeBack(m *moment) {
	f := schemas.As[*schemas.DeliveryBounced](m.fact)
	if f == nil || f.Inquiry == 0 && f.Recipient == "" {
		return
	}
	if o.explanationCameBack(m, f) {
		if f.Recipient != "" {
			o.world.violate(LettersCount, "%s: an explanation of inquiry %d has come back, and that counts for %s", m.id, f.Inquiry, f.Recipient)
		}
		return
	}
	i, mail := m.run.inquiry(f.Inquiry), o.heard(m.shard, m.cause.Sequence).mail
	is := func(to schemas.Address) bool {
		return mail != nil && mail.Bounce != nil && strings.EqualFold(to.Address, mail.Bounce.Recipient)
	}
	if i == nil || len(i.fact.To) < 2 || !f.Failed || !slices.ContainsFunc(i.fact.To, is) {
		if f.Recipient != "" {
			o.world.violate(LettersCount, "%s: the letter of inquiry %d to %s is said to have come back", m.id, f.Inquiry, f.Recipient)
		}
		return
	}
	recipient := i.fact.To[slices.IndexFunc(i.fact.To, is)].Address
	if f.Recipient != recipient {
		o.world.violate(LettersCount, "%s: the letter of inquiry %d to %s has come back, and %q is on record", m.id, f.Inquiry, recipient, f.Recipient)
	}
	if _, held := m.run.session.held[i.letters(m.run)[0]]; held || slices.Contains(i.lost, recipient) {
		return // what somebody has said has arrived
	}
	i.lost = append(slices.Clip(i.lost), recipient)
	if reached := func(to schemas.Address) bool { return !slices.Contains(i.lost, to.Address) }; !slices.ContainsFunc(i.fact.To, reached) {
		i.nobody = m.cause
	}
}

// explanationCameBack reports whether a report is about a letter that only tells how an inquiry is decided. Who gets one has written, and so has got the question.
func (o *oracle) explanationCameBack(m *moment, f *schemas.DeliveryBounced) bool {
	mail := o.heard(m.shard, m.cause.Sequence).mail
	if mail == nil || mail.Bounce == nil {
		return false
	}
	for n := range schemas.MaxExplanations {
		explanation := task{run: m.run, id: schemas.ExplanationTask(f.Inquiry, n+1)}
		if strings.HasPrefix(mail.Bounce.MessageID, explanation.effect()) {
			return true
		}
	}
	return false
}

// isAbout reports whether a report of a letter that came back is about whoever was asked, and not about an address that they have it sent on to.
func (o *oracle) isAbout(m *moment, i *inquiry) bool {
	mail := o.heard(m.shard, m.cause.Sequence).mail
	return mail == nil || mail.Bounce == nil || mail.Bounce.Recipient == "" || len(i.fact.To) == 0 || strings.EqualFold(mail.Bounce.Recipient, i.fact.To[0].Address)
}

// stops notes that a person has cancelled a run.
func (o *oracle) stops(session *sessionHistory, m *moment, f *schemas.MessageReceived) {
	if f.Disposition != schemas.DispositionControl {
		return
	}
	control := o.heard(m.shard, f.Sequence).control
	if control == nil || control.Action != schemas.ControlCancel || control.Run == "" {
		return
	}
	session.stopped[f.Run] = true
}

func (o *oracle) finalByAPerson(m *moment) {
	f := schemas.As[*schemas.RunEnded](m.fact)
	if f == nil {
		return
	}
	want := m.run.piece() != "" && m.run.session.stopped[f.Run] && f.Reason == schemas.StopCancelled
	if f.Final != want {
		o.world.violate(FinalByPeople, "%s: it ends by %s, for good: %t, and that a person has cancelled it is %t", m.id, f.Reason, f.Final, m.run.session.stopped[f.Run])
	}
}
