package sim

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/sim/threads"
)

// The invariants that speak of people who have to agree.
const (
	ApprovalsAreAsked    = "those are asked to agree whom the rule names, without whoever has begun the run, before the agent is"
	ApprovedBeforeActing = "what somebody has to agree to begins once somebody has, to what is known by then and for the agent that does it"
	WordsOfApprovers     = "an approval is decided by one whole word of somebody who is asked, who still works there and is vouched for, or the service's own"
)

func (i *inquiry) input() bool    { return i.fact.Kind.IsInput() }
func (i *inquiry) approval() bool { return i.fact.Kind.IsApproval() }
func (i *inquiry) approved() bool {
	return i.approval() && i.answered != nil && i.answered.Choice == schemas.ChoiceApprove && i.answered.Lacking == 0
}

// toPeople reports whether others than the requester are asked.
func (i *inquiry) toPeople() bool { return len(i.fact.People) > 0 }

// declinesTwin reports whether an approval ends because somebody has said no to one of the same.
func (r *run) declinesTwin(i *inquiry) bool {
	return i.approval() && slices.ContainsFunc(r.inquiries, func(other *inquiry) bool {
		return other.fact.Hash == i.fact.Hash && other.answered != nil && other.answered.Choice == schemas.ChoiceReject && other.cause == i.cause
	})
}

// asks are the addresses of those who are asked by an inquiry, as the profile in force says.
func (o *oracle) asks(m *moment, f *schemas.InquiryOpened) []schemas.Address {
	to := o.reached(m, f.People)
	if agrees := f.Kind.IsApproval() || f.Kind.IsBudget(); agrees {
		to = slices.DeleteFunc(to, func(address schemas.Address) bool { return o.hasBegun(m, m.run, address.Address) })
	}
	return to
}

// hasBegun reports whether somebody who works for a profile has begun a run, as it is known by their address or in its chat.
func (o *oracle) hasBegun(m *moment, r *run, address string) bool {
	author, reply := r.message.Author, r.message.Reply
	if author == nil {
		return false
	}
	begun := strings.EqualFold(address, author.Address)
	for _, person := range o.profile(m.cause.Profile).People {
		there := person.Mail == address && person.Chat != nil && reply != nil
		begun = begun || there && author.User != "" && *person.Chat == schemas.PersonInChat{Channel: reply.Channel, User: author.User}
	}
	return begun
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

func (o *oracle) approvalsAreAsked(m *moment) {
	f := schemas.As[*schemas.InquiryOpened](m.fact)
	if f == nil || !f.Kind.IsApproval() {
		return
	}
	var rule *schemas.ApprovalRule
	switch {
	case m.aboutAnswer(f):
		rule = m.run.answerRule()
	case m.task != nil:
		rule = m.run.approvalRule(m.task, m.task.agent)
	}
	if rule == nil || f.Expire != rule.Expire || f.Remind != rule.Remind || f.Need != rule.Need || f.Hash == "" {
		o.world.violate(ApprovalsAreAsked, "%s: inquiry %d asks for leave by %+v", m.id, f.Inquiry, rule)
		return
	}
	requester := slices.Contains(rule.People, schemas.ApprovingRequester)
	if requester != (len(f.People) == 0) || !requester && (!slices.Equal(f.People, rule.People) || len(f.To) == 0 || !slices.Equal(f.To, o.asks(m, f))) {
		o.world.violate(ApprovalsAreAsked, "%s: inquiry %d asks %v at %v, and the rule says %v", m.id, f.Inquiry, f.People, f.To, rule.People)
	}
}

// approvedBeforeActing: a word is for what was known when it was asked for. An answer to the same task, another agent and an effect that may have happened since make
// something else of it.
func (o *oracle) approvedBeforeActing(m *moment) {
	f := schemas.As[*schemas.TaskDispatched](m.fact)
	if f == nil || m.task == nil {
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
		if i.input() && i.task == m.task && i.answered != nil && i.number > f.Approval {
			o.world.violate(ApprovedBeforeActing, "%s: attempt %d begins by inquiry %d, and inquiry %d was answered since", m.id, f.Attempt, f.Approval, i.number)
		}
	}
}

func (o *oracle) wordsOfApprovers(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.approval() {
		return
	}
	heard, first := o.heard(m.shard, f.Sequence), o.heard(m.shard, m.run.message.Sequence)
	line, _, _ := strings.Cut(strings.TrimSpace(heard.said()), "\n")
	decides := map[string]schemas.InquiryChoice{"yes": schemas.ChoiceApprove, "no": schemas.ChoiceReject}[strings.ToLower(strings.TrimRight(line, "."))]
	if control := heard.control; control != nil {
		said := map[schemas.ControlAction]schemas.InquiryChoice{schemas.ControlApprove: schemas.ChoiceApprove, schemas.ControlReject: schemas.ChoiceReject}[control.Action]
		if control.Action == schemas.ControlAnswer && !i.toPeople() {
			said = decides
		}
		if said != f.Choice || control.Hash != "" && control.Hash != i.fact.Hash || f.Actor.Via != schemas.ViaAPI {
			o.world.violate(WordsOfApprovers, "%s: inquiry %d is decided %s by %+v", m.id, f.Inquiry, f.Choice, control)
		}
		return
	}
	may := heard.of(&first)
	if i.toPeople() {
		by := o.author(m, i, &heard)
		may = by != "" && o.isAsked(m, i, &heard) && !o.hasBegun(m, m.run, o.profile(m.cause.Profile).People[by].Mail)
	}
	if vouched := heard.mail == nil || heard.mail.Origin == schemas.OriginProven; !may || !vouched || decides == "" || decides != f.Choice {
		o.world.violate(WordsOfApprovers, "%s: inquiry %d is decided %s by %s (%s) of %v with %q", m.id, f.Inquiry, f.Choice, f.Actor.ID, f.Actor.Proof, i.fact.People, line)
	}
}

// The invariants that speak of answers that wait for leave.
const (
	AnswersWait       = "an answer that people have to agree to goes out once enough of them have, and never else"
	ShownIsSent       = "an answer goes out in the words, and to those, that people were shown who have agreed to it"
	DecisionsAreTaken = "a word that decides an approval is taken while that is open, of whoever may decide it, and one that stops an answer until it goes out"
	NoTellsWhy        = "a no is told with the reason that is given with it, and a no without one with none"
)

// answerRule is the rule by which people have to agree to the answer of a run; nil when nobody has to, since it goes upstream or by itself.
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

func (m *moment) aboutAnswer(f *schemas.InquiryOpened) bool {
	return f.Kind == schemas.HumanTaskAnswerApproval && f.Task == schemas.DeliveryTask && m.run.message.Reply != nil
}

func (i *inquiry) ofAnswer() bool { return i.approval() && i.fact.Task == schemas.DeliveryTask }

// asksAboutAnswer reports whether a fact is about a notice by which people learn of the answer.
func (m *moment) asksAboutAnswer() bool {
	i := m.run.inquiry(noticeOf(schemas.TaskOf(m.fact)))
	return i != nil && i.ofAnswer()
}

// leave is the inquiry by which enough persons have agreed to the answer, each counted once; nil is none.
func (r *run) leave() *inquiry {
	persons := map[string]bool{}
	for _, i := range r.inquiries {
		for _, word := range i.words() {
			if i.ofAnswer() && word.Choice == schemas.ChoiceApprove {
				persons[i.person(word)] = true
			}
		}
		if i.ofAnswer() && i.approved() && len(persons) >= max(r.answerRule().Need, 1) {
			return i
		}
	}
	return nil
}

// answersWait: the first attempt to deliver follows leave, whoever has asked for it, and what is sent again has had it.
func (o *oracle) answersWait(m *moment) {
	reopened := schemas.As[*schemas.DeliveryReopened](m.fact) != nil
	asked := schemas.As[*schemas.TaskDispatched](m.fact) != nil || schemas.As[*schemas.PermitGranted](m.fact) != nil
	if m.run.answerRule() == nil || !reopened && (!asked || schemas.TaskOf(m.fact) != schemas.DeliveryTask) || m.run.leave() != nil {
		return
	}
	o.world.violate(AnswersWait, "%s: %s, and nobody has agreed to the answer", m.id, m.fact.Name())
}

// answersGoOut: leave has the answer go out, unless somebody takes it back before. Without it none has begun, and the run says why, unless nobody could be asked.
func (o *oracle) answersGoOut(session *sessionHistory) {
	for _, r := range session.runs {
		rule := r.answerRule()
		if rule == nil || r.settled == nil || r.ended == nil || r.settled.Reason == schemas.StopSuperseded {
			continue // what takes its place is answered
		}
		leave, reply := r.leave(), r.task(schemas.DeliveryTask)
		var last *inquiry
		for _, i := range r.inquiries {
			if i.ofAnswer() {
				last = i
			}
		}
		switch {
		case leave != nil && (reply == nil || len(reply.made) == 0 && !r.takenBack()):
			o.world.violate(AnswersWait, "%s: leave is given by inquiry %d at %s, and the answer does not go out", r.id(), leave.number, leave.ended)
		case leave != nil:
		case r.ended.Replied != "" || reply != nil && len(reply.made) > 0:
			o.world.violate(AnswersWait, "%s: its answer is sent, and nobody has agreed to it", r.id())
		case last == nil && r.ended.Reason != schemas.StopUnapproved:
			o.world.violate(AnswersWait, "%s: it ends by %s, and nobody was asked about its answer", r.id(), r.ended.Reason)
		case last != nil && !r.endsUnsent(last):
			o.world.violate(AnswersWait, "%s: it ends by %s (%s), and inquiry %d about its answer is %s %v", r.id(), r.ended.Status, r.ended.Reason, last.number, last.closed, last.answered)
		}
	}
}

func (r *run) takenBack() bool { return r.ended.Status == schemas.RunCancelled }

// endsUnsent reports whether a run ends as what has become of the question about its answer says.
func (r *run) endsUnsent(i *inquiry) bool {
	switch {
	case i.closed == schemas.InquiryCancelled || i.closed == schemas.InquirySuperseded:
		return r.takenBack()
	case i.closed == schemas.InquiryWithdrawn || i.closed == schemas.InquiryUnreachable:
		return r.ended.Status == schemas.RunFailed && (r.ended.Reason == schemas.StopUnapproved || r.ended.Reason == schemas.StopRejected)
	}
	return r.ended.Status == schemas.RunFailed && r.ended.Reason == schemas.StopRejected
}

// answerIsTakenBack: who stops a run whose answer waits has it end, and nothing sent.
func (o *oracle) answerIsTakenBack(r *run, i *inquiry) {
	if r.ended == nil || r.endedBy != i.cause || i.closed != schemas.InquiryWithdrawn && !fitsEnd(i.closed, r.ended.Reason) {
		o.world.violate(InquiriesEndOnce, "%s: inquiry %d about the answer is %s, and the run ends otherwise", r.id(), i.number, i.closed)
	}
}

// mostShown is how much of an answer people are shown in words; the rest comes as a file.
const mostShown = 2 << 10

// shownIsSent: people are told the question as it is on record, and that holds the words of the answer.
func (o *oracle) shownIsSent(decided *attempt, request string, asked *schemas.Task) {
	r := decided.task.run
	if r.answerRule() == nil || decided.task.planned != nil {
		return
	}
	var told schemas.DeliveryArguments
	notice := r.inquiry(decided.task.notice())
	switch {
	case notice != nil && notice.ofAnswer():
		o.world.must(schemas.Unmarshal(asked.Context.Arguments, &told))
		if !strings.Contains(told.Text, notice.fact.Question) {
			o.world.violate(ShownIsSent, "request %s: people are told %q of inquiry %d, which asks %q", request, told.Text, notice.number, notice.fact.Question)
		}
	case decided.task.id == schemas.DeliveryTask && r.leave() != nil:
		o.world.must(schemas.Unmarshal(asked.Context.Arguments, &told))
		shown := r.leave().fact.Question
		words := strings.TrimSpace(told.Text)
		if !strings.Contains(shown, strings.ToValidUTF8(words[:min(len(words), mostShown)], "")) {
			o.world.violate(ShownIsSent, "request %s: %q is sent, and people have agreed to %q", request, words, shown)
		}
		for _, to := range slices.Concat(told.Reply.To, told.Reply.Cc) {
			if !strings.Contains(shown, to.Address) {
				o.world.violate(ShownIsSent, "request %s: it is sent to %s, and people have agreed to %q", request, to.Address, shown)
			}
		}
	}
}

// whole is what the first line of some words decides, and what stands below it.
func whole(said string) (schemas.InquiryChoice, string) {
	line, below, _ := strings.Cut(strings.TrimSpace(said), "\n")
	choice := map[string]schemas.InquiryChoice{"yes": schemas.ChoiceApprove, "no": schemas.ChoiceReject}[strings.ToLower(strings.TrimRight(line, "."))]
	return choice, strings.TrimSpace(below)
}

// waits reports whether the answer of a run waits, for people or, since they have agreed, for its first attempt.
func (r *run) waits() bool {
	reply := r.task(schemas.DeliveryTask)
	return r.settled != nil && r.ended == nil && reply != nil && len(reply.made) == 0 && (reply.state == taskAsked || r.leave() != nil)
}

// decisionsAreTaken: by mail it has to name the question, and who has agreed has nothing more to say. Until it goes out anybody may stop an answer.
func (o *oracle) decisionsAreTaken(session *sessionHistory, m *moment) {
	f := schemas.As[*schemas.MessageReceived](m.fact)
	if f == nil || f.Disposition == schemas.DispositionAnswered || len(session.runs) == 0 || f.Sequence != m.cause.Sequence {
		return
	}
	r, heard := session.runs[len(session.runs)-1], o.heard(m.shard, f.Sequence)
	if control := heard.control; control != nil {
		if control.Action == schemas.ControlCancel && control.Run == r.id() && f.Disposition != schemas.DispositionControl && r.answerRule() != nil && r.waits() {
			o.world.violate(DecisionsAreTaken, "%s: %s stops it, and is %s (%s)", r.id(), f.ID, f.Disposition, f.Reason)
		}
		return
	}
	i := r.inquiry(heard.names(r))
	if i == nil || !i.approval() || !i.toPeople() || !i.open || r.ended != nil || i.asked.IsZero() || !heard.taken.Before(i.expires()) {
		return
	}
	at := *m
	at.run = r
	by, mail := o.author(&at, i, &heard), heard.mail
	own := by != "" && o.hasBegun(m, r, o.profile(m.cause.Profile).People[by].Mail)
	choice, below := whole(heard.said())
	if by == "" || own || mail.Class != schemas.MailHuman || mail.Origin != schemas.OriginProven || choice == "" {
		return
	}
	edits := choice == schemas.ChoiceApprove && strings.ContainsAny(below, "{:")
	again := slices.ContainsFunc(i.words(), func(word *schemas.InquiryAnswered) bool { return i.person(word) == by })
	if !edits && (!again || choice == schemas.ChoiceReject) {
		o.world.violate(DecisionsAreTaken, "%s: message %s of %s is %s (%s), and inquiry %d is open: %q", r.id(), f.ID, by, f.Disposition, f.Reason, i.number, heard.said())
	}
}

// noTellsWhy: whoever has asked learns it with the failure, if the answer goes out.
func (o *oracle) noTellsWhy(m *moment) {
	f := schemas.As[*schemas.TaskFailed](m.fact)
	if f == nil || f.Cause != schemas.FailureRejected || f.Unrecovered != "" {
		return
	}
	var said *inquiry
	for _, i := range m.run.inquiries {
		if i.approval() && i.cause == m.cause && i.answered != nil && i.answered.Choice == schemas.ChoiceReject {
			said = i
		}
	}
	own := func(i *inquiry) bool { return i.task == m.task && i.approval() }
	if said == nil || !slices.ContainsFunc(m.run.inquiries, own) {
		return // nobody has said anything, somebody has declined work, or the same was refused to another task
	}
	heard := o.heard(m.shard, said.answered.Sequence)
	_, why := whole(heard.said())
	if control := heard.control; control != nil && control.Action == schemas.ControlReject {
		if decides, _ := whole(control.Text); decides == "" {
			why = strings.TrimSpace(control.Text)
		}
	}
	want := schemas.Because(schemas.Disapproved)
	if why != "" {
		want = schemas.Because(schemas.DisapprovedBecause, "words", why)
	}
	if len(f.Reasons) != 1 || !reflect.DeepEqual(f.Reasons[0], want) {
		o.world.violate(NoTellsWhy, "%s: inquiry %d is rejected by %q, and that is told as %v", m.id, said.number, heard.said(), f.Reasons)
	}
}

// The invariants that speak of people who are asked in the thread of a run.
const (
	AskedWhereTheyAre = "people are asked in the thread of a run when all of them are in its chat, and else by letters, as they are about what nobody there may see yet"
	ThreadIsHeard     = "what somebody writes in the thread of a run is a word on the oldest question by which they are asked there, when it decides that, and by nobody else"
)

// askedWhereTheyAre holds a question to where people are when it is asked, and notices of it to that.
func (o *oracle) askedWhereTheyAre(m *moment) {
	if f := schemas.As[*schemas.InquiryOpened](m.fact); f != nil {
		reply, people, known, away := m.run.message.Reply, o.profile(m.cause.Profile).People, 0, 0
		for _, name := range f.People {
			person, works := people[name]
			if !works {
				continue
			}
			if known++; reply == nil || person.Chat == nil || person.Chat.Channel != reply.Channel {
				away++
			}
		}
		there := m.run.message.Channel == schemas.ChannelChat && known > 0 && away == 0 && f.Task != schemas.DeliveryTask
		if f.InThread != there {
			o.world.violate(AskedWhereTheyAre, "%s: inquiry %d asks %v in the thread: %t, and of those %d who work there %d are not in it", m.id, f.Inquiry, f.People, f.InThread, known, away)
		}
		return
	}
	i, agent := m.run.inquiry(noticeOf(schemas.TaskOf(m.fact))), m.agent()
	if i == nil || agent == "" || m.task != nil && m.task.planned != nil {
		return
	}
	want := schemas.MailDelivery
	if !i.toPeople() || i.fact.InThread {
		want = m.run.message.Reply.Agent
	}
	if agent != want {
		o.world.violate(AskedWhereTheyAre, "%s: inquiry %d is told by %s instead of %s", m.id, i.number, agent, want)
	}
}

// inThread returns which of those who are asked by a question in a thread has written there, as the profile in force says; empty is none.
func (o *oracle) inThread(m *moment, i *inquiry, heard *hearing) string {
	if heard.chat == nil || heard.chat.User.ID == "" || !i.fact.InThread {
		return ""
	}
	for _, name := range i.fact.People {
		person := o.profile(m.cause.Profile).People[name]
		if person.Chat != nil && *person.Chat == (schemas.PersonInChat{Channel: heard.chat.Channel, User: heard.chat.User.ID}) {
			return name
		}
	}
	return ""
}

// asksThere is the oldest open question by which whoever has written is asked in the thread of a run; nil is none. Whoever has begun the run answers what they are
// asked as that first, and decides nothing by their name but what is done about a failure, and their own work.
func (o *oracle) asksThere(m *moment, r *run, heard *hearing) *inquiry {
	if first := o.heard(m.shard, r.message.Sequence); r.openInquiry() != nil && heard.of(&first) {
		return nil
	}
	for _, i := range r.inquiries {
		by := o.inThread(m, i, heard)
		agrees := i.approval() || i.fact.Kind.IsBudget()
		if i.open && by != "" && (!agrees || !o.hasBegun(m, r, o.profile(m.cause.Profile).People[by].Mail)) {
			return i
		}
	}
	return nil
}

// isAsked reports whether a message of one of those who are asked is about a question: it names that, or it is the one that they are asked in the thread.
func (o *oracle) isAsked(m *moment, i *inquiry, heard *hearing) bool {
	if heard.chat != nil {
		return o.asksThere(m, m.run, heard) == i
	}
	return heard.names(m.run) == i.number
}

// threadIsHeard holds what becomes of a message in a chat to who has written it, when, and what it says.
func (o *oracle) threadIsHeard(session *sessionHistory, m *moment) {
	f := schemas.As[*schemas.MessageReceived](m.fact)
	at := slices.IndexFunc(session.runs, func(r *run) bool { return r.ended == nil })
	if f == nil || f.Sequence != m.cause.Sequence || at < 0 {
		return
	}
	r, heard := session.runs[at], o.heard(m.shard, f.Sequence)
	if heard.chat == nil {
		return
	}
	i := o.asksThere(m, r, &heard)
	counts := i != nil && !i.asked.IsZero() && !heard.taken.Before(i.asked.Truncate(time.Second)) && heard.taken.Before(i.expires()) && i.decidedBy(heard.said())
	answers := f.Disposition == schemas.DispositionAnswered && r.inquiry(f.Inquiry) != nil && r.inquiry(f.Inquiry).toPeople()
	refused := f.Disposition == schemas.DispositionRefused && counts && f.Inquiry == i.number && o.refusable(m, i, &heard, schemas.Rejection(f.Reason))
	if answers && (!counts || f.Inquiry != i.number) || counts && !answers && !refused {
		number := 0
		if i != nil {
			number = i.number
		}
		o.world.violate(ThreadIsHeard, "%s: %s of %q is %s (%s) for inquiry %d, and is about inquiry %d: %t, by %q", r.id(), f.ID, heard.chat.User.ID, f.Disposition, f.Reason, f.Inquiry, number, counts, heard.said())
	}
}

// decidedBy reports whether words decide a question.
func (i *inquiry) decidedBy(said string) bool {
	switch choice, _ := whole(said); i.fact.Kind {
	case schemas.HumanTaskWork:
		return said != ""
	case schemas.HumanTaskApproval, schemas.HumanTaskAnswerApproval:
		return choice != ""
	case schemas.HumanTaskBudget:
		return threads.Decides(said)
	case schemas.HumanTaskFailure, schemas.HumanTaskReview:
		choice, _ = decided(said)
		return choice != ""
	case schemas.HumanTaskInput:
	}
	return false
}

// refusable reports whether a word that decides may be refused: it changes what nobody can change so, comes from somebody who has agreed, or says what cannot be done.
func (o *oracle) refusable(m *moment, i *inquiry, heard *hearing, reason schemas.Rejection) bool {
	choice, below := whole(heard.said())
	agrees := i.approval() && choice == schemas.ChoiceApprove
	if reason == schemas.WordEdit {
		return agrees && strings.ContainsAny(below, "{:")
	}
	if reason == schemas.WordDecided {
		by := o.inThread(m, i, heard)
		return agrees && slices.ContainsFunc(i.words(), func(word *schemas.InquiryAnswered) bool { return i.person(word) == by })
	}
	if reason == schemas.WordChoice || reason == schemas.WordPlan {
		choice, _ = decided(heard.said())
		return i.escalates() && (choice == schemas.ChoiceReplan || !slices.Contains(i.fact.Choices, choice))
	}
	return false
}
