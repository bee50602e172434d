package plan

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

// inquire has a task wait until a person has said what it lacks. It reports false, and does nothing, when
// nobody can be asked, or the task has asked as often as it may. An attempt of 0 has not begun.
func (d *Decision) inquire(task *workflow.Task, opened schemas.InquiryOpened) bool {
	if !d.reachesRequester() || d.Run.InquiriesOf(task.ID) >= d.Profile.Waiting.Asks || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		return false
	}
	opened.Run, opened.Inquiry, opened.Task, opened.Kind = d.Run.Number, len(d.Run.Inquiries)+1, task.ID, schemas.InquiryInput
	opened.Remind, opened.Expire = d.Profile.Waiting.Remind, d.Profile.Waiting.Expire
	opened.Question = d.question(opened.Needs)
	d.Emit(&opened)
	d.notifyNext()
	return true
}

// reachesRequester reports whether the run may ask who has begun it. A supervisor upstream is told what is
// lacking by the answer, and asks.
func (d *Decision) reachesRequester() bool {
	return d.Profile.Waiting != nil && d.Run.Message.ReplyAgent() != "" && d.Withheld == nil
}

// lacks has a task wait for what its agent says that it lacks, if the requester can say that.
func (d *Decision) lacks(task *workflow.Task, failed *schemas.TaskFailed) bool {
	askable := func(need schemas.Need) bool { return need.From == "" || need.From == schemas.NeededFromRequester }
	if failed.Cause != schemas.FailureBlocked || failed.EffectUnknown || task.Kind != "" || task.ID == schemas.DeliveryTask || failed.Operation != nil {
		return false
	}
	needs := failed.Needs
	if len(needs) == 0 && failed.Category == schemas.CategoryInput && failed.Detail != "" {
		needs = []schemas.Need{{Name: "answer", Question: d.inLanguage(failed.Detail)}}
	}
	if len(needs) == 0 || slices.ContainsFunc(needs, func(need schemas.Need) bool { return !askable(need) }) {
		return false
	}
	if d.inquire(task, schemas.InquiryOpened{Attempt: task.Attempt, Needs: needs, Tokens: failed.Tokens, Findings: failed.Findings}) {
		return true
	}
	if d.Profile.Waiting != nil && len(failed.Needs) > 0 {
		failed.Detail = truncate(strings.TrimSpace(failed.Detail+"\n"+d.question(failed.Needs)), maxFeedback)
	}
	return false
}

// question is what a person is told to be lacking: what has no question of its own in one sentence, then
// the questions, each on a line.
func (d *Decision) question(needs []schemas.Need) string {
	texts := d.texts()
	var names, lines []string
	for i := range needs {
		need := &needs[i]
		own := need.Question[d.Run.Message.Language]
		switch {
		case len(need.Readings) > 0:
			unsure := strings.NewReplacer("{missing}", titleOf(need), "{readings}", strings.Join(need.Readings, " / ")).Replace(texts.Unsure)
			lines = append(lines, strings.TrimSpace(own+" "+unsure))
		case own != "":
			lines = append(lines, own)
		default:
			names = append(names, titleOf(need))
		}
	}
	if len(names) > 0 {
		lines = append([]string{strings.ReplaceAll(texts.Missing, "{missing}", strings.Join(names, ", "))}, lines...)
	}
	return truncate(strings.Join(lines, "\n"), schemas.RecordInlineLimit)
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

// notifyNext tells a person of the oldest open inquiry, unless they know of it: they are asked one thing at a time.
func (d *Decision) notifyNext() {
	if open := d.Run.OpenInquiry(); open != nil && open.Notices == 0 {
		d.notify(schemas.NoticeTask(open.Inquiry, 1))
	}
}

func (d *Decision) notify(notice string) {
	agent := d.Run.Message.ReplyAgent()
	switch d.Admission.Admit(agent) {
	case Admitted, Unavailable: // a question is worth the try
		d.dispatch(notice, schemas.KindWork, agent, 1)
	case Full:
		d.ready(notice, schemas.KindWork, agent)
	}
}

// noticeFailed closes an inquiry that nobody could be told of. Where nobody knows whether they were, it is waited for a word.
func (d *Decision) noticeFailed(notice *workflow.Task, cause schemas.FailureKind) {
	inquiry := d.Run.Inquiry(notice.Notice())
	if cause == schemas.FailureUnknownEffect || inquiry.Notices > 1 {
		return
	}
	d.Unanswered(inquiry, schemas.InquiryUnreachable)
}

// A Word is what a person says to an inquiry.
type Word struct {
	Choice   schemas.InquiryChoice
	Actor    schemas.Actor
	Sequence uint64 // of the input that holds it
	Text     schemas.Content
	Whole    string // all of the text
	Files    int
}

// Answer goes on with what a person has said to an open inquiry.
func (d *Decision) Answer(inquiry *workflow.Inquiry, word *Word) {
	d.Emit(&schemas.InquiryAnswered{
		Run: d.Run.Number, Inquiry: inquiry.Inquiry, Choice: word.Choice, Actor: word.Actor, Sequence: word.Sequence, Text: word.Text, Files: word.Files,
		Values: d.valuesIn(inquiry, word.Whole), RunExpires: d.Run.Resumed(inquiry.Inquiry, d.Now),
	})
	d.withdrawNotices(inquiry.Inquiry)
	d.start(d.Run.Task(inquiry.Task))
	if !d.Run.Settled() {
		d.notifyNext()
	}
}

// Unanswered goes on without a person's word: the task is blocked by what it lacks.
func (d *Decision) Unanswered(inquiry *workflow.Inquiry, reason schemas.InquiryReason) {
	d.closeInquiry(inquiry, reason)
	task := d.Run.Task(inquiry.Task)
	d.failWith(task, schemas.TaskFailed{
		Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: inquiry.Needs,
		Detail: strings.TrimSpace(d.texts().Unanswered + "\n\n" + inquiry.Question),
	})
	if !d.Run.Settled() {
		d.notifyNext()
	}
}

func (d *Decision) closeInquiry(inquiry *workflow.Inquiry, reason schemas.InquiryReason) {
	d.Emit(&schemas.InquiryClosed{
		Run: d.Run.Number, Inquiry: inquiry.Inquiry, Reason: reason, RunExpires: d.Run.Resumed(inquiry.Inquiry, d.Now),
	})
	d.withdrawNotices(inquiry.Inquiry)
}

// withdrawNotices takes back what has not been told yet.
func (d *Decision) withdrawNotices(inquiry int) {
	for _, task := range d.Run.DecisionTasks {
		if task.Notice() == inquiry && !task.State.Ended() {
			d.Emit(&schemas.TaskCancelled{Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt})
		}
	}
}

// closeInquiries closes all that are open, because the run goes no further.
func (d *Decision) closeInquiries(reason schemas.InquiryReason) {
	for _, inquiry := range d.Run.Inquiries {
		if inquiry.Open() {
			d.closeInquiry(inquiry, reason)
		}
	}
}

// remind tells a person once more of an inquiry that waits.
func (d *Decision) remind(notice string) {
	d.notify(schemas.NoticeTask(schemas.NoticeOf(notice), 2))
}

// unanswered reports whether a task came to nothing because nobody has answered.
func (d *Decision) unanswered(task *workflow.Task) bool {
	for _, inquiry := range slices.Backward(d.Run.Inquiries) {
		if inquiry.Task == task.ID {
			return inquiry.Closed != ""
		}
	}
	return false
}

// Notice are the words of a notice: the question, and above a further one that it is a reminder.
func (p *Profile) Notice(run *workflow.Run, notice string) string {
	inquiry := run.Inquiry(schemas.NoticeOf(notice))
	if notice == schemas.NoticeTask(inquiry.Inquiry, 1) {
		return inquiry.Question
	}
	return strings.TrimSpace(p.TextsIn(run.Message.Language).Reminder + "\n\n" + inquiry.Question)
}
