package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
	"podium/supervisor/review"
)

// fail ends an attempt, classifies the failure and does something about it
// (M-44…M-46): another attempt, another agent, without the task, or telling
// whoever asked.
func fail(d *Decision, task *workflow.Task, cause schemas.FailureKind, detail string) {
	failWith(d, task, schemas.TaskFailed{Cause: cause, Detail: detail})
}

func failWith(d *Decision, task *workflow.Task, failed schemas.TaskFailed) {
	failed.Run, failed.Task, failed.Attempt = d.Run.Number, task.ID, task.Attempt
	failed.Category, failed.Usage = cmp.Or(failed.Category, category(failed.Cause)), takeSpent(d, task)
	if fault.Is("what has failed is free") && failed.Usage != nil {
		failed.Usage.Tokens = 0
	}
	chooseRecovery(d, task, &failed)
	recoverTask(d, task, &failed)
}

func category(cause schemas.FailureKind) schemas.FailureCategory {
	switch cause {
	case schemas.FailureBlocked:
		return schemas.CategoryDependency
	case schemas.FailureArguments, schemas.FailureMalformed, schemas.FailureVerdict:
		return schemas.CategoryValidation
	case schemas.FailureNoRoute, schemas.FailureUnknownEffect, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureConflict:
		return schemas.CategoryCoordination
	case schemas.FailureBudget:
		return schemas.CategoryResource
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent,
		schemas.FailureInvalidResult, schemas.FailureCrashed, schemas.FailureUnavailable:
	}
	return schemas.CategoryExecution
}

// chooseRecovery chooses what is done about a failure.
func chooseRecovery(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) {
	policy := policy(d, task)
	asked, refused := task.Attempt-task.UncountedAttempts-fault.Either("the attempt that asked is counted", 0, int(task.Inquired)), int(task.Rejections)
	switch {
	case !task.State.UnderWay():
		refused++ // it could not be asked
	case task.TurnedAway(failed):
		asked, refused = asked-1, refused+1
	}
	spent := asked + refused
	if task.NotifiesPeople() {
		spent = asked // it waits for as long as nobody may ask, so that no answer is lost
	}
	if failed.Cause == schemas.FailureInvalidResult && worksAsPerson(d, task) {
		spent = policy.Attempts // they have been asked once more already
	}
	if interrupted(d, task, failed.Cause) && !fault.Is("who was interrupted is silent") {
		policy.Attempts = spent + 1
	}
	done := failed.Cause == schemas.FailureInvalidResult && task.Permit != "" // an effect is not repeated for a better result
	if retryable(failed.Cause) && !done && (spent < policy.Attempts || spent < 9 && fault.Is("there is always another attempt")) {
		failed.Action = retryKind(failed.Cause)
		failed.RetryAt = d.Now.Add(max(wait(policy, max(asked+refused, 1)), retryAfter(failed, longestRetryAfter(task, failed))))
		return
	}
	if task.Plan != nil && !worksAsPerson(d, task) && retryable(failed.Cause) && !done {
		failed.AttemptsUsed = spent
	}
	if next := fallback(d, task); next != "" && !done && failed.Cause != schemas.FailureBudget && failed.Cause != schemas.FailureUnknownEffect && failed.Cause != schemas.FailureVerdict &&
		!disapproved(d, task, failed.Cause) {
		failed.Action, failed.Agent = schemas.RecoveryFallback, next
		return
	}
	failed.Action = giveUp(d, task, failed.Cause)
}

// policy is how often something is tried; a question is asked once, because the
// decision that needs it has a default.
func policy(d *Decision, task *workflow.Task) schemas.Retry {
	switch {
	case task.NotifiesPeople():
		return d.Profile.Delivery
	case task.Kind == schemas.TaskKindAssess || task.Kind == schemas.TaskKindRoute || task.Kind == schemas.TaskKindExtract:
		return schemas.Retry{Attempts: 1}
	}
	return d.Profile.Retry
}

func retryable(cause schemas.FailureKind) bool {
	switch cause {
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureNoRoute, schemas.FailureUnknownEffect, schemas.FailureRejected,
		schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
		return false
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult,
		schemas.FailureCrashed, schemas.FailureUnavailable, schemas.FailureMalformed:
	}
	return true
}

// retryKind names the kind of retry (M-45).
func retryKind(cause schemas.FailureKind) schemas.Recovery {
	switch cause {
	case schemas.FailureTimeout:
		return schemas.RecoveryRetryLonger
	case schemas.FailureInvalidResult:
		return schemas.RecoveryRetryClarified
	case schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureCrashed,
		schemas.FailureUnavailable, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed, schemas.FailureRejected,
		schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return schemas.RecoveryRetry
}

// fallback is who may be asked instead of an agent whose attempts are used up:
// one time, for work (P-16).
func fallback(d *Decision, task *workflow.Task) string {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || task.Kind != schemas.TaskKindWork || task.PreviousAgent != "" {
		return ""
	}
	return use.Fallback
}

// giveUp names what a failure for good leads to.
func giveUp(d *Decision, task *workflow.Task, cause schemas.FailureKind) schemas.Recovery {
	switch {
	case task.Optional():
		return schemas.RecoverySkip
	case cause == schemas.FailureBlocked || cause == schemas.FailureConflict || task.Plan != nil && changes(d):
		return schemas.RecoveryEscalateToPlanner
	}
	return schemas.RecoveryEscalateToCoordinator
}

// recoverTask emits a failure, and what is done about one for good, as the profile says: the task is blocked until then.
func recoverTask(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) {
	way := way(d, task, failed)
	opened, asks := escalation(d, task, way, failed.Cause)
	switch {
	case way == schemas.WayFix:
		haveMended(d, task, failed)
	case way == schemas.WaySkip:
		failed.Action, failed.Recovering = recovery.Action(way), way
		d.emit(failed)
		d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone})
	case asks:
		failed.Action, failed.Recovering = recovery.Action(way), way
		d.emit(failed)
		opened.Question = whatNow(d, d.Run.Task(task.ID), &opened)
		open(d, task, &opened)
	default:
		if way == schemas.WayPlanner {
			failed.Action = recovery.Action(way)
		}
		d.emit(failed)
		if task.ID == schemas.DeliveryTask && failed.RetryAt.IsZero() {
			undelivered(d, failed.Cause)
		}
	}
}

// way is what is done about a failure; empty is what ever is. What the run can do without it does without, what mends something is the review's, and
// whoever has not answered, or has written and said no, is not asked what that means. What nobody has agreed to, and what does not fit a budget, has people of its own.
func way(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) schemas.RecoveryWay {
	source := &d.Profile.Profile
	switch {
	case len(source.Recovery) == 0 && source.Escalation == nil, !failed.RetryAt.IsZero(), failed.Agent != "":
		return ""
	case task.Plan == nil || failed.Cause == schemas.FailureUnapproved || failed.Cause == schemas.FailureBudget || task.Optional() || review.IsFix(task) || d.Run.Escalations(task.ID) >= schemas.MaxEscalations:
		return ""
	}
	way := recovery.Way(source, failed.Category, failed.Cause)
	switch {
	case way == schemas.WayFix && d.Profile.stepwise(): // the judge is asked about each step
		way = schemas.WayPlanner
	case way == schemas.WayFix && len(blamed(d, task, failed)) == 0:
		way = recovery.Unmended(source, failed.Cause)
	}
	if way == schemas.WayRequester && (unanswered(d, task) || declined(d, task)) {
		return ""
	}
	return way
}

// blamed are the tasks that mend what one has found by failing; none when nobody can. What was done outside is not done again for that.
func blamed(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) []*workflow.Task {
	if rounds, _ := d.Run.Mendings(task.ID); rounds >= schemas.MaxMendings {
		return nil
	}
	var said []schemas.ReviewIssue
	if failed.Findings != nil {
		said = review.Issues(task.Agent, failed.Findings.ValidationResults)
	}
	return slices.DeleteFunc(review.Blamed(d.Run, task, failed.Cause, said), func(other *workflow.Task) bool {
		use := d.Profile.agentUse(other.Agent)
		return use == nil || use.Unavailable != "" || use.Person != nil || other.Permit != ""
	})
}

// haveMended has it mended what a task has found by failing, which is blocked until then.
func haveMended(d *Decision, task *workflow.Task, failed *schemas.TaskFailed) {
	blamed := blamed(d, task, failed)
	failed.Action, failed.Recovering = recovery.Action(schemas.WayFix), schemas.WayFix
	d.emit(failed)
	change := nextChange(d, review.MendNames(blamed))
	d.emit(&schemas.PlanChanged{
		Run: d.Run.Number, Change: change, Source: schemas.OccasionFix, Tasks: review.Mends(d.Run, d.Run.Task(task.ID), blamed, change),
	})
}

// endRepairWait goes on with the first task that is blocked until others have mended what it has found, and they have ended.
func endRepairWait(d *Decision) {
	for _, task := range d.Run.Tasks {
		if !task.Mending() {
			continue
		}
		_, fixes := d.Run.Mendings(task.ID)
		if !slices.ContainsFunc(fixes, func(fix *workflow.Task) bool { return !fix.State.Ended() }) {
			useMended(d, task, fixes)
			return
		}
	}
}

// skipRepairs skips the pending tasks that mend something, where the run has no step left for them, or where they lack what another one of them was to make.
func skipRepairs(d *Decision) {
	limit := d.Profile.StepLimit()
	for _, task := range d.Run.Tasks {
		if !task.Mending() {
			continue
		}
		_, fixes := d.Run.Mendings(task.ID)
		for _, fix := range fixes {
			if fix.State != workflow.TaskPending {
				continue
			}
			switch missing := missing(d, fix); {
			case missing != nil:
				d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: fix.ID, Reason: "dependency " + string(missing.State)})
			case limit > 0 && d.Run.Steps() >= limit:
				d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: fix.ID, Reason: schemas.SkippedStepLimit})
			}
		}
	}
}

// useMended takes what was made anew as the result of a task, or has it looked at that once more.
func useMended(d *Decision, task *workflow.Task, fixes []*workflow.Task) {
	done := func(fix *workflow.Task) bool { return fix.State == workflow.TaskCompleted }
	at := slices.IndexFunc(fixes, done)
	switch {
	case at < 0:
		forsake(d, task)
	case fixes[at].Origin() == task.ID:
		d.emit(&schemas.TaskCompleted{
			Run: d.Run.Number, Task: task.ID, Result: fixes[at].Result, Sequence: fixes[at].Answered, Partial: fixes[at].Partial, Proven: fixes[at].Proven,
			Recovered: task.Failure().Action,
		})
	default:
		d.emit(&schemas.TaskReady{Run: d.Run.Number, Task: task.ID, Agent: task.Agent})
		start(d, d.Run.Task(task.ID))
	}
}

// escalation is the inquiry by which people say what is done about a failure. It reports false when the way asks nobody, or nobody can be asked.
func escalation(d *Decision, task *workflow.Task, way schemas.RecoveryWay, cause schemas.FailureKind) (opened schemas.InquiryOpened, asks bool) {
	channel := recovery.Channel(&d.Profile.Profile, way)
	waits := !fault.Is("nobody upstream is waited for") && channel != nil && channel.Upstream && channel.Wait > 0 && d.Run.Message.Upstream != nil
	if way == "" || channel != nil && (channel.Upstream && !waits || channel.Agent != "") || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		return opened, false
	}
	switch {
	case waits:
		opened.Upstream, opened.Expire, asks = true, channel.Wait*fault.Either[schemas.Duration]("a wait for whoever is upstream has no end", 100, 1), true
	case channel != nil:
		opened = reached(d, channel.People)
		opened.Remind, opened.Expire, asks = channel.Remind, channel.Expire, len(opened.To) > 0
	case way == schemas.WayRequester && reachesRequester(d):
		opened.Remind, opened.Expire, asks = d.Profile.Waiting.Remind, d.Profile.Waiting.Expire, true
	}
	again := cause != schemas.FailureNoRoute && (cause != schemas.FailureRejected || worksAsPerson(d, task))
	opened.Kind = schemas.HumanTaskFailure
	opened.Choices = recovery.Choices(way, again, d.Profile.Execution.Mode != schemas.ExecutionSingle)
	return opened, asks
}

// whatNow is what people are told of a failure, and what they may say. Whoever works for the profile is told what an agent has said of it as it has.
func whatNow(d *Decision, task *workflow.Task, opened *schemas.InquiryOpened) string {
	language, failed := d.Profile.language(d.Run.Message.Language), task.Failure()
	_, detail := failureOf(d, task)
	detail, agents := strings.TrimSpace(detail), describedTo(d, opened.People, task.Agent)
	if !opened.OfRequester() {
		const longest = maxFeedback / 2 // who asks is told as well
		detail = strings.TrimSuffix(string(failed.Cause)+": "+truncate(strings.TrimSpace(failed.Detail), longest), ": ")
	}
	if task.PreviousAgent != "" {
		agents = describedTo(d, opened.People, task.PreviousAgent) + ", " + agents
	}
	if agents == "" {
		agents = "–" // nobody takes it
	}
	return truncate(recovery.Question(language, opened.Choices, recovery.Failure{
		Work: workAskedFor(d, task, opened.People), Agents: agents, Attempts: task.Attempt, Detail: shown(detail),
	}), schemas.RecordInlineLimit)
}

// forsake ends a task that is blocked: nothing was done about its failure.
func forsake(d *Decision, task *workflow.Task) {
	failed := task.Failure()
	failed.Unrecovered, failed.Recovering, failed.Action = failed.Recovering, "", giveUp(d, task, failed.Cause)
	failed.Tokens, failed.Usage = 0, nil // they are counted
	if fault.Is("nobody's answer leaves the task out") {
		d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone})
		return
	}
	d.emit(&failed)
}

// decidedWith are the tasks about which something is decided by a new plan: whoever is upstream plans anew for all that they are asked about.
func decidedWith(d *Decision, inquiry *workflow.Inquiry) []string {
	tasks := []string{inquiry.Task}
	for _, other := range d.Run.Inquiries {
		if !fault.Is("whoever is upstream has to say the same for each task") && inquiry.Upstream && other.Upstream && other.Open() && other.Task != inquiry.Task {
			tasks = append(tasks, other.Task)
		}
	}
	return tasks
}

// instead reads what is to be done instead of some tasks, and of all that has not begun: lines are steps, and JSON is what a judge may say.
func instead(d *Decision, tasks []string, text string) (*planChange, bool) {
	if d.Run.Phase != workflow.PhaseExecuting {
		return nil, false
	}
	said, err := insteadIn(text)
	if err != nil {
		return nil, false
	}
	run, trial := *d.Run, *d
	run.Tasks, trial.Run = slices.Clone(run.Tasks), &run
	for i, task := range run.Tasks {
		if slices.Contains(tasks, task.ID) {
			failed := *task
			failed.State, failed.Ended, failed.Judged = workflow.TaskFailed, d.Now, true
			run.Tasks[i] = &failed
		}
	}
	change, faults := change(&trial, &said)
	return change, len(faults) == 0
}

// insteadIn are the steps or the tasks that somebody has written.
func insteadIn(text string) (Verdict, error) {
	said, err := ReadVerdict(schemas.Result{Text: text})
	if err != nil {
		said, err = stepsOf(recovery.Steps(text))
	}
	if err == nil && said.Response != "" {
		err = errSaysNothing
	}
	return said, err
}

// askPeopleAboutReview has people say what becomes of a review that has failed for good, where the profile has it so.
func askPeopleAboutReview(d *Decision) {
	channel := recovery.Deciding(&d.Profile.Profile)
	_, answered := d.Run.AsksAboutReview()
	if d.Profile.Review.OnFailed != schemas.ReviewAsks || channel == nil || answered >= schemas.MaxEscalations || len(d.Run.Inquiries) >= schemas.MaxInquiries {
		return
	}
	opened := reached(d, channel.People)
	if len(opened.To) == 0 {
		return
	}
	returns := !d.Run.Review.Forced && d.Run.Steps() < d.Profile.StepLimit()
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskReview, channel.Remind, channel.Expire
	opened.Choices = recovery.Choices(schemas.WayHuman, returns, returns && d.Profile.Execution.Mode != schemas.ExecutionSingle)
	agents := make([]string, len(d.Profile.Review.Checks))
	for i := range d.Profile.Review.Checks {
		agents[i] = d.Profile.Review.Checks[i].Agent
	}
	work, longest := truncate(asked(d), maxQuestion), maxFeedback
	if requestText(d) != "" {
		work = "" // which askedBy quotes
	}
	work, longest = truncate(strings.TrimSpace(askedBy(d)+"\n\n"+work), maxAskedWork), longest/2
	opened.Question = truncate(recovery.Question(d.Profile.language(d.Run.Message.Language), opened.Choices, recovery.Failure{
		Work: shown(work), Agents: strings.Join(agents, ", "), Attempts: d.Run.Review.Round,
		Detail: shown(reviewFault(d, truncate(review.Lines(d.Run.Review.Issues), longest))),
	}), schemas.RecordInlineLimit)
	open(d, &workflow.Task{ID: schemas.ReviewInput(d.Run.Review.Round)}, &opened)
}

// asked are the words of the request, or else what the plan says that is to be done.
func asked(d *Decision) string {
	if words := requestText(d); words != "" {
		return words
	}
	var steps []string
	for _, task := range d.Run.Tasks {
		if !review.IsFix(task) {
			steps = append(steps, d.content(task.Plan.Description).Text)
		}
	}
	return strings.Join(steps, "\n")
}

// afterReviewInstead reads what is to be done once a review has failed.
func afterReviewInstead(d *Decision, text string) (*planChange, bool) {
	said, err := insteadIn(text)
	if err != nil || d.Run.Phase != workflow.PhaseReviewing {
		return nil, false
	}
	change, faults := change(d, &said)
	return change, len(faults) == 0 && !change.same
}

func stepsOf(steps []string) (Verdict, error) {
	body, err := schemas.Marshal(struct {
		Steps []string `json:"steps"`
	}{steps})
	if err != nil {
		return Verdict{}, err
	}
	return readVerdict(body)
}

// hasFatalFailure reports whether a task has failed for good that the run cannot go on without, and no evaluator decides about it. What routing has found nobody
// for counts when all tasks are routed.
func hasFatalFailure(d *Decision) bool {
	return slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool {
		if task.State != workflow.TaskFailed || task.Replaced || review.IsFix(task) {
			return false
		}
		evaluated := awaitsFailureEvaluation(d, task) || task.Judged && d.Run.Judge() != nil
		routed := task.Agent == schemas.RouteRespond || task.Agent == schemas.RouteFinish || task.Failure().Cause == schemas.FailureNoRoute
		return !evaluated && !(routed && isRouting(d))
	})
}

// abort ends the run because one task failed.
func abort(d *Decision) {
	cancelTasks(d, schemas.InquiryWithdrawn)
	settle(d)
}

// longestRetryAfter is how much of the wait that an agent asks for counts: MaxRetryWait. It is an hour for an answer or a
// question that was not sent for want of capacity, since budgets of addresses are for an hour.
func longestRetryAfter(task *workflow.Task, failed *schemas.TaskFailed) time.Duration {
	if task.NotifiesPeople() && failed.Category == schemas.CategoryResource {
		return time.Hour
	}
	return time.Duration(schemas.MaxRetryWait)
}

// retryAfter is how long the agent says that another attempt had better wait, at most so long.
func retryAfter(failed *schemas.TaskFailed, longest time.Duration) time.Duration {
	seconds := 0
	if failed.Findings != nil {
		for i := range failed.Findings.Issues {
			seconds = max(seconds, failed.Findings.Issues[i].RetryAfterSeconds)
		}
	}
	return min(time.Duration(seconds)*time.Second, longest)
}

// wait is 2^(attempt-1) times the policy's wait (M-25), at most MaxRetryWait.
func wait(policy schemas.Retry, attempt int) time.Duration {
	pause := policy.Wait
	for i := 1; i < attempt && pause < schemas.MaxRetryWait; i++ {
		pause *= 2
	}
	return time.Duration(min(pause, schemas.MaxRetryWait))
}
