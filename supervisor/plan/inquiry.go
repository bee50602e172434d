package plan

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/arguments"
)

// inputFor returns the human task by which the requester says what a task lacks; nil when
// nobody can be asked, or the task has asked as often as it may. An attempt of 0 has not begun.
func inputFor(d *Decision, task *workflow.Task, opened schemas.InquiryOpened) *schemas.InquiryOpened {
	if !reachesRequester(d) || d.Run.InquiriesOf(task.ID) >= d.Profile.Waiting.Asks+fault.Either("a task asks without end", 9, 0) || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		return nil
	}
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskInput, d.Profile.Waiting.Remind, d.Profile.Waiting.Expire
	opened.Question = question(d, task, &opened)
	return &opened
}

func open(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) {
	if asked := d.Run.AsksForBudget(); asked != nil && asked.Task == task.ID && !fault.Is("a task has two questions") {
		closeInquiry(d, asked, schemas.InquiryWithdrawn) // it had some since, and people are asked something else about it
	}
	opened.Run, opened.Inquiry, opened.Task = d.Run.Number, fault.Either("inquiry numbers are used again", 1, len(d.Run.Inquiries)+1), task.ID
	if opened.Attempt > 0 {
		opened.Usage = takeSpent(d, task)
	}
	d.emit(opened)
	notifyNext(d)
}

// reached says where people are told, those of them whom one account writes to.
func reached(d *Decision, people []string) schemas.InquiryOpened {
	opened := schemas.InquiryOpened{People: people}
	for _, name := range people {
		if person, known := d.People[name]; known && person.Mail != "" && (opened.Account == "" || opened.Account == person.Account) {
			opened.Account = person.Account
			opened.To = append(opened.To, schemas.Address{Address: person.Mail})
		}
	}
	opened.InThread = inThread(d, people)
	return opened
}

// inThread reports whether all of some people are in the chat that the run comes from, so that they are asked in its thread.
func inThread(d *Decision, people []string) bool {
	reply, known := d.Run.Message.Reply, false
	if d.Run.Message.Channel != schemas.ChannelChat || reply == nil {
		return false
	}
	for _, name := range people {
		if person, there := d.People[name]; there {
			if known = true; person.Chat == nil || person.Chat.Channel != reply.Channel {
				return false
			}
			if fault.Is("one who is in the chat is enough to ask all of them there") {
				return true
			}
		}
	}
	return known
}

// handOver has people do a task. What they say is its result.
func handOver(d *Decision, task *workflow.Task) {
	opened := work(d, task, d.Profile.agentUse(task.Agent).Person.People)
	if len(opened.To) == 0 || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		fail(d, task, schemas.FailurePermanent, "")
		return
	}
	openOrAdopt(d, task, &opened)
}

// openOrAdopt asks people something about a task, unless an earlier attempt of the same piece of work has: then what they have said to that, and will, counts.
func openOrAdopt(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) {
	left := adoptable(d, task, opened)
	if left == nil {
		open(d, task, opened)
		return
	}
	opened.Adopts = &schemas.Adopted{Letters: left.Letters(), Asked: left.Inquiry.Asked, Notices: left.Inquiry.Notices}
	opened.Adopts.Uncertain, opened.Adopts.Bounced = left.Uncertain, left.Inquiry.Bounced
	words := left.Words()
	d.Left = d.Left.Without(task.ID) // it is adopted once
	open(d, task, opened)
	number := len(d.Run.Inquiries)
	for _, word := range words {
		inquiry := d.Run.Inquiry(number)
		if said, may := held(d, word, inquiry); may && inquiry.Open() {
			d.HumanTask(inquiry).applyHeld(&said)
		}
	}
}

// work asks people to do a task.
func work(d *Decision, task *workflow.Task, people []string) schemas.InquiryOpened {
	person := d.Profile.agentUse(task.Agent).Person
	opened := reached(d, people)
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskWork, person.Remind, person.Expire
	opened.Question, opened.Told = shown(truncate(d.content(task.Plan.Description).Text, maxQuestion)), toldHash(d, task)
	return opened
}

// workAgain returns the human task by which people do a task once more whose answer is in another language than its requester's; nil when none of them can be
// asked. After is the inquiry that has that answer.
func workAgain(d *Decision, task *workflow.Task, people []string, after int) *schemas.InquiryOpened {
	opened := work(d, task, people)
	if len(opened.To) == 0 || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		return nil
	}
	opened.After = after
	opened.Question = truncate(strings.TrimSpace(d.texts().WrongLanguage+"\n\n"+opened.Question), maxQuestion)
	return &opened
}

// isForPeople reports whether a task is handed over to people.
func isForPeople(d *Decision, task *workflow.Task) bool {
	return worksAsPerson(d, task) && (task.PreviousAgent == "" || !fault.Is("a machine does what is a person's after a fallback"))
}

// worksAsPerson reports whether people do a task.
func worksAsPerson(d *Decision, task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	return use != nil && use.Person != nil && task.Plan != nil
}

// adoptable returns the inquiry that an earlier attempt of the same piece of work has left about a task, if the same people were told the
// same; nil when they have to be asked.
func adoptable(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) *workflow.LeftInquiry {
	left := d.Left.InquiryOf(task.ID)
	if left == nil || fault.Is("a further attempt asks anew") || left.Over(d.Now) || left.Inquiry.Kind != opened.Kind || left.Inquiry.Need != opened.Need || left.Inquiry.Told != opened.Told && !fault.Is("a further attempt adopts what others are asked") || left.Inquiry.Account != opened.Account ||
		!slices.Equal(left.Inquiry.People, opened.People) || !slices.Equal(left.Inquiry.To, opened.To) {
		return nil
	}
	opened.Remind, opened.Expire = left.Inquiry.Remind, left.Inquiry.Expire
	return left
}

// held returns what was said to an inquiry before the run has adopted it.
func held(d *Decision, sequence uint64, inquiry *workflow.Inquiry) (Word, bool) {
	if sequence == 0 {
		return Word{}, false
	}
	return d.Held(sequence, inquiry)
}

// reachesRequester reports whether the run may ask who has begun it. A supervisor upstream is told what is
// lacking by the answer, and asks.
func reachesRequester(d *Decision) bool {
	return d.Profile.Waiting != nil && d.Run.Message.ReplyAgent() != "" && d.Withheld == "" && d.AnswerFrom.IsZero()
}

// lackedInput returns the human task by which the requester says what an agent says that a task lacks; nil when they cannot. Then the failure says what is lacking.
func lackedInput(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) *schemas.InquiryOpened {
	askable := func(need schemas.Need) bool { return need.From == "" || need.From == schemas.NeededFromRequester }
	if failed.Cause != schemas.FailureBlocked || failed.EffectUnknown || task.Kind != schemas.TaskKindWork || failed.Operation != nil {
		return nil
	}
	needs := failed.Needs
	if len(needs) == 0 && failed.Category == schemas.CategoryInput && failed.Detail != "" {
		needs = []schemas.Need{{Name: "answer", Question: inLanguage(d, failed.Detail)}}
	}
	if len(needs) == 0 || slices.ContainsFunc(needs, func(need schemas.Need) bool { return !askable(need) }) {
		return nil
	}
	needs, wordless := askableNeeds(d, needs)
	if len(wordless) > 0 && reachesRequester(d) {
		failed.Cause, failed.Category = schemas.FailureInvalidResult, ""
		failed.Detail = truncate("What is lacking needs a question in the language "+d.Run.Message.Language+": "+strings.Join(wordless, ", "), maxFeedback)
		return nil
	}
	opened := inputFor(d, task, schemas.InquiryOpened{Attempt: task.Attempt, Needs: needs, Tokens: failed.Tokens, Findings: failed.Findings})
	if opened == nil && d.Profile.Waiting != nil && len(failed.Needs) > 0 {
		failed.Detail = truncate(strings.TrimSpace(failed.Detail+"\n"+lacking(d, needs)), maxFeedback)
	}
	return opened
}

// question is what a person is asked for what a task lacks.
func question(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) string {
	filler, tag := d.Profile.fillers[task.Agent], d.Run.Message.Language
	ofArguments := opened.Attempt == 0 && filler != nil
	asked, offers := make([]answer.Asked, len(opened.Needs)), false
	for i := range opened.Needs {
		need := &opened.Needs[i]
		asked[i] = answer.Asked{Title: titleOf(need), Question: need.Question[tag], Readings: need.Readings}
		if ofArguments {
			asked[i].Offered = filler.Offers(need.Name, need.Readings)
			asked[i].Unfit = len(need.Readings) == 1 && !filler.Fits(need.Name, need.Readings[0])
			asked[i].Readings = readable(d, filler, need.Name, need.Readings)
			offers = offers || asked[i].Offered
		}
	}
	if offers && task.Filled != nil {
		filled := filledBefore(task.Filled)
		for _, known := range filler.Read(&filled) {
			asked = append(asked, answer.Asked{Title: known.Title, Readings: readable(d, filler, known.Path, known.Readings), Offered: true})
		}
	}
	return truncate(answer.Question(asked, d.texts()), schemas.RecordInlineLimit)
}

// readable are values of an argument as people call them.
func readable(d *Decision, filler *arguments.Filler, path string, values []string) []string {
	told := make([]string, len(values))
	for i, value := range values {
		switch told[i] = truncate(filler.Told(path, value), maxReading); filler.Takes(path) {
		case "date":
			told[i] = answer.Day(value, d.Profile.language(d.Run.Message.Language).Date)
		case "boolean":
			told[i] = cmp.Or(map[string]string{"true": d.texts().Yes, "false": d.texts().No}[value], value)
		}
	}
	return told
}

// maxReading bounds what is shown of one reading, in bytes.
const maxReading = 200

// lacking lists what is lacking, when nobody is asked for it any more.
func lacking(d *Decision, needs []schemas.Need) string {
	names := make([]string, len(needs))
	for i := range needs {
		names[i] = titleOf(&needs[i])
	}
	return truncate(strings.ReplaceAll(d.texts().Lacking, "{missing}", strings.Join(names, ", ")), maxFeedback)
}

// titleOf is what people call something that is lacking.
func titleOf(need *schemas.Need) string {
	if need.Title != "" {
		return need.Title
	}
	if at := strings.LastIndexByte(need.Name, '.'); at >= 0 {
		return need.Name[at+1:]
	}
	return need.Name
}

// notifyNext tells people of what they are asked, unless they know of it: the requester is asked one thing at a time.
func notifyNext(d *Decision) {
	for _, open := range d.Run.Inquiries {
		if open.Open() && open.Notices == 0 && !open.Upstream && (len(open.People) > 0 || open.Inquiry == d.Run.OpenInquiry().Inquiry) {
			notify(d, workflow.NewNotification(open.Inquiry, schemas.NotificationQuestion))
		}
	}
}

func notify(d *Decision, notification *workflow.Task) {
	notification.Agent = d.Run.Message.ReplyAgent()
	if asked := d.Run.Inquiry(notification.HumanTask()); len(asked.People) > 0 && (!asked.InThread || fault.Is("what is asked in the thread goes out by letters")) {
		notification.Agent = schemas.MailDelivery
	}
	if admitTelling(d, notification.Agent) {
		dispatch(d, notification)
	} else {
		ready(d, notification)
	}
}

// closeUndeliverable closes a human task whose question nobody could be sent. Where nobody knows whether it was sent, a reply is waited for.
func closeUndeliverable(d *Decision) {
	for _, notice := range d.Run.DecisionTasks {
		if notice.HumanTask() == 0 || notice.State != workflow.TaskFailed || notice.IsExplanation() || notice.Permit != "" || notice.Failure().Cause == schemas.FailureUnknownEffect {
			continue
		}
		if asked := d.Run.Inquiry(notice.HumanTask()); asked.Open() && asked.Notices <= 1 {
			d.Unanswered(asked, schemas.InquiryUnreachable)
			return
		}
	}
}

// workDone takes what a person has said as the result of a task.
func workDone(d *Decision, task *workflow.Task, word *Word) {
	completed := schemas.TaskCompleted{Run: d.Run.Number, Task: task.ID, Result: word.Text, Sequence: word.Sequence, Told: toldHash(d, task)}
	if task.State == workflow.TaskBlocked {
		completed.Recovered = task.Failure().Action
	}
	for i := range word.Files {
		if hash := word.Files[i].Artifact.SHA256; len(completed.Proven) < schemas.MaxProven && !slices.Contains(completed.Proven, hash) {
			completed.Proven = append(completed.Proven, hash)
		}
	}
	d.emit(&completed)
}

func closeInquiry(d *Decision, inquiry *workflow.Inquiry, reason schemas.InquiryReason) {
	d.emit(&schemas.InquiryClosed{Run: d.Run.Number, Inquiry: inquiry.Inquiry, Reason: reason})
	withdrawNotices(d, inquiry.Inquiry)
}

// withdrawNotices takes back what has not been told yet.
func withdrawNotices(d *Decision, inquiry int) {
	if d.Run.Inquiry(inquiry).Kind.IsAboutFailure() && fault.Is("whoever has answered is asked again") {
		return
	}
	for _, task := range d.Run.DecisionTasks {
		if task.HumanTask() == inquiry && !task.State.Ended() && !(d.Run.Inquiry(inquiry).Answered != nil && fault.Is("the notice of an inquiry is sent again after its answer")) {
			d.emit(&schemas.TaskCancelled{Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt})
		}
	}
}

// closeInquiries closes all that are open, because the run goes no further.
func closeInquiries(d *Decision, reason schemas.InquiryReason) {
	for _, inquiry := range d.Run.Inquiries {
		if inquiry.Open() {
			closeInquiry(d, inquiry, reason)
		}
	}
}

// remind tells a person once more of an inquiry that waits. When those who are asked are others by now, or are elsewhere, they are
// asked anew, and whoever is not among them is told nothing more.
func remind(d *Decision, inquiry *workflow.Inquiry) {
	if len(inquiry.People) > 0 && !slices.Equal(inquiry.To, reachedFor(d, inquiry).To) && !fault.Is("who was dismissed is told once more") {
		d.AskAnew(inquiry)
		return
	}
	notify(d, workflow.NewNotification(inquiry.Inquiry, schemas.NotificationReminder))
}

// unanswered reports whether a task came to nothing because nobody has answered.
func unanswered(d *Decision, task *workflow.Task) bool {
	last := lastAsked(d, task)
	return last != nil && last.Closed != ""
}

// declined reports whether a task came to nothing because whoever has written has said no to it.
func declined(d *Decision, task *workflow.Task) bool {
	last := lastAsked(d, task)
	return last != nil && last.Disapproved() && last.OfRequester()
}

// lastAsked is the last inquiry about a task itself, and not about a failure or what it uses.
func lastAsked(d *Decision, task *workflow.Task) *workflow.Inquiry {
	for _, inquiry := range slices.Backward(d.Run.Inquiries) {
		if inquiry.Task == task.ID && !inquiry.Kind.IsAboutFailure() && !inquiry.Kind.IsBudget() {
			return inquiry
		}
	}
	return nil
}

// Notice are the words of a notification: the question, and above a further one that it is a reminder.
func (p *Profile) Notice(run *workflow.Run, notification *workflow.Task) string {
	inquiry := run.Inquiry(notification.HumanTask())
	texts := p.TextsIn(run.Message.Language)
	words := inquiry.Question
	switch {
	case inquiry.Kind.IsWork():
		words = texts.Handed
		if inquiry.After > 0 {
			words = strings.TrimSpace(texts.WrongLanguage + "\n\n" + words)
		}
	case notification.IsExplanation():
		return inquiry.Addressed(strings.TrimSpace(texts.Indecisive + "\n\n" + words))
	}
	words = inquiry.Addressed(words)
	if notification.Subject().Notification == schemas.NotificationQuestion {
		return words
	}
	return strings.TrimSpace(texts.Reminder + "\n\n" + words)
}

// QuestionCode tells the code of an inquiry, which a reply to it may quote.
func (p *Profile) QuestionCode(language, code string) string {
	told := cmp.Or(p.TextsIn(language).Code, "Code of this question: {code}")
	return strings.ReplaceAll(told, "{code}", code)
}

// maxQuestion bounds what is shown of work that a person is to do, in bytes.
const maxQuestion = 1 << 10
