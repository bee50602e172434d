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
	"podium/supervisor/say"
)

// settle fixes the outcome when no task is left: completed when every task is
// that the run cannot do without, blocked when one waits for whoever asked,
// partial when some are, failed when none is (M-56).
func settle(v *View) *schemas.RunSettled {
	completed, failed := tellsResults(v), decisive(v)
	switch {
	case failed == nil && partial(v) != nil:
		return conclude(v, schemas.RunPartial, schemas.StopPartial, partialResult(v, partial(v)))
	case failed == nil:
		return conclude(v, schemas.RunCompleted, completionReason(v), nil)
	case failed.Failure().Cause == schemas.FailureBlocked && unanswered(v, failed):
		return concludeUnfinished(v, schemas.RunBlocked, schemas.StopNoAnswer, failure(v, failed, completed))
	case failed.Failure().Cause == schemas.FailureUnapproved && onTainted(v, failed) == schemas.OnTaintedAsk:
		return concludeUnfinished(v, schemas.RunBlocked, schemas.StopUnapproved, failure(v, failed, completed))
	case failed.Failure().Cause == schemas.FailureBlocked, forUpstream(v, failed):
		return concludeUnfinished(v, schemas.RunBlocked, schemas.StopBlocked, failure(v, failed, completed))
	case completed:
		return concludeUnfinished(v, schemas.RunPartial, stopReason(failed.Failure().Cause), failure(v, failed, true))
	}
	return concludeUnfinished(v, schemas.RunFailed, stopReason(failed.Failure().Cause), failure(v, failed, false))
}

// forUpstream reports whether whoever is upstream decides about a failure: they are told what is there, and plan anew (M-20).
func forUpstream(v *View, failed *workflow.Task) bool {
	failure := failed.Failure()
	return failed.State == workflow.TaskFailed && v.Run.Message.Upstream != nil && recovery.Upstream(&v.Profile.Profile, failure.Category, failure.Cause)
}

func completedAny(v *View) bool {
	return slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool { return task.State == workflow.TaskCompleted })
}

// tellsResults reports whether some of the results of a run whose work is not done are told.
func tellsResults(v *View) bool { return completedAny(v) && !withheldByReview(v) }

// decisive returns the failed task that the outcome is told by: the first one
// that is blocked, else the first. One that was skipped counts only when nothing
// at all was done.
func decisive(v *View) *workflow.Task {
	var failed, skipped *workflow.Task
	for i := range v.Run.Tasks {
		task := v.Run.Tasks[i]
		switch {
		case task.Replaced && !fault.Is("a replaced failure is told") || review.IsFix(task) && !fault.Is("a failed mend is told"): // whether it is mended, the review says
		case task.State == workflow.TaskFailed && (failed == nil || failed.Failure().Cause != schemas.FailureBlocked && task.Failure().Cause == schemas.FailureBlocked):
			failed = task
		case task.State == workflow.TaskSkipped && task.Failure().Cause != "" && skipped == nil:
			skipped = task
		}
	}
	if failed == nil && !completedAny(v) {
		return skipped
	}
	return failed
}

// partial returns the first task that the run cannot do without and whose result is not all
// that was asked for; nil when there is none.
func partial(v *View) *workflow.Task {
	for _, task := range v.Run.Tasks {
		if task.State == workflow.TaskCompleted && task.Partial && !task.Optional() && (v.Profile.Review == nil && v.Run.Standing(task.ID) == task || v.Profile.Review != nil && review.Stands(v.Run, task)) {
			return task
		}
	}
	return nil
}

func partialResult(v *View, task *workflow.Task) *schemas.Error {
	return runFailure(v, schemas.ErrorToolFailure, schemas.ActionEscalate, v.texts().Partial,
		schemas.Because(schemas.RunResultPartial, "task", task.ID, "agent", task.Agent))
}

// completionReason tells apart who has answered (O-13).
func completionReason(v *View) schemas.StopReason {
	direct := len(v.Run.Tasks) > 0
	for i := range v.Run.Tasks {
		switch v.Run.Tasks[i].Agent {
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

func conclude(v *View, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) *schemas.RunSettled {
	var answer []schemas.AnswerPart
	for _, task := range standing(v) {
		if status == schemas.RunCompleted || !fault.Is("only what was completed is told") {
			answer = append(answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
		}
	}
	if status == schemas.RunCompleted && v.Profile.stepwise() && len(answer) > 1 {
		answer = answer[len(answer)-1:] // the others were on the way to it
	}
	return concludeWith(v, status, reason, failure, answer)
}

// concludeUnfinished is conclude for a run whose work is not done: results that a review has not passed are not told.
func concludeUnfinished(v *View, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) *schemas.RunSettled {
	if withheldByReview(v) {
		return concludeWith(v, status, reason, failure, nil)
	}
	return conclude(v, status, reason, failure)
}

// concludeWith fixes the outcome. What becomes of the answer is for the rules of settled runs.
func concludeWith(v *View, status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error, answer []schemas.AnswerPart) *schemas.RunSettled {
	settled := schemas.RunSettled{Run: v.Run.Number, Status: status, Reason: reason, Error: failure, Answer: answer}
	tell(v, &settled)
	if status == schemas.RunCompleted || status == schemas.RunPartial && reason == schemas.StopPartial {
		settled.Summary = summaryOf(v, settled.Answer)
	}
	return &settled
}

// endUnanswered ends a settled run to which no reply is sent.
func endUnanswered(v *View) events {
	if v.Run.Message.ReplyAgent() != "" {
		return nil
	}
	return events{end(v, v.Run.Reason, "")}
}

// askAboutAnswer asks people to approve the answer of a settled run.
func askAboutAnswer(v *View) events {
	rule := answerRule(v)
	if rule == nil {
		return nil
	}
	opened := approvalBy(rule, schemas.HumanTaskAnswerApproval)
	opened.Hash = answerHash(v)
	opened.Need = fault.Either("one is enough for an answer", 0, opened.Need)
	return askToApprove(v, workflow.NewDelivery(v.Run.Message.ReplyAgent()), opened)
}

// withholdAnswer ends a settled run whose answer nobody gets.
func withholdAnswer(v *View) events {
	if v.Withheld == "" {
		return nil
	}
	return events{&schemas.ReplyWithheld{Run: v.Run.Number, Reason: v.Withheld}, end(v, v.Run.Reason, "")}
}

// deliverOrDelay delivers the answer of a settled run, or has it wait until its budget has capacity for it.
// The run stays under way, so that later messages of its session wait and answers go out in order.
func deliverOrDelay(v *View) events {
	if v.AnswerFrom.IsZero() {
		return deliver(v)
	}
	return events{&schemas.AnswerDelayed{Run: v.Run.Number, Agent: v.Run.Message.ReplyAgent(), Until: v.AnswerFrom}}
}

// inAnswer reports whether a task's result is part of the answer: in a graph it is
// not when another result builds on it, or on what has mended it, or was to.
func inAnswer(v *View, task *workflow.Task) bool {
	if v.Profile.Execution.Mode != schemas.ExecutionDAG {
		return true
	}
	return !slices.ContainsFunc(v.Run.Tasks, func(other *workflow.Task) bool {
		return other.Recovers() == "" && (other.State == workflow.TaskCompleted || other.Replaced) && slices.ContainsFunc(other.Dependencies(), isOf(v, task))
	})
}

// isOf reports whether a result is that of a task, also by the id of what has mended that.
func isOf(v *View, task *workflow.Task) func(id string) bool {
	return func(id string) bool {
		if id == task.ID {
			return true
		}
		other := v.Run.Task(id)
		return other != nil && other.Origin() == task.ID
	}
}

func end(v *View, reason schemas.StopReason, delivered string) *schemas.RunEnded {
	return &schemas.RunEnded{
		Run: v.Run.Number, Status: v.Run.Status, Reason: reason, Replied: delivered, Final: v.final && v.Run.LeavesAll(),
	}
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
func failure(v *View, task *workflow.Task, partial bool) *schemas.Error {
	failure, sentence := failureOf(v, task)
	told := []string{sentence}
	for _, other := range v.Run.Tasks {
		if other == task || other.State != workflow.TaskFailed || other.Replaced || review.IsFix(other) {
			continue
		}
		also, sentence := failureOf(v, other)
		failure.Reasons = append(failure.Reasons, also.Reasons...)
		if !slices.Contains(told, sentence) && len(told) < maxFailuresTold {
			told = append(told, sentence)
		}
	}
	if partial {
		told = append(told, v.texts().Partial)
	}
	failure.Message, failure.Reasons = inLanguage(v, strings.Join(told, "\n\n")), boundReasons(failure.Reasons, maxReasonValue, maxFailureBytes)
	return failure
}

// failureOf tells the failure of one task.
func failureOf(v *View, task *workflow.Task) (*schemas.Error, string) {
	texts := v.texts()
	failed := task.Failure()
	failure := schemas.Error{
		ErrorType:       schemas.ErrorToolFailure,
		SuggestedAction: schemas.ActionEscalate,
		Reasons:         []schemas.Reason{schemas.Because(schemas.RunTaskFailed, "task", task.ID, "agent", task.Agent, "cause", string(failed.Cause))},
	}
	because := func(code schemas.ReasonCode, values ...string) {
		failure.Reasons = append(failure.Reasons, schemas.Because(code, values...))
	}
	sentence, told := texts.TaskFailed, true // whether a person is told why
	switch failed.Cause {
	case schemas.FailureUnavailable: // it was refused at once
		sentence, failure.SuggestedAction, told = cmp.Or(texts.Unavailable, texts.Timeout), schemas.ActionRetry, false
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		sentence, failure.SuggestedAction = texts.Timeout, schemas.ActionRetry
	case schemas.FailureNoRoute:
		sentence, failure.ErrorType = texts.NoRoute, schemas.ErrorValidation
		failure.Reasons[0] = schemas.Because(schemas.RunTaskUnrouted, "task", task.ID)
		if texts.Undecided != "" && undecided(v, task.ID) {
			sentence, failure.ErrorType, failure.SuggestedAction = texts.Undecided, schemas.ErrorToolFailure, schemas.ActionRetry
			because(schemas.RunRouterFailed)
		}
	case schemas.FailureArguments:
		failure.ErrorType, told = schemas.ErrorValidation, false
	case schemas.FailureBlocked:
		// Its call was never valid, and nothing was sent (G-14).
		if needs := failed.Needs; failed.Attempt == 0 && len(needs) > 0 {
			failure.ErrorType = schemas.ErrorValidation
			because(schemas.RunInputMissing, "needs", strings.Join(namesOf(needs), ", "))
		}
	case schemas.FailureUnknownEffect:
		sentence, failure.SuggestedAction = cmp.Or(texts.UnknownEffect, texts.TaskFailed), schemas.ActionManualIntervention
	case schemas.FailureUnapproved:
		failure.SuggestedAction = schemas.ActionManualIntervention
		if v.Run.Message.HasUnknownRequester() {
			because(schemas.RunAuthorUnknown)
			break
		}
		if !slices.ContainsFunc(failed.Reasons, func(why schemas.Reason) bool { return why.Code == schemas.ApproversUnreachable }) {
			because(schemas.RunEffectTainted, "profile", v.Run.Profile)
		}
	case schemas.FailureInvalidResult, schemas.FailureMalformed:
		told = false
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureRejected, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	detail := ""
	if told {
		shown := failed
		reasons, all := filterForPerson(v, failed.Reasons)
		if shown.Detail, shown.Reasons = fitting(v, failed.Detail), reasons; shown.Detail != failed.Detail || !all {
			because(schemas.RunOtherLanguage, "language", v.Run.Message.Language)
		}
		detail = say.Failure(v.language(), &shown)
	}
	failure.Reasons = append(failure.Reasons, withoutNames(failed.Reasons)...)
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

func inLanguage(v *View, sentence string) map[string]string {
	return map[string]string{v.Run.Message.Language: strings.TrimSpace(sentence)}
}

// runFailure tells why a run as a whole has ended, in the requester's language.
func runFailure(v *View, kind schemas.ErrorType, action schemas.SuggestedAction, sentence string, why ...schemas.Reason) *schemas.Error {
	return &schemas.Error{ErrorType: kind, SuggestedAction: action, Reasons: boundReasons(why, maxReasonValue, maxFailureBytes), Message: inLanguage(v, sentence)}
}

// Cancel stops the run for a person, for good. It does nothing when the outcome is
// already fixed, and its answer waits for nobody.
func (d *Decision) Cancel() {
	d.final = true
	d.Release()
}

// Withdraw is Cancel by whoever has asked, in answer to a question. Where nothing was done yet they are told so.
func (d *Decision) Withdraw() {
	told := d.texts().Cancelled
	if !completedAny(&d.View) {
		told = cmp.Or(d.texts().Withdrawn, told)
	}
	d.final = true
	d.apply(release(&d.View, told))
}

// Release is Cancel for whoever is upstream: the attempt is not waited for, and another one may follow.
func (d *Decision) Release() { d.apply(release(&d.View, d.texts().Cancelled)) }

func release(v *View, told string) events {
	if v.Run.Settled() {
		return discardAnswer(v, schemas.StopCancelled, schemas.InquiryCancelled)
	}
	return stop(v, schemas.RunCancelled, schemas.StopCancelled, schemas.InquiryCancelled,
		runFailure(v, schemas.ErrorSystem, schemas.ActionManualIntervention, told, schemas.Because(schemas.RunCancelledByHand)))
}

// Supersede stops the run because a newer message takes its place; nobody is
// told, since that one will be answered. It does nothing when the outcome is
// already fixed, and its answer waits for nobody.
func (d *Decision) Supersede() {
	if d.Run.Settled() {
		d.apply(discardAnswer(&d.View, schemas.StopSuperseded, schemas.InquirySuperseded))
		return
	}
	d.apply(cancelTasks(&d.View, schemas.InquirySuperseded))
	d.emit(&schemas.RunSettled{
		Run: d.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopSuperseded,
	})
	d.emit(end(&d.View, schemas.StopSuperseded, ""))
}

// Refuse ends a run before any work: its sender is forged, and nobody is told.
func (d *Decision) Refuse() {
	d.emit(&schemas.RunSettled{Run: d.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopRefuted})
	if d.Run.Message.ReplyAgent() != "" && d.Withheld != "" {
		d.emit(&schemas.ReplyWithheld{Run: d.Run.Number, Reason: d.Withheld})
	}
	d.emit(end(&d.View, schemas.StopRefuted, ""))
}

// expire stops the run because its time is over; what is there is kept (M-56).
func expire(v *View) events {
	return unfinished(v, schemas.StopExpired, schemas.ActionRetry, v.texts().Timeout, schemas.Because(schemas.RunDeadline))
}

// stop ends all work of the run, and closes what people are asked.
func stop(v *View, status schemas.RunStatus, reason schemas.StopReason, closed schemas.InquiryReason, failure *schemas.Error) events {
	return append(cancelTasks(v, closed), concludeUnfinished(v, status, reason, failure))
}

// cancelTasks closes all human tasks of the run, and cancels all of its tasks.
func cancelTasks(v *View, reason schemas.InquiryReason) events {
	var done events
	for _, inquiry := range v.Run.Inquiries {
		if inquiry.Open() && (reason != schemas.InquiryCancelled || !fault.Is("a wait survives a cancel")) {
			done = append(done, closeInquiry(v, inquiry, reason)...)
		}
	}
	cancelled := func(task *workflow.Task) bool { // with what it tells of
		return task.HumanTask() > 0 && slices.ContainsFunc(done, func(f schemas.Fact) bool {
			of, is := f.(*schemas.TaskCancelled)
			return is && of.Task == task.ID
		})
	}
	for i := range v.Run.TaskCount() {
		if task := v.Run.TaskAt(i); !task.State.Ended() && !cancelled(task) {
			done = append(done, &schemas.TaskCancelled{Run: v.Run.Number, Task: task.ID, Attempt: task.Attempt})
		}
	}
	return done
}

// Deliver has the answer of a settled run delivered, by a further attempt when there
// were some.
func (d *Decision) Deliver() { d.apply(deliver(&d.View)) }

func deliver(v *View) events {
	delivery := workflow.NewDelivery(v.Run.Message.ReplyAgent())
	if v.Run.Delivery != nil {
		delivery.Attempt = v.Run.Delivery.Attempt
	}
	if mayTell(v, delivery.Agent) {
		return dispatch(v, delivery)
	}
	return ready(v, delivery)
}

// answerRule is the rule by which people agree before the answer of the run is sent; nil when nobody has to, or may.
func answerRule(v *View) *schemas.ApprovalRule {
	if v.Profile.rules.None() {
		return nil
	}
	outside := deliveryNeedsApproval(v)
	if outside && onTainted(v, workflow.NewDelivery("")) != schemas.OnTaintedAsk {
		return nil
	}
	if v.Run.Status == schemas.RunFailed && fault.Is("a failure is told without leave") {
		return nil
	}
	return v.Profile.rules.ForAnswer(outside, v.Run.Message.FromOutside())
}

// Unagreed reports whether people have to agree to the answer of a run that is over, and nobody has asked them: it was withheld before.
func (p *Profile) Unagreed(run *workflow.Run) bool {
	asked := slices.ContainsFunc(run.Inquiries, func(inquiry *workflow.Inquiry) bool { return inquiry.Task == schemas.DeliveryTask })
	return !asked && answerRule(&View{Run: run, Profile: p}) != nil
}

// agreedAnswer is the inquiry by which people have agreed to the answer as it is; 0 is none. It is for all attempts to send it, which are one letter.
func agreedAnswer(v *View) int {
	for _, inquiry := range slices.Backward(v.Run.Inquiries) {
		if inquiry.Task == schemas.DeliveryTask && inquiry.Approved() && inquiry.AgreedHash() == answerHash(v) {
			return inquiry.Inquiry
		}
	}
	return 0
}

// answerHash is what people agree to who agree to the answer.
func answerHash(v *View) string {
	of := approval.Answer{Agent: v.Run.Message.ReplyAgent(), Reply: v.Run.Message.Reply, Words: AnswerText(v.Run, v.Read)}
	for i := range v.Run.Answer {
		of.Parts = append(of.Parts, v.content(v.Run.Answer[i].Body))
		if task := v.Run.Task(v.Run.Answer[i].Task); task != nil {
			for j := range task.Deliverables {
				if file, is := DeliverableFile(&task.Deliverables[j]); is {
					of.Files = append(of.Files, file.Name+" "+file.Artifact.SHA256)
				}
			}
		}
	}
	return of.Hash(schemas.RunID(v.Session, v.Run.Number) + "/" + schemas.DeliveryTask)
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
func sending(v *View, opened *schemas.InquiryOpened, texts *schemas.Texts) string {
	reply := v.Run.Message.Reply
	recipients := []string{strings.TrimSpace(strings.Join([]string{reply.Provider, reply.Channel}, " "))}
	for _, to := range slices.Concat(reply.To, reply.Cc) {
		recipients = append(recipients, to.Address)
	}
	recipients = slices.DeleteFunc(recipients, func(name string) bool { return name == "" })
	work := truncate(fault.Either("nobody is shown what they agree to", texts.Empty, cmp.Or(strings.TrimSpace(AnswerText(v.Run, v.Read)), texts.Empty)), MaxShown)
	if opened.Need > 1 {
		work += "\n\n" + strings.ReplaceAll(texts.Together, "{need}", strconv.Itoa(opened.Need))
	}
	work = strings.TrimSpace(work + "\n\n" + askedBy(v))
	approve, reject := v.Profile.decidingWords(v.Run.Message.Language)
	return strings.NewReplacer(
		"{recipients}", shown(truncate(strings.Join(recipients, ", "), maxRecipients)), "{agent}", v.Run.Message.ReplyAgent(), "{work}", work, "{approve}", approve, "{reject}", reject,
	).Replace(cmp.Or(texts.Sending, texts.Approval))
}

// MaxShown bounds what a question shows of the words of an answer, in bytes, and maxRecipients whom it goes to.
const (
	MaxShown      = 2 << 10
	maxRecipients = 512
)

// discardAnswer ends a run whose answer waits for people, or for room since they have agreed: nothing is sent. It does nothing when it does not wait.
func discardAnswer(v *View, reason schemas.StopReason, closed schemas.InquiryReason) events {
	if !v.Run.AnswerWaits() {
		return nil
	}
	return append(cancelTasks(v, closed), &schemas.RunEnded{Run: v.Run.Number, Status: schemas.RunCancelled, Reason: reason, Final: v.final && v.Run.LeavesAll()})
}

// GiveUpAnswer ends a run whose work is done, for a person, without sending its answer.
func (d *Decision) GiveUpAnswer() {
	d.apply(cancelTasks(&d.View, schemas.InquiryCancelled))
	d.emit(end(&d.View, schemas.StopGivenUp, ""))
}

// undelivered ends a run whose answer has not been sent. An answer that people have not approved never is.
func undelivered(v *View, delivery *workflow.Task, cause schemas.FailureKind) events {
	if reason := stopReason(cause); delivery.Attempt == 0 && (reason == schemas.StopRejected || reason == schemas.StopUnapproved) {
		return events{&schemas.RunEnded{Run: v.Run.Number, Status: schemas.RunFailed, Reason: reason}}
	}
	return events{end(v, schemas.StopReplyFailed, "")}
}
