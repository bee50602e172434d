package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
	"podium/supervisor/recovery"
	"podium/supervisor/review"
)

// settle fixes the outcome when no task is left: completed when every task is
// that the run cannot do without, blocked when one waits for whoever asked,
// partial when some are, failed when none is (M-56).
func settle(d *Decision) {
	completed, failed := tellsResults(d), decisive(d)
	switch {
	case failed == nil && partial(d) != nil:
		conclude(d, schemas.RunPartial, schemas.StopPartial, partialResult(d, partial(d)))
	case failed == nil:
		conclude(d, schemas.RunCompleted, completionReason(d), nil)
	case failed.Failure().Cause == schemas.FailureBlocked && unanswered(d, failed):
		concludeUnfinished(d, schemas.RunBlocked, schemas.StopNoAnswer, failure(d, failed, completed))
	case failed.Failure().Cause == schemas.FailureUnapproved && onTainted(d, failed) == schemas.OnTaintedAsk:
		concludeUnfinished(d, schemas.RunBlocked, schemas.StopUnapproved, failure(d, failed, completed))
	case failed.Failure().Cause == schemas.FailureBlocked, forUpstream(d, failed):
		concludeUnfinished(d, schemas.RunBlocked, schemas.StopBlocked, failure(d, failed, completed))
	case completed:
		concludeUnfinished(d, schemas.RunPartial, stopReason(failed.Failure().Cause), failure(d, failed, true))
	default:
		concludeUnfinished(d, schemas.RunFailed, stopReason(failed.Failure().Cause), failure(d, failed, false))
	}
}

// forUpstream reports whether whoever is upstream decides about a failure: they are told what is there, and plan anew (M-20).
func forUpstream(d *Decision, failed *workflow.Task) bool {
	failure := failed.Failure()
	return failed.State == workflow.TaskFailed && d.Run.Message.Upstream != nil && recovery.Upstream(&d.Profile.Profile, failure.Category, failure.Cause)
}

func completedAny(d *Decision) bool {
	return slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool { return task.State == workflow.TaskCompleted })
}

// tellsResults reports whether some of the results of a run whose work is not done are told.
func tellsResults(d *Decision) bool { return completedAny(d) && !withheldByReview(d) }

// decisive returns the failed task that the outcome is told by: the first one
// that is blocked, else the first. One that was skipped counts only when nothing
// at all was done.
func decisive(d *Decision) *workflow.Task {
	var failed, skipped *workflow.Task
	for i := range d.Run.Tasks {
		task := d.Run.Tasks[i]
		switch {
		case task.Replaced && !fault.Is("a replaced failure is told") || review.IsFix(task) && !fault.Is("a failed mend is told"): // whether it is mended, the review says
		case task.State == workflow.TaskFailed && (failed == nil || failed.Failure().Cause != schemas.FailureBlocked && task.Failure().Cause == schemas.FailureBlocked):
			failed = task
		case task.State == workflow.TaskSkipped && task.Failure().Cause != "" && skipped == nil:
			skipped = task
		}
	}
	if failed == nil && !completedAny(d) {
		return skipped
	}
	return failed
}

// partial returns the first task that the run cannot do without and whose result is not all
// that was asked for; nil when there is none.
func partial(d *Decision) *workflow.Task {
	for _, task := range d.Run.Tasks {
		if task.State == workflow.TaskCompleted && task.Partial && !task.Optional() && (d.Profile.Review == nil && d.Run.Standing(task.ID) == task || d.Profile.Review != nil && review.Stands(d.Run, task)) {
			return task
		}
	}
	return nil
}

func partialResult(d *Decision, task *workflow.Task) *schemas.Error {
	return runFailure(d, schemas.ErrorToolFailure, schemas.ActionEscalate,
		"task "+task.ID+" of agent "+task.Agent+": the agent says that its result is partial", d.texts().Partial)
}

// completionReason tells apart who has answered (O-13).
func completionReason(d *Decision) schemas.StopReason {
	direct := len(d.Run.Tasks) > 0
	for i := range d.Run.Tasks {
		switch d.Run.Tasks[i].Agent {
		case schemas.RouteFinish:
			return schemas.StopFinished
		case schemas.RouteRespond:
		default:
			direct = false
		}
	}
	if direct {
		return schemas.StopDirectAnswer
	}
	return schemas.StopCompleted
}

func conclude(d *Decision, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) {
	var answer []schemas.AnswerPart
	for _, task := range standing(d) {
		if status == schemas.RunCompleted || !fault.Is("only what was completed is told") {
			answer = append(answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
		}
	}
	if status == schemas.RunCompleted && d.Profile.stepwise() && len(answer) > 1 {
		answer = answer[len(answer)-1:] // the others were on the way to it
	}
	concludeWith(d, status, reason, failure, answer)
}

// concludeUnfinished is conclude for a run whose work is not done: results that a review has not passed are not told.
func concludeUnfinished(d *Decision, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) {
	if withheldByReview(d) {
		concludeWith(d, status, reason, failure, nil)
		return
	}
	conclude(d, status, reason, failure)
}

func concludeWith(d *Decision, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error, answer []schemas.AnswerPart) {
	if asked := d.Run.AsksForBudget(); asked != nil {
		closeInquiry(d, asked, schemas.InquiryWithdrawn) // what waited for more of a day had some, and has failed
	}
	settled := schemas.RunSettled{Run: d.Run.Number, Status: status, Reason: reason, Error: failure, Answer: answer}
	tell(d, &settled)
	if status == schemas.RunCompleted || status == schemas.RunPartial && reason == schemas.StopPartial {
		settled.Summary = summaryOf(d, settled.Answer)
	}
	d.emit(&settled)
	rule := answerRule(d)
	switch {
	case d.Run.Message.ReplyAgent() == "":
		end(d, reason, "")
	case rule != nil && d.Run.Message.Withheld == "":
		holdAnswer(d, rule)
	case d.AnswerFrom.IsZero() && d.Withheld != "":
		d.emit(&schemas.ReplyWithheld{Run: d.Run.Number, Reason: d.Withheld})
		end(d, reason, "")
	default:
		deliverDelayed(d)
	}
}

// deliverDelayed delivers the answer of a settled run, or has it wait until its budget has capacity for it.
// The run stays under way, so that later messages of its session wait and answers go out in order.
func deliverDelayed(d *Decision) {
	if d.AnswerFrom.IsZero() {
		d.Deliver()
		return
	}
	d.emit(&schemas.AnswerDelayed{Run: d.Run.Number, Agent: d.Run.Message.ReplyAgent(), Until: d.AnswerFrom})
}

// inAnswer reports whether a task's result is part of the answer: in a graph it is
// not when another result builds on it, or on what has mended it, or was to.
func inAnswer(d *Decision, task *workflow.Task) bool {
	if d.Profile.Execution.Mode != schemas.ExecutionDAG {
		return true
	}
	return !slices.ContainsFunc(d.Run.Tasks, func(other *workflow.Task) bool {
		return other.Recovers() == "" && (other.State == workflow.TaskCompleted || other.Replaced) && slices.ContainsFunc(other.Dependencies(), isOf(d, task))
	})
}

// isOf reports whether a result is that of a task, also by the id of what has mended that.
func isOf(d *Decision, task *workflow.Task) func(id string) bool {
	return func(id string) bool {
		if id == task.ID {
			return true
		}
		other := d.Run.Task(id)
		return other != nil && other.Origin() == task.ID
	}
}

func end(d *Decision, reason schemas.StopReason, delivered string) {
	d.emit(&schemas.RunEnded{
		Run: d.Run.Number, Status: d.Run.Status, Reason: reason, Replied: delivered, Final: d.final && d.Run.LeavesAll(),
	})
}

func stopReason(kind schemas.FailureKind) schemas.StopReason {
	switch kind {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		return schemas.StopTimeout
	case schemas.FailureNoRoute:
		return schemas.StopNoRoute
	case schemas.FailureUnavailable:
		return schemas.StopUnavailable
	case schemas.FailureBlocked:
		return schemas.StopBlocked
	case schemas.FailureRejected:
		return schemas.StopRejected
	case schemas.FailureUnapproved:
		return schemas.StopUnapproved
	case schemas.FailureBudget:
		return schemas.StopBudget
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed,
		schemas.FailureVerdict, schemas.FailureConflict:
	}
	return schemas.StopTaskFailed
}

// maxFailuresTold is how many failures of tasks an answer tells at the most.
const maxFailuresTold = 5

// failure tells why a run has failed in the requester's language (G-28): by the task that decides it, and by the others behind it.
func failure(d *Decision, task *workflow.Task, partial bool) *schemas.Error {
	failure, sentence := failureOf(d, task)
	told := []string{sentence}
	for _, other := range d.Run.Tasks {
		if other == task || other.State != workflow.TaskFailed || other.Replaced || review.IsFix(other) {
			continue
		}
		also, sentence := failureOf(d, other)
		failure.InternalDetails = truncate(failure.InternalDetails+"; "+also.InternalDetails, maxFeedback)
		if !slices.Contains(told, sentence) && len(told) < maxFailuresTold {
			told = append(told, sentence)
		}
	}
	if partial {
		told = append(told, d.texts().Partial)
	}
	failure.Message = inLanguage(d, strings.Join(told, "\n\n"))
	return failure
}

// failureOf tells the failure of one task.
func failureOf(d *Decision, task *workflow.Task) (*schemas.Error, string) {
	texts := d.texts()
	failure := schemas.Error{
		ErrorType:       schemas.ErrorToolFailure,
		SuggestedAction: schemas.ActionEscalate,
		InternalDetails: "task " + task.ID + " of agent " + task.Agent + ": " + string(task.Failure().Cause),
	}
	sentence := texts.TaskFailed
	switch task.Failure().Cause {
	case schemas.FailureUnavailable: // it was refused at once
		sentence, failure.SuggestedAction = cmp.Or(texts.Unavailable, texts.Timeout), schemas.ActionRetry
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		sentence, failure.SuggestedAction = texts.Timeout, schemas.ActionRetry
	case schemas.FailureNoRoute:
		sentence, failure.ErrorType = texts.NoRoute, schemas.ErrorValidation
		failure.InternalDetails = "task " + task.ID + ": no router decided"
		if texts.Undecided != "" && undecided(d, task.ID) {
			sentence, failure.ErrorType, failure.SuggestedAction = texts.Undecided, schemas.ErrorToolFailure, schemas.ActionRetry
			failure.InternalDetails += ", and who was asked to has failed"
		}
	case schemas.FailureArguments:
		failure.ErrorType = schemas.ErrorValidation
	case schemas.FailureBlocked:
		// Its call was never valid, and nothing was sent (G-14).
		if needs := task.Failure().Needs; task.Failure().Attempt == 0 && len(needs) > 0 {
			failure.ErrorType = schemas.ErrorValidation
			failure.InternalDetails += ", lacks " + strings.Join(namesOf(needs), ", ")
		}
	case schemas.FailureUnknownEffect:
		sentence, failure.SuggestedAction = cmp.Or(texts.UnknownEffect, texts.TaskFailed), schemas.ActionManualIntervention
	case schemas.FailureUnapproved:
		failure.SuggestedAction = schemas.ActionManualIntervention
		if d.Run.Message.HasUnknownRequester() {
			failure.InternalDetails += "; its mail names no author that can be read, and each approver may be the author: " +
				"what is meant can be asked for by podium send"
			break
		}
		failure.InternalDetails += "; it acts outside, and what it was asked comes from outside: where that is meant, write on_tainted: allow " +
			"for it in profile " + d.Run.Profile
		failure.InternalDetails += ", or a rule of approval with tainted: true, by which people are asked"
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult, schemas.FailureMalformed, schemas.FailureRejected, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	detail := task.Failure().Detail
	internal := task.Failure().Cause == schemas.FailureUnavailable && detail != ""
	if internal || task.Failure().Cause == schemas.FailureArguments || task.Failure().Cause == schemas.FailureInvalidResult || task.Failure().Cause == schemas.FailureMalformed {
		failure.InternalDetails += ": " + detail
		detail = "" // it speaks of schemas, and not to a person
	}
	if told := fitting(d, detail); told != detail {
		failure.InternalDetails += ", in words that are not in " + d.Run.Message.Language
		detail = told
	}
	sentence = strings.TrimSpace(strings.NewReplacer("{detail}", detail, "{task}", task.ID, "{agent}", task.Agent).Replace(sentence))
	return &failure, sentence
}

func namesOf(needs []schemas.Need) []string {
	names := make([]string, len(needs))
	for i := range needs {
		names[i] = needs[i].Name
	}
	return names
}

func inLanguage(d *Decision, sentence string) map[string]string {
	return map[string]string{d.Run.Message.Language: strings.TrimSpace(sentence)}
}

// runFailure tells why a run as a whole has ended, in the requester's language.
func runFailure(d *Decision, kind schemas.ErrorType, action schemas.SuggestedAction, details, sentence string) *schemas.Error {
	return &schemas.Error{ErrorType: kind, SuggestedAction: action, InternalDetails: details, Message: inLanguage(d, sentence)}
}

func (d *Decision) texts() *schemas.Texts { return d.Profile.TextsIn(d.Run.Message.Language) }

// Cancel stops the run for a person, for good. It does nothing when the outcome is
// already fixed, and its answer waits for nobody.
func (d *Decision) Cancel() {
	d.final = true
	d.Release()
}

// Withdraw is Cancel by whoever has asked, in answer to a question. Where nothing was done yet they are told so.
func (d *Decision) Withdraw() {
	told := d.texts().Cancelled
	if !completedAny(d) {
		told = cmp.Or(d.texts().Withdrawn, told)
	}
	d.final = true
	release(d, told)
}

// Release is Cancel for whoever is upstream: the attempt is not waited for, and another one may follow.
func (d *Decision) Release() { release(d, d.texts().Cancelled) }

func release(d *Decision, told string) {
	if d.Run.Settled() {
		discardAnswer(d, schemas.StopCancelled, schemas.InquiryCancelled)
		return
	}
	stop(d, schemas.RunCancelled, schemas.StopCancelled, schemas.InquiryCancelled,
		runFailure(d, schemas.ErrorSystem, schemas.ActionManualIntervention, "cancelled by a person", told))
}

// Supersede stops the run because a newer message takes its place; nobody is
// told, since that one will be answered. It does nothing when the outcome is
// already fixed, and its answer waits for nobody.
func (d *Decision) Supersede() {
	if d.Run.Settled() {
		discardAnswer(d, schemas.StopSuperseded, schemas.InquirySuperseded)
		return
	}
	cancelTasks(d, schemas.InquirySuperseded)
	d.emit(&schemas.RunSettled{
		Run: d.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopSuperseded,
	})
	end(d, schemas.StopSuperseded, "")
}

// Refuse ends a run before any work: its sender is forged, and nobody is told.
func (d *Decision) Refuse() {
	d.emit(&schemas.RunSettled{Run: d.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopRefuted})
	if d.Run.Message.ReplyAgent() != "" && d.Withheld != "" {
		d.emit(&schemas.ReplyWithheld{Run: d.Run.Number, Reason: d.Withheld})
	}
	end(d, schemas.StopRefuted, "")
}

// expire stops the run because its time is over; what is there is kept (M-56).
func expire(d *Decision) {
	unfinished(d, schemas.StopExpired, schemas.ActionRetry, "the run's deadline has passed", d.texts().Timeout)
}

// stop ends all work of the run, and closes what people are asked.
func stop(d *Decision, status schemas.RunStatus, reason schemas.StopReason, closed schemas.InquiryReason, failure *schemas.Error) {
	cancelTasks(d, closed)
	concludeUnfinished(d, status, reason, failure)
}

func cancelTasks(d *Decision, closed schemas.InquiryReason) {
	if closed != schemas.InquiryCancelled || !fault.Is("a wait survives a cancel") {
		closeInquiries(d, closed)
	}
	for i := range d.Run.TaskCount() {
		task := d.Run.TaskAt(i)
		if !task.State.Ended() {
			d.emit(&schemas.TaskCancelled{
				Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			})
		}
	}
}

// Deliver has the answer of a settled run delivered, by a further attempt when there
// were some.
func (d *Decision) Deliver() {
	delivery := workflow.NewDelivery(d.Run.Message.ReplyAgent())
	if d.Run.Delivery != nil {
		delivery.Attempt = d.Run.Delivery.Attempt
	}
	if admitTelling(d, delivery.Agent) {
		dispatch(d, delivery)
	} else {
		ready(d, delivery)
	}
}

// answerRule is the rule by which people agree before the answer of the run is sent; nil when nobody has to, or may.
func answerRule(d *Decision) *schemas.ApprovalRule {
	if d.Profile.rules.None() {
		return nil
	}
	outside := deliveryNeedsApproval(d)
	if outside && onTainted(d, workflow.NewDelivery("")) != schemas.OnTaintedAsk {
		return nil
	}
	if d.Run.Status == schemas.RunFailed && fault.Is("a failure is told without leave") {
		return nil
	}
	return d.Profile.rules.ForAnswer(outside, d.Run.Message.FromOutside())
}

// Unagreed reports whether people have to agree to the answer of a run that is over, and nobody has asked them: it was withheld before.
func (p *Profile) Unagreed(run *workflow.Run) bool {
	asked := slices.ContainsFunc(run.Inquiries, func(inquiry *workflow.Inquiry) bool { return inquiry.Task == schemas.DeliveryTask })
	return !asked && answerRule((&Decision{Run: run, Profile: p})) != nil
}

// holdAnswer has the answer of a settled run wait until people have approved it by a rule.
func holdAnswer(d *Decision, rule *schemas.ApprovalRule) {
	opened := approvalBy(rule, schemas.HumanTaskAnswerApproval)
	opened.Hash = answerHash(d)
	opened.Need = fault.Either("one is enough for an answer", 0, opened.Need)
	askToApprove(d, workflow.NewDelivery(d.Run.Message.ReplyAgent()), opened)
}

// agreedAnswer is the inquiry by which people have agreed to the answer as it is; 0 is none. It is for all attempts to send it, which are one letter.
func agreedAnswer(d *Decision) int {
	for _, inquiry := range slices.Backward(d.Run.Inquiries) {
		if inquiry.Task == schemas.DeliveryTask && inquiry.Approved() && inquiry.AgreedHash() == answerHash(d) {
			return inquiry.Inquiry
		}
	}
	return 0
}

// answerHash is what people agree to who agree to the answer.
func answerHash(d *Decision) string {
	of := approval.Answer{Agent: d.Run.Message.ReplyAgent(), Reply: d.Run.Message.Reply, Words: AnswerText(d.Run, d.Read)}
	for i := range d.Run.Answer {
		of.Parts = append(of.Parts, d.content(d.Run.Answer[i].Body))
		if task := d.Run.Task(d.Run.Answer[i].Task); task != nil {
			for j := range task.Deliverables {
				if file, is := DeliverableFile(&task.Deliverables[j]); is {
					of.Files = append(of.Files, file.Name+" "+file.Artifact.SHA256)
				}
			}
		}
	}
	return of.Hash(schemas.RunID(d.Session, d.Run.Number) + "/" + schemas.DeliveryTask)
}

// AnswerText are the words of a settled run's answer.
func AnswerText(run *workflow.Run, read func(schemas.Content) schemas.Result) string {
	parts := make([]string, len(run.Answer))
	for i := range run.Answer {
		if parts[i] = run.Answer[i].Told; parts[i] == "" {
			parts[i] = ResolveContent(run.Answer[i].Body, read).Text
		}
	}
	return workflow.AnswerText(parts, run.Error, run.Message.Language, run.Notes, run.Summary)
}

// sending is what people are told who are to agree to an answer: to whom it goes, and its words, of which they get what is beyond MaxShown as a file.
func sending(d *Decision, opened *schemas.InquiryOpened, texts *schemas.Texts) string {
	reply := d.Run.Message.Reply
	recipients := []string{strings.TrimSpace(strings.Join([]string{reply.Provider, reply.Channel}, " "))}
	for _, to := range slices.Concat(reply.To, reply.Cc) {
		recipients = append(recipients, to.Address)
	}
	recipients = slices.DeleteFunc(recipients, func(name string) bool { return name == "" })
	work := truncate(fault.Either("nobody is shown what they agree to", texts.Empty, cmp.Or(strings.TrimSpace(AnswerText(d.Run, d.Read)), texts.Empty)), MaxShown)
	if opened.Need > 1 {
		work += "\n\n" + strings.ReplaceAll(texts.Together, "{need}", strconv.Itoa(opened.Need))
	}
	work = strings.TrimSpace(work + "\n\n" + askedBy(d))
	approve, reject := d.Profile.decidingWords(d.Run.Message.Language)
	return strings.NewReplacer(
		"{recipients}", shown(truncate(strings.Join(recipients, ", "), maxRecipients)), "{agent}", d.Run.Message.ReplyAgent(), "{work}", work, "{approve}", approve, "{reject}", reject,
	).Replace(cmp.Or(texts.Sending, texts.Approval))
}

// MaxShown bounds what a question shows of the words of an answer, in bytes, and maxRecipients whom it goes to.
const (
	MaxShown      = 2 << 10
	maxRecipients = 512
)

// discardAnswer ends a run whose answer waits for people, or for room since they have agreed: nothing is sent. It does nothing when it does not wait.
func discardAnswer(d *Decision, reason schemas.StopReason, closed schemas.InquiryReason) {
	if !d.Run.AnswerWaits() {
		return
	}
	cancelTasks(d, closed)
	d.emit(&schemas.RunEnded{Run: d.Run.Number, Status: schemas.RunCancelled, Reason: reason, Final: d.final && d.Run.LeavesAll()})
}

// GiveUpAnswer ends a run whose work is done, for a person, without sending its answer.
func (d *Decision) GiveUpAnswer() {
	cancelTasks(d, schemas.InquiryCancelled)
	end(d, schemas.StopGivenUp, "")
}

// undelivered ends a run whose answer has not been sent. To what nobody has agreed never is.
func undelivered(d *Decision, cause schemas.FailureKind) {
	if reason := stopReason(cause); d.Run.Delivery.Attempt == 0 && (reason == schemas.StopRejected || reason == schemas.StopUnapproved) {
		d.emit(&schemas.RunEnded{Run: d.Run.Number, Status: schemas.RunFailed, Reason: reason})
		return
	}
	end(d, schemas.StopReplyFailed, "")
}
