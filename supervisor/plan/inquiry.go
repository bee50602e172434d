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
	"podium/supervisor/say"
)

// inputFor returns the human task by which the requester says what a task lacks; nil when
// nobody can be asked, or the task has asked as often as it may. An attempt of 0 has not begun.
func inputFor(v *View, task *workflow.Task, opened schemas.InquiryOpened) *schemas.InquiryOpened {
	if !reachesRequester(v) || v.Run.InquiriesOf(task.ID) >= v.Profile.Waiting.Asks+fault.Either("a task asks without end", 9, 0) || len(v.Run.Inquiries) >= schemas.MaxInquiries {
		return nil
	}
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskInput, v.Profile.Waiting.Remind, v.Profile.Waiting.Expire
	opened.Question = question(v, task, &opened)
	return &opened
}

// open opens a human task about a task.
func open(v *View, task *workflow.Task, opened *schemas.InquiryOpened) events {
	return openAll(v, task, []schemas.InquiryOpened{*opened})
}

// openAll opens human tasks about a task.
func openAll(v *View, task *workflow.Task, opened []schemas.InquiryOpened) events {
	var done events
	if asked := v.Run.AsksForBudget(); asked != nil && asked.Task == task.ID && !fault.Is("a task has two questions") {
		done = closeInquiry(v, asked, schemas.InquiryWithdrawn) // it had some since, and people are asked something else about it
	}
	for i := range opened {
		opened := &opened[i]
		opened.Run, opened.Inquiry, opened.Task = v.Run.Number, fault.Either("inquiry numbers are used again", 1, len(v.Run.Inquiries)+1+i), task.ID
		done = append(done, opened)
	}
	return done
}

// reached says where people are told, those of them whom one account writes to.
func reached(v *View, people []string) schemas.InquiryOpened {
	opened := schemas.InquiryOpened{People: people}
	for _, name := range people {
		if person, known := v.People[name]; known && person.Mail != "" && (opened.Account == "" || opened.Account == person.Account) {
			opened.Account = person.Account
			opened.To = append(opened.To, schemas.Address{Address: person.Mail})
		}
	}
	opened.InThread = inThread(v, people)
	return opened
}

// inThread reports whether all of some people are in the chat that the run comes from, so that they are asked in its thread.
func inThread(v *View, people []string) bool {
	reply, known := v.Run.Message.Reply, false
	if v.Run.Message.Channel != schemas.ChannelChat || reply == nil {
		return false
	}
	for _, name := range people {
		if person, there := v.People[name]; there {
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
func handOver(v *View, task *workflow.Task) events {
	opened := work(v, task, v.Profile.agentUse(task.Agent).Person.People)
	if len(opened.To) == 0 || len(v.Run.Inquiries) >= schemas.MaxInquiries {
		return fail(v, task, schemas.FailurePermanent)
	}
	return openOrAdopt(v, task, &opened)
}

// openOrAdopt asks people something about a task, unless an earlier attempt of the same piece of work has: then what they have said to that, and will, counts.
func openOrAdopt(v *View, task *workflow.Task, opened *schemas.InquiryOpened) events {
	left := adoptable(v, task, opened)
	if left == nil {
		return open(v, task, opened)
	}
	opened.Adopts = &schemas.Adopted{Letters: left.Letters(), Asked: left.Inquiry.Asked, Notices: left.Inquiry.Notices}
	opened.Adopts.Uncertain, opened.Adopts.Bounced = left.Uncertain, left.Inquiry.Bounced
	done := open(v, task, opened)
	v = v.after(done)
	number := len(v.Run.Inquiries)
	for _, word := range left.Words() {
		inquiry := v.Run.Inquiry(number)
		if said, may := held(v, word, inquiry); may && inquiry.Open() {
			decided := v.HumanTask(inquiry).applyHeld(&said)
			done, v = append(done, decided...), v.after(decided)
		}
	}
	return done
}

// work asks people to do a task.
func work(v *View, task *workflow.Task, people []string) schemas.InquiryOpened {
	person := v.Profile.agentUse(task.Agent).Person
	opened := reached(v, people)
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskWork, person.Remind, person.Expire
	opened.Question, opened.Told = shown(truncate(v.content(task.Plan.Description).Text, maxQuestion)), toldHash(v, task)
	return opened
}

// workAgain returns the human task by which people do a task once more whose answer is in another language than its requester's; nil when none of them can be
// asked. After is the inquiry that has that answer.
func workAgain(v *View, task *workflow.Task, people []string, after int) *schemas.InquiryOpened {
	opened := work(v, task, people)
	if len(opened.To) == 0 || len(v.Run.Inquiries) >= schemas.MaxInquiries {
		return nil
	}
	opened.After = after
	opened.Question = truncate(strings.TrimSpace(v.texts().WrongLanguage+"\n\n"+opened.Question), maxQuestion)
	return &opened
}

// isForPeople reports whether a task is handed over to people.
func isForPeople(v *View, task *workflow.Task) bool {
	return worksAsPerson(v, task) && (task.PreviousAgent == "" || !fault.Is("a machine does what is a person's after a fallback"))
}

// worksAsPerson reports whether people do a task.
func worksAsPerson(v *View, task *workflow.Task) bool {
	use := v.Profile.agentUse(task.Agent)
	return use != nil && use.Person != nil && task.Plan != nil
}

// adoptable returns the inquiry that an earlier attempt of the same piece of work has left about a task, if the same people were told the
// same; nil when they have to be asked.
func adoptable(v *View, task *workflow.Task, opened *schemas.InquiryOpened) *workflow.LeftInquiry {
	left := v.Left.InquiryOf(task.ID)
	adopted := func(other *workflow.Inquiry) bool { return other.Adopts != nil && other.Task == task.ID } // it is adopted once
	if left == nil || slices.ContainsFunc(v.Run.Inquiries, adopted) || fault.Is("a further attempt asks anew") || left.Over(v.Now) || left.Inquiry.Kind != opened.Kind || left.Inquiry.Need != opened.Need || left.Inquiry.Told != opened.Told && !fault.Is("a further attempt adopts what others are asked") || left.Inquiry.Account != opened.Account ||
		!slices.Equal(left.Inquiry.People, opened.People) || !slices.Equal(left.Inquiry.To, opened.To) {
		return nil
	}
	opened.Remind, opened.Expire = left.Inquiry.Remind, left.Inquiry.Expire
	return left
}

// held returns what was said to an inquiry before the run has adopted it.
func held(v *View, sequence uint64, inquiry *workflow.Inquiry) (Word, bool) {
	if sequence == 0 {
		return Word{}, false
	}
	return v.Held(v.Run, sequence, inquiry)
}

// reachesRequester reports whether the run may ask who has begun it. A supervisor upstream is told what is
// lacking by the answer, and asks.
func reachesRequester(v *View) bool {
	return v.Profile.Waiting != nil && v.Run.Message.ReplyAgent() != "" && v.Withheld == "" && v.AnswerFrom.IsZero()
}

// askForInput asks the requester for what a task lacks, as its agent says. The attempt ends, and is not counted. If the requester cannot be asked, the failure says what is lacking.
func askForInput(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	askable := func(need schemas.Need) bool { return need.From == "" || need.From == schemas.NeededFromRequester }
	if failed.Cause != schemas.FailureBlocked || failed.EffectUnknown || task.Kind != schemas.TaskKindWork || failed.Operation != nil || !task.State.UnderWay() {
		return nil
	}
	needs := failed.Needs
	if len(needs) == 0 && failed.Category == schemas.CategoryInput && failed.Detail != "" {
		needs = []schemas.Need{{Name: "answer", Question: inLanguage(v, failed.Detail)}}
	}
	if len(needs) == 0 || slices.ContainsFunc(needs, func(need schemas.Need) bool { return !askable(need) }) {
		return nil
	}
	needs, wordless := askableNeeds(v, needs)
	if len(wordless) > 0 && reachesRequester(v) {
		failed.Cause, failed.Category = schemas.FailureInvalidResult, category(schemas.FailureInvalidResult)
		failed.Detail, failed.Reasons = "", []schemas.Reason{schemas.Because(schemas.QuestionLanguage, "language", v.Run.Message.Language, "needs", strings.Join(wordless, ", "))}
		return nil
	}
	opened := inputFor(v, task, schemas.InquiryOpened{Attempt: task.Attempt, Needs: needs, Tokens: failed.Tokens, Usage: failed.Usage, Findings: failed.Findings})
	if opened != nil {
		return open(v, task, opened)
	}
	if v.Profile.Waiting != nil && len(failed.Needs) > 0 {
		failed.Reasons = []schemas.Reason{lacking(needs)}
	}
	return nil
}

// question is what a person is asked for what a task lacks.
func question(v *View, task *workflow.Task, opened *schemas.InquiryOpened) string {
	filler, tag := v.Profile.fillers[task.Agent], v.Run.Message.Language
	ofArguments := opened.Attempt == 0 && filler != nil
	asked, offers := make([]answer.Asked, len(opened.Needs)), false
	for i := range opened.Needs {
		need := &opened.Needs[i]
		asked[i] = answer.Asked{Title: titleOf(need), Question: need.Question[tag], Readings: need.Readings}
		if ofArguments {
			asked[i].Offered = filler.Offers(need.Name, need.Readings)
			asked[i].Unfit = len(need.Readings) == 1 && !filler.Fits(need.Name, need.Readings[0])
			asked[i].Readings = readable(v, filler, need.Name, need.Readings)
			offers = offers || asked[i].Offered
		}
	}
	if offers && task.Filled != nil {
		filled := filledBefore(task.Filled)
		for _, known := range filler.Read(&filled) {
			asked = append(asked, answer.Asked{Title: known.Title, Readings: readable(v, filler, known.Path, known.Readings), Offered: true})
		}
	}
	return truncate(answer.Question(asked, v.texts()), schemas.RecordInlineLimit)
}

// readable are values of an argument as people call them.
func readable(v *View, filler *arguments.Filler, path string, values []string) []string {
	told := make([]string, len(values))
	for i, value := range values {
		switch told[i] = truncate(filler.Told(path, value), maxReading); filler.Takes(path) {
		case "date":
			told[i] = answer.Day(value, v.Profile.language(v.Run.Message.Language).Date)
		case "boolean":
			told[i] = cmp.Or(map[string]string{"true": v.texts().Yes, "false": v.texts().No}[value], value)
		}
	}
	return told
}

// maxReading bounds what is shown of one reading, in bytes.
const maxReading = 200

// lacking lists what is lacking, when nobody is asked for it any more.
func lacking(needs []schemas.Need) schemas.Reason {
	names := make([]string, len(needs))
	for i := range needs {
		names[i] = titleOf(&needs[i])
	}
	return schemas.Because(schemas.InputMissing, "missing", strings.Join(names, ", "))
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
func notifyNext(v *View) events {
	for _, open := range v.Run.Inquiries {
		if !open.Open() || open.Notices > 0 || open.Upstream || len(open.People) == 0 && open.Inquiry != v.Run.OpenInquiry().Inquiry {
			continue
		}
		if done := notify(v, workflow.NewNotification(open.Inquiry, schemas.NotificationQuestion)); len(done) > 0 {
			return done
		}
	}
	return nil
}

// notify tells people of a human task.
func notify(v *View, notification *workflow.Task) events {
	told := *notification
	told.Agent = v.Run.Message.ReplyAgent()
	if asked := v.Run.Inquiry(notification.HumanTask()); len(asked.People) > 0 && (!asked.InThread || fault.Is("what is asked in the thread goes out by letters")) {
		told.Agent = schemas.MailDelivery
	}
	if mayTell(v, told.Agent) {
		return dispatch(v, &told)
	}
	return ready(v, &told)
}

// closeUndeliverable closes a human task whose question nobody could be sent. Where nobody knows whether it was sent, a reply is waited for.
func closeUndeliverable(v *View) events {
	for _, notice := range v.Run.DecisionTasks {
		if notice.HumanTask() == 0 || notice.State != workflow.TaskFailed || notice.IsExplanation() || notice.Permit != "" || notice.Failure().Cause == schemas.FailureUnknownEffect {
			continue
		}
		if asked := v.Run.Inquiry(notice.HumanTask()); asked.Open() && asked.Notices <= 1 {
			return endWithoutReply(v, asked, schemas.InquiryUnreachable)
		}
	}
	return nil
}

// workDone takes what a person has said as the result of a task.
func workDone(v *View, task *workflow.Task, word *Word) *schemas.TaskCompleted {
	completed := schemas.TaskCompleted{Run: v.Run.Number, Task: task.ID, Result: word.Text, Sequence: word.Sequence, Told: toldHash(v, task)}
	if task.State == workflow.TaskBlocked {
		completed.Recovered = task.Failure().Action
	}
	for i := range word.Files {
		if hash := word.Files[i].Artifact.SHA256; len(completed.Proven) < schemas.MaxProven && !slices.Contains(completed.Proven, hash) {
			completed.Proven = append(completed.Proven, hash)
		}
	}
	return &completed
}

// closeInquiry ends a human task without a reply, and cancels the notifications of it that were not sent.
func closeInquiry(v *View, inquiry *workflow.Inquiry, reason schemas.InquiryReason) events {
	closed := events{&schemas.InquiryClosed{Run: v.Run.Number, Inquiry: inquiry.Inquiry, Reason: reason}}
	return append(closed, withdrawNotices(v, inquiry, false)...)
}

// withdrawNotices cancels the notifications of a human task that were not sent, because it has ended by a reply or without one.
func withdrawNotices(v *View, inquiry *workflow.Inquiry, replied bool) events {
	if inquiry.Kind.IsAboutFailure() && fault.Is("whoever has answered is asked again") || replied && fault.Is("the notice of an inquiry is sent again after its answer") {
		return nil
	}
	var done events
	for _, task := range v.Run.DecisionTasks {
		if task.HumanTask() == inquiry.Inquiry && !task.State.Ended() {
			done = append(done, &schemas.TaskCancelled{Run: v.Run.Number, Task: task.ID, Attempt: task.Attempt})
		}
	}
	return done
}

// remind tells a person once more of an inquiry that waits. When those who are asked are others by now, or are elsewhere, they are
// asked anew, and whoever is not among them is told nothing more.
func remind(v *View, inquiry *workflow.Inquiry) events {
	if len(inquiry.People) > 0 && !slices.Equal(inquiry.To, reachedFor(v, inquiry).To) && !fault.Is("who was dismissed is told once more") {
		return askAnew(v, inquiry)
	}
	return notify(v, workflow.NewNotification(inquiry.Inquiry, schemas.NotificationReminder))
}

// unanswered reports whether a task came to nothing because nobody has answered.
func unanswered(v *View, task *workflow.Task) bool {
	last := lastAsked(v, task)
	return last != nil && last.Closed != ""
}

// declined reports whether a task came to nothing because whoever has written has said no to it.
func declined(v *View, task *workflow.Task) bool {
	last := lastAsked(v, task)
	return last != nil && last.Disapproved() && last.OfRequester()
}

// lastAsked is the last inquiry about a task itself, and not about a failure or what it uses.
func lastAsked(v *View, task *workflow.Task) *workflow.Inquiry {
	for _, inquiry := range slices.Backward(v.Run.Inquiries) {
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
	return say.Sentence(p.language(language), "question_code", "{code}", code)
}

// maxQuestion bounds what is shown of work that a person is to do, in bytes.
const maxQuestion = 1 << 10
