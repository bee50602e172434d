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
	"podium/supervisor/say"
)

// fail ends an attempt of a task and does something about it by failureRules (M-44…M-46).
func fail(v *View, task *workflow.Task, cause schemas.FailureKind, reasons ...schemas.Reason) events {
	return failWith(v, task, schemas.TaskFailed{Cause: cause, Reasons: reasons})
}

func failWith(v *View, task *workflow.Task, failed schemas.TaskFailed) events {
	failed.Run, failed.Task, failed.Attempt = v.Run.Number, task.ID, task.Attempt
	failed.Category, failed.Reasons = cmp.Or(failed.Category, category(failed.Cause)), boundReasons(failed.Reasons, maxReasonValue, maxFailureBytes)
	if fault.Is("what has failed is free") && failed.Usage != nil {
		failed.Usage.Tokens = 0
	}
	for i := range failureRules {
		next := &failureRules[i]
		if fault.IsRule(next.name) {
			continue
		}
		if done := next.when(v, task, &failed); len(done) > 0 {
			return byFailureRule(next.name, done)
		}
	}
	return nil // the last rule always applies
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

// retry schedules another attempt, unless the attempts are used up. Profile.workDeadline says how long that one may take.
func retry(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	policy := policy(v, task)
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
	if failed.Cause == schemas.FailureInvalidResult && worksAsPerson(v, task) {
		spent = policy.Attempts // they have been asked once more already
	}
	if interrupted(v, task, failed.Cause) && !fault.Is("who was interrupted is silent") {
		policy.Attempts = spent + 1
	}
	if !retryable(failed.Cause) || hasActed(task, failed) {
		return nil
	}
	if spent >= policy.Attempts && !(spent < 9 && fault.Is("there is always another attempt")) {
		if task.Plan != nil && !worksAsPerson(v, task) {
			failed.AttemptsUsed = spent
		}
		return nil
	}
	failed.Action = retryKind(failed.Cause, waitFor(v, task) > 0)
	failed.RetryAt = v.Now.Add(max(wait(policy, max(asked+refused, 1)), retryAfter(failed, longestRetryAfter(task, failed))))
	return events{failed}
}

// hasActed reports whether a task has had its effect, which is not repeated for a better result.
func hasActed(task *workflow.Task, failed *schemas.TaskFailed) bool {
	return failed.Cause == schemas.FailureInvalidResult && task.Permit != ""
}

// useFallback gives a task to the fallback of its agent.
func useFallback(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	next := fallback(v, task)
	switch {
	case next == "", hasActed(task, failed), disapproved(v, task, failed.Cause):
		return nil
	case failed.Cause == schemas.FailureBudget, failed.Cause == schemas.FailureUnknownEffect, failed.Cause == schemas.FailureVerdict:
		return nil
	}
	failed.Action, failed.Agent = schemas.RecoveryFallback, next
	return events{failed}
}

// policy is how often something is tried; a question is asked once, because the
// decision that needs it has a default.
func policy(v *View, task *workflow.Task) schemas.Retry {
	switch {
	case task.NotifiesPeople():
		return v.Profile.Delivery
	case task.Kind == schemas.TaskKindAssess || task.Kind == schemas.TaskKindRoute || task.Kind == schemas.TaskKindExtract:
		return schemas.Retry{Attempts: 1}
	}
	return v.Profile.Retry
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

// retryKind names the kind of retry (M-45). Where the time of an answer is fixed it has no longer one.
func retryKind(cause schemas.FailureKind, fixed bool) schemas.Recovery {
	switch cause {
	case schemas.FailureTimeout:
		if !fixed {
			return schemas.RecoveryRetryLonger
		}
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
func fallback(v *View, task *workflow.Task) string {
	use := v.Profile.agentUse(task.Agent)
	if use == nil || task.Kind != schemas.TaskKindWork || task.PreviousAgent != "" {
		return ""
	}
	return use.Fallback
}

// giveUp names what a failure for good leads to.
func giveUp(v *View, task *workflow.Task, cause schemas.FailureKind) schemas.Recovery {
	switch {
	case task.Optional():
		return schemas.RecoverySkip
	case cause == schemas.FailureBlocked || cause == schemas.FailureConflict || task.Plan != nil && changes(v):
		return schemas.RecoveryEscalateToPlanner
	}
	return schemas.RecoveryEscalateToCoordinator
}

// repair adds tasks that repair what has made a task fail. The task is blocked until they have ended.
func repair(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	if way(v, task, failed) != schemas.WayFix {
		return nil
	}
	blamed := blamed(v, task, failed)
	failed.Action, failed.Recovering = recovery.Action(schemas.WayFix), schemas.WayFix
	change := nextChange(v, review.MendNames(blamed))
	return events{failed, &schemas.PlanChanged{
		Run: v.Run.Number, Change: change, Source: schemas.OccasionFix, Tasks: review.Mends(v.Run, task.After(failed, v.Now), blamed, change),
	}}
}

// askAboutFailure asks people what is done about a failure. The task is blocked until then.
func askAboutFailure(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	way := way(v, task, failed)
	opened, asks := escalation(v, task, way, failed.Cause)
	if !asks {
		return nil
	}
	failed.Action, failed.Recovering = recovery.Action(way), way
	opened.Question = whatNow(v, task.After(failed, v.Now), &opened)
	return append(events{failed}, open(v, task, &opened)...)
}

// skipFailed goes on without a task that has failed.
func skipFailed(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	if way(v, task, failed) != schemas.WaySkip {
		return nil
	}
	failed.Action, failed.Recovering = recovery.Action(schemas.WaySkip), schemas.WaySkip
	return events{failed, &schemas.TaskSkipped{Run: v.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone}}
}

// endFailed fails a task for good. The run does not need the task if it is optional. A run whose answer was not delivered ends.
func endFailed(v *View, task *workflow.Task, failed *schemas.TaskFailed) events {
	failed.Action = giveUp(v, task, failed.Cause)
	if way(v, task, failed) == schemas.WayPlanner {
		failed.Action = recovery.Action(schemas.WayPlanner)
	}
	if task.ID == schemas.DeliveryTask {
		return append(events{failed}, undelivered(v, task, failed.Cause)...)
	}
	return events{failed}
}

// way returns how the profile recovers from a failure; empty where the task fails instead. It is empty where the
// profile names no recovery; for a question to an agent, an optional task, a repair, an effect that is not approved and
// a task that does not fit a budget; after the most escalations; and where the requester would be asked, who has not
// answered or has refused.
func way(v *View, task *workflow.Task, failed *schemas.TaskFailed) schemas.RecoveryWay {
	source := &v.Profile.Profile
	switch {
	case len(source.Recovery) == 0 && source.Escalation == nil:
		return ""
	case task.Plan == nil || failed.Cause == schemas.FailureUnapproved || failed.Cause == schemas.FailureBudget || task.Optional() || review.IsFix(task) || v.Run.Escalations(task.ID) >= schemas.MaxEscalations:
		return ""
	}
	way := recovery.Way(source, failed.Category, failed.Cause)
	switch {
	case way == schemas.WayFix && v.Profile.stepwise(): // the judge is asked about each step
		way = schemas.WayPlanner
	case way == schemas.WayFix && len(blamed(v, task, failed)) == 0:
		way = recovery.Unmended(source, failed.Cause)
	}
	if way == schemas.WayRequester && (unanswered(v, task) || declined(v, task)) {
		return ""
	}
	return way
}

// blamed are the tasks that mend what one has found by failing; none when nobody can. What was done outside is not done again for that.
func blamed(v *View, task *workflow.Task, failed *schemas.TaskFailed) []*workflow.Task {
	if rounds, _ := v.Run.Mendings(task.ID); rounds >= schemas.MaxMendings {
		return nil
	}
	var said []schemas.ReviewIssue
	if failed.Findings != nil {
		said = review.Issues(task.Agent, failed.Findings.ValidationResults)
	}
	return slices.DeleteFunc(review.Blamed(v.Run, task, failed.Cause, said), func(other *workflow.Task) bool {
		use := v.Profile.agentUse(other.Agent)
		return use == nil || use.Unavailable != "" || use.Person != nil || other.Permit != ""
	})
}

// endRepairWait goes on with the first task that is blocked until others have mended what it has found, and they have ended.
func endRepairWait(v *View) events {
	for _, task := range v.Run.Tasks {
		if !task.Mending() {
			continue
		}
		_, fixes := v.Run.Mendings(task.ID)
		if !slices.ContainsFunc(fixes, func(fix *workflow.Task) bool { return !fix.State.Ended() }) {
			return useMended(v, task, fixes)
		}
	}
	return nil
}

// skipRepairs skips the pending tasks that mend something, where the run has no step left for them, or where they lack what another one of them was to make.
func skipRepairs(v *View) events {
	var done events
	limit := v.Profile.StepLimit()
	for _, task := range v.Run.Tasks {
		if !task.Mending() {
			continue
		}
		_, fixes := v.Run.Mendings(task.ID)
		for _, fix := range fixes {
			if fix.State != workflow.TaskPending {
				continue
			}
			switch id := missing(v, fix, nil); {
			case id != "":
				done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: fix.ID, Reason: schemas.SkippedDependency, Dependency: id})
			case limit > 0 && v.Run.Steps() >= limit:
				done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: fix.ID, Reason: schemas.SkippedStepLimit})
			}
		}
	}
	return done
}

// useMended takes what was made anew as the result of a task, or has it looked at that once more.
func useMended(v *View, task *workflow.Task, fixes []*workflow.Task) events {
	at := slices.IndexFunc(fixes, func(fix *workflow.Task) bool { return fix.State == workflow.TaskCompleted })
	switch {
	case at < 0:
		return failUnrecovered(v, task)
	case fixes[at].Origin() == task.ID:
		return events{&schemas.TaskCompleted{
			Run: v.Run.Number, Task: task.ID, Result: fixes[at].Result, Sequence: fixes[at].Answered, Partial: fixes[at].Partial, Proven: fixes[at].Proven,
			Recovered: task.Failure().Action,
		}}
	}
	done := events{&schemas.TaskReady{Run: v.Run.Number, Task: task.ID, Agent: task.Agent}}
	v = v.after(done)
	return append(done, start(v, v.Run.Task(task.ID))...)
}

// escalation is the inquiry by which people say what is done about a failure. It reports false when the way asks nobody, or nobody can be asked.
func escalation(v *View, task *workflow.Task, way schemas.RecoveryWay, cause schemas.FailureKind) (opened schemas.InquiryOpened, asks bool) {
	channel := recovery.Channel(&v.Profile.Profile, way)
	waits := !fault.Is("nobody upstream is waited for") && channel != nil && channel.Upstream && channel.Wait > 0 && v.Run.Message.Upstream != nil
	if way == "" || channel != nil && (channel.Upstream && !waits || channel.Agent != "") || len(v.Run.Inquiries) >= schemas.MaxInquiries {
		return opened, false
	}
	switch {
	case waits:
		opened.Upstream, opened.Expire, asks = true, channel.Wait*fault.Either[schemas.Duration]("a wait for whoever is upstream has no end", 100, 1), true
	case channel != nil:
		opened = reached(v, channel.People)
		opened.Remind, opened.Expire, asks = channel.Remind, channel.Expire, len(opened.To) > 0
	case way == schemas.WayRequester && reachesRequester(v):
		opened.Remind, opened.Expire, asks = v.Profile.Waiting.Remind, v.Profile.Waiting.Expire, true
	}
	again := cause != schemas.FailureNoRoute && (cause != schemas.FailureRejected || worksAsPerson(v, task))
	opened.Kind = schemas.HumanTaskFailure
	opened.Choices = recovery.Choices(way, again, v.Profile.Execution.Mode != schemas.ExecutionSingle)
	return opened, asks
}

// whatNow is what people are told of a failure, and what they may say. Whoever works for the profile is told what an agent has said of it as it has.
func whatNow(v *View, task *workflow.Task, opened *schemas.InquiryOpened) string {
	language, failed := v.Profile.language(v.Run.Message.Language), task.Failure()
	_, detail := failureOf(v, task)
	detail, agents := strings.TrimSpace(detail), describedTo(v, opened.People, task.Agent)
	if !opened.OfRequester() {
		const longest = maxFeedback / 2 // who asks is told as well
		detail = strings.TrimSuffix(string(failed.Cause)+": "+truncate(strings.TrimSpace(say.Failure(language, &failed)), longest), ": ")
	}
	if task.PreviousAgent != "" {
		agents = describedTo(v, opened.People, task.PreviousAgent) + ", " + agents
	}
	if agents == "" {
		agents = "–" // nobody takes it
	}
	return truncate(recovery.Question(language, opened.Choices, recovery.Failure{
		Work: workAskedFor(v, task, opened.People), Agents: agents, Attempts: task.Attempt, Detail: shown(detail),
	}), schemas.RecordInlineLimit)
}

// failUnrecovered fails a blocked task: its recovery has ended without a result.
func failUnrecovered(v *View, task *workflow.Task) events {
	failed := task.Failure()
	failed.Unrecovered, failed.Recovering, failed.Action = failed.Recovering, "", giveUp(v, task, failed.Cause)
	failed.Tokens, failed.Usage = 0, nil // they are counted
	if fault.Is("nobody's answer leaves the task out") {
		return events{&schemas.TaskSkipped{Run: v.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone}}
	}
	return events{&failed}
}

// decidedWith are the tasks about which something is decided by a new plan: whoever is upstream plans anew for all that they are asked about.
func decidedWith(v *View, inquiry *workflow.Inquiry) []string {
	tasks := []string{inquiry.Task}
	for _, other := range v.Run.Inquiries {
		if !fault.Is("whoever is upstream has to say the same for each task") && inquiry.Upstream && other.Upstream && other.Open() && other.Task != inquiry.Task {
			tasks = append(tasks, other.Task)
		}
	}
	return tasks
}

// instead reads what is to be done instead of some tasks, and of all that has not begun: lines are steps, and JSON is what a judge may say.
func instead(v *View, tasks []string, text string) (*planChange, bool) {
	if v.Run.Phase != workflow.PhaseExecuting {
		return nil, false
	}
	said, err := insteadIn(text)
	if err != nil {
		return nil, false
	}
	run, trial := *v.Run, *v
	run.Tasks, trial.Run = slices.Clone(run.Tasks), &run
	for i, task := range run.Tasks {
		if slices.Contains(tasks, task.ID) {
			failed := *task
			failed.State, failed.Ended, failed.Judged = workflow.TaskFailed, v.Now, true
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
		err = newAnswerError(schemas.AnswerWithoutVerdict)
	}
	return said, err
}

// askPeopleAboutReview asks people how the run goes on after its review has failed for good, if the profile says so. They are asked once about a round.
func askPeopleAboutReview(v *View) events {
	channel := recovery.Deciding(&v.Profile.Profile)
	_, answered := v.Run.AsksAboutReview()
	about := schemas.ReviewInput(v.Run.Review.Round)
	before := func(other *workflow.Inquiry) bool {
		return other.Task == about && other.Closed != schemas.InquiryWithdrawn
	}
	if slices.ContainsFunc(v.Run.Inquiries, before) || v.Profile.Review.OnFailed != schemas.ReviewAsks || channel == nil || answered >= schemas.MaxEscalations || len(v.Run.Inquiries) >= schemas.MaxInquiries {
		return nil
	}
	opened := reached(v, channel.People)
	if len(opened.To) == 0 {
		return nil
	}
	returns := !v.Run.Review.Forced && v.Run.Steps() < v.Profile.StepLimit()
	opened.Kind, opened.Remind, opened.Expire = schemas.HumanTaskReview, channel.Remind, channel.Expire
	opened.Choices = recovery.Choices(schemas.WayHuman, returns, returns && v.Profile.Execution.Mode != schemas.ExecutionSingle)
	agents := make([]string, len(v.Profile.Review.Checks))
	for i := range v.Profile.Review.Checks {
		agents[i] = v.Profile.Review.Checks[i].Agent
	}
	work, longest := truncate(asked(v), maxQuestion), maxFeedback
	if requestText(v) != "" {
		work = "" // which askedBy quotes
	}
	work, longest = truncate(strings.TrimSpace(askedBy(v)+"\n\n"+work), maxAskedWork), longest/2
	opened.Question = truncate(recovery.Question(v.Profile.language(v.Run.Message.Language), opened.Choices, recovery.Failure{
		Work: shown(work), Agents: strings.Join(agents, ", "), Attempts: v.Run.Review.Round,
		Detail: shown(reviewFault(v, truncate(review.Lines(v.language(), v.Run.Review.Issues), longest))),
	}), schemas.RecordInlineLimit)
	return open(v, &workflow.Task{ID: about}, &opened)
}

// asked are the words of the request, or else what the plan says that is to be done.
func asked(v *View) string {
	if words := requestText(v); words != "" {
		return words
	}
	var steps []string
	for _, task := range v.Run.Tasks {
		if !review.IsFix(task) {
			steps = append(steps, v.content(task.Plan.Description).Text)
		}
	}
	return strings.Join(steps, "\n")
}

// afterReviewInstead reads what is to be done once a review has failed.
func afterReviewInstead(v *View, text string) (*planChange, bool) {
	said, err := insteadIn(text)
	if err != nil || v.Run.Phase != workflow.PhaseReviewing {
		return nil, false
	}
	change, faults := change(v, &said)
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
func hasFatalFailure(v *View) bool {
	return slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool {
		if task.State != workflow.TaskFailed || task.Replaced || review.IsFix(task) {
			return false
		}
		evaluated := awaitsFailureEvaluation(v, task) || task.Judged && v.Run.Judge() != nil
		routed := task.Agent == schemas.RouteRespond || task.Agent == schemas.RouteFinish || task.Failure().Cause == schemas.FailureNoRoute
		return !evaluated && !(routed && v.Run.Phase == workflow.PhaseRouting)
	})
}

// abort ends the run because one task failed.
func abort(v *View) events {
	return append(cancelTasks(v, schemas.InquiryWithdrawn), settle(v))
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
