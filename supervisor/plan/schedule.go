package plan

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// startDue starts the first task that is due.
func startDue(v *View) events {
	for _, task := range v.Run.Tasks {
		if task.State != workflow.TaskDue || fault.Is("what is due is not started") {
			continue
		}
		if done := start(v, task); len(done) > 0 {
			return done
		}
	}
	return nil
}

// startPending starts a task if one more may begin.
func startPending(v *View, task *workflow.Task) events {
	if !mayBegin(v) {
		return nil
	}
	return start(v, task)
}

// pausesStarts reports whether an earlier rule has to decide before another task starts after this one.
func pausesStarts(v *View, task *workflow.Task) bool {
	if v.Profile.stepwise() || task.State == workflow.TaskBlocked || task.State == workflow.TaskDue {
		return true
	}
	decides := v.Profile.Execution.OnFailure == schemas.FailureAborts || v.Profile.Replan != nil || recovery.Judge(&v.Profile.Profile) != ""
	return task.State.Ended() && decides
}

func allEnded(v *View) bool {
	return !slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool { return !task.State.Ended() })
}

// skipTasks skips the tasks that can never begin, and those behind them.
func skipTasks(v *View) events {
	var done events
	var skipped map[string]bool
	for again := true; again; {
		again = false
		for _, task := range v.Run.Tasks {
			if task.State != workflow.TaskPending || skipped[task.ID] {
				continue
			}
			if id := missing(v, task, skipped); id != "" {
				done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: task.ID, Reason: schemas.SkippedDependency, Dependency: id})
				if skipped == nil {
					skipped = map[string]bool{}
				}
				skipped[task.ID], again = true, true
			}
		}
	}
	return done
}

// missing returns a dependency that has ended, or is one of those to be skipped, without what the task needs; empty means that there is none.
func missing(v *View, task *workflow.Task, skipped map[string]bool) string {
	if v.Profile.Execution.OnFailure == schemas.FailureContinues {
		return ""
	}
	for _, id := range task.Dependencies() {
		dependency := v.Run.Task(id)
		switch {
		case dependency == nil || dependency.Optional() || dependency.State == workflow.TaskCompleted:
		case skipped[id], dependency.State.Ended() && !dependency.Forgone():
			return id
		}
	}
	return ""
}

// startable lists the pending tasks that may begin, the most urgent first, else
// in the order of the plan (M-17). One that may not holds back no other (P-05).
func startable(v *View) []*workflow.Task {
	barrier := barrierOf(v)
	var ranks [6][]*workflow.Task
	for _, task := range v.Run.Tasks {
		if task.State == workflow.TaskPending && levelOf(v, task) <= barrier && dependenciesEnded(v, task) {
			rank := task.Priority() + 1
			ranks[rank] = append(ranks[rank], task)
		}
	}
	return slices.Concat(ranks[:]...)
}

// levelOf is the level that a task begins with: what mends a failure belongs to the task that waits for it, whatever else it builds on.
func levelOf(v *View, task *workflow.Task) int {
	if failed := v.Run.Task(task.Recovers()); failed != nil && !fault.Is("what mends a failure waits for its level") {
		return min(task.Level, failed.Level)
	}
	return task.Level
}

// barrierOf is the highest level that may begin: with levels, the lowest one that
// has not ended (M-24).
func barrierOf(v *View) int {
	lowest := len(v.Run.Tasks)
	if v.Profile.Execution.Schedule != schemas.ScheduleLevels || fault.Is("levels are no barrier") {
		return lowest
	}
	for i := range v.Run.Tasks {
		if task := v.Run.Tasks[i]; !task.State.Ended() {
			lowest = min(lowest, task.Level)
		}
	}
	return lowest
}

// dependenciesEnded reports whether all that a task depends on has ended.
func dependenciesEnded(v *View, task *workflow.Task) bool {
	return !slices.ContainsFunc(task.Dependencies(), func(id string) bool {
		dependency := v.Run.Task(id)
		return (dependency == nil || !dependency.State.Ended()) && !fault.Is("nobody waits for dependencies")
	})
}

// start sends a task to its agent, or says what it has to wait for: its arguments, people, the budget, room at its agent, or
// resources, which only a grant brings.
func start(v *View, task *workflow.Task) events {
	if why := disabled(v, task); why != "" {
		return failWith(v, task, schemas.TaskFailed{Cause: schemas.FailurePermanent, Detail: why})
	}
	if awaitsExtraction(v, task) {
		return nil
	}
	filled := fillArguments(v, task)
	if filled == nil {
		return startFilled(v, task)
	}
	done := events{filled}
	v = v.after(done)
	return append(done, startFilled(v, v.Run.Task(task.ID))...)
}

// startFilled starts a task whose arguments were filled as far as they are known.
func startFilled(v *View, task *workflow.Task) events {
	if lacksArguments(v, task) {
		return completeArguments(v, task)
	}
	if result := earlierResult(v, task); result != nil {
		return events{result}
	}
	if wrong := argumentFault(v, task); len(wrong) > 0 {
		return fail(v, task, schemas.FailureArguments, wrong...)
	}
	if isForPeople(v, task) {
		return handOver(v, task)
	}
	if rule := unapprovedRule(v, task); rule != nil {
		return askForApproval(v, task, rule)
	}
	switch {
	case mustBeApprovedBeforeDispatch(v, task) && approvalRule(v, task) == nil:
		return fail(v, task, schemas.FailureUnapproved, schemas.Because(schemas.EffectUnapproved))
	case exceedsBudget(v, task) && !(fault.Is("a retry skips the budget") && task.Attempt > 0):
		return hold(v, task)
	}
	return send(v, task)
}

// send sends a task to its agent, or has it wait for room there.
func send(v *View, task *workflow.Task) events {
	admission := Full
	if len(task.Resources()) == 0 {
		admission = admit(v, task)
	}
	switch admission {
	case Admitted:
		return dispatch(v, task)
	case Unavailable:
		return failWith(v, task, unavailable(v, task))
	case Full:
	}
	return ready(v, task)
}

// disabled is why the agent of a task is asked for nothing now, as the profile says; empty is that it may be.
func disabled(v *View, task *workflow.Task) string {
	if use := v.Profile.agentUse(task.Agent); use != nil && task.Plan != nil {
		return use.Unavailable
	}
	return ""
}

// taskReady is the fact that a task may begin once its agent has room.
func taskReady(v *View, task *workflow.Task) *schemas.TaskReady {
	return &schemas.TaskReady{Run: v.Run.Number, Task: task.ID, Agent: task.Agent, Kind: task.Kind, About: task.About}
}

// ready has a task wait for room at its agent.
func ready(v *View, task *workflow.Task) events {
	ready := taskReady(v, task)
	ready.Day = dayClaim(v, task)
	if known := v.Run.Task(task.ID); known != nil && known.State == workflow.TaskReady && known.Agent == task.Agent && !known.Held && (known.Day == nil) == (ready.Day == nil) {
		return nil
	}
	if wait := waitFor(v, task); wait > 0 {
		ready.Until = v.Now.Add(wait)
	}
	return events{ready}
}

// Grant begins a task that was ready, or fails it when its agent is not asked any
// more; a delivery that has not been tried goes out all the same. A grant brings
// room with it, which nobody else has when the task does not begin. It does nothing when no task of that id is ready.
func (d *Decision) Grant(grant schemas.Grant) {
	v, task := &d.View, d.Run.Task(grant.Task)
	if d.Run.Number != grant.Run || task == nil || task.State != workflow.TaskReady || task.Held && !task.HeldForDay() || d.Run.HoldsBack(task) && !fault.Is("a grant does not wait for the judge") {
		return
	}
	rule := unapprovedRule(v, task)
	switch {
	case rule != nil:
		d.apply(askForApproval(v, task, rule))
	case exceedsBudget(v, task) && !fault.Is("a grant skips the budget"):
		d.apply(hold(v, task))
	case task.Day == nil && dayClaim(v, task) != nil:
		d.apply(ready(v, task)) // the grant was for nothing of the day's
	default:
		d.apply(sendGranted(v, task))
	}
}

// sendGranted sends a task that is granted to its agent, unless it does not fit the budget of the day.
func sendGranted(v *View, task *workflow.Task) events {
	lacking := dayShortage(v, task)
	switch {
	case lacking != nil:
		return holdForDay(v, task, lacking)
	case task.NotifiesPeople() && task.Attempt == 0:
	case v.Admission.Granted(task.Agent) == Unavailable:
		return failWith(v, task, unavailable(v, task))
	}
	return dispatch(v, task)
}

// mayTell reports whether an answer or a notification may go to an agent now. If its circuit breaker is open, one of them in a decision
// is sent all the same.
func mayTell(v *View, agent string) bool {
	switch v.room(agent) {
	case Admitted:
		return true
	case Unavailable:
		return !v.sentTo(agent)
	case Full:
	}
	return false
}

// unavailable is the failure of a task whose agent is not asked: its circuit breaker is open. An agent that cannot do
// its work at present has said why when it was asked the last time.
func unavailable(v *View, task *workflow.Task) schemas.TaskFailed {
	failed := schemas.TaskFailed{Cause: schemas.FailureUnavailable}
	since, probe := v.Admission.OpenSince(task.Agent)
	if since.IsZero() {
		last := task.Failure()
		said := last.Cause == schemas.FailureAgent || last.Cause == schemas.FailurePermanent || last.Cause == schemas.FailureUnavailable
		open := slices.ContainsFunc(last.Reasons, func(why schemas.Reason) bool { return why.Code == schemas.CircuitOpen })
		if said && last.Agent == "" && !open { // else what failed then was something else, or another agent
			failed.Detail, failed.Reasons = last.Detail, last.Reasons
		}
		return failed
	}
	told := func(moment time.Time) string { return moment.UTC().Format(time.RFC3339) }
	failed.Reasons = []schemas.Reason{schemas.Because(schemas.CircuitOpen, "agent", task.Agent, "since", told(since), "probe", told(probe))}
	return failed
}

// Unserved notes that nobody serves the agent that a task waits for. It
// does nothing when the task waits for it no more, or that is known.
func (d *Decision) Unserved(absence schemas.Absence) {
	task := d.Run.Task(absence.Task)
	if d.Run.Number != absence.Run || task == nil || task.Agent != absence.Agent || !task.Unbegun() || task.Unserved != nil {
		return
	}
	d.emit(&schemas.TaskUnserved{
		Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Since: absence.Since,
	})
}

// argumentFault says why the arguments of a task are not what its agent takes (G-14).
func argumentFault(v *View, task *workflow.Task) []schemas.Reason {
	check := v.Profile.inputs[task.Agent]
	if check == nil || task.Plan == nil {
		return nil
	}
	arguments := argumentsOf(v, task)
	if len(task.Arguments()) == 0 && v.Profile.worksOnWords(task.Agent) {
		return nil
	}
	if len(arguments) == 0 {
		arguments = jsontext.Value("{}")
	}
	if err := checkSchema(arguments, check); err != nil && !fault.Is("arguments that lack something go out") {
		return []schemas.Reason{schemaFault(schemas.ArgumentInvalid, err)}
	}
	return nil
}

// dispatch asks the agent of a task for its next attempt. The run need not know the task yet.
func dispatch(v *View, asked *workflow.Task) events {
	run, agent, attempt := schemas.RunID(v.Session, v.Run.Number), asked.Agent, asked.Attempt+1
	queue := v.Now.Add(time.Duration(v.Profile.Deadlines.Queue))
	task := asked
	if known := v.Run.Task(asked.ID); known != nil {
		task = known
	}
	expires := queue.Add(v.Profile.workDeadline(task, agent, attempt))
	if wait := waitFor(v, asked); wait > 0 {
		queue = v.Now.Add(wait)
		if task.State == workflow.TaskReady && !task.Due.IsZero() {
			queue = task.Due
		}
		expires = queue
	}
	return events{&schemas.TaskDispatched{
		Run: v.Run.Number, Task: asked.ID, Kind: asked.Kind, About: asked.About, Agent: agent, Attempt: attempt,
		Request: schemas.RequestID(v.Shard, fault.Either("a request names no epoch", 0, v.Epoch), run, asked.ID, attempt),
		Effect:  effect(v, run, asked),
		Queue:   bounded(v, queue),
		Expires: bounded(v, expires), Permitted: carriesPermit(v, asked, attempt), Told: calledHash(v, task, agent), Approval: approvalOf(v, task),
		Reserved: need(v, asked),
	}}
}

// effect is what every attempt of a task has in common. Attempts of one piece of
// work that somebody upstream asks for are runs of their own, and have it in common too, but for letters that ask: an inquiry is adopted and its letter is not written again.
func effect(v *View, run string, task *workflow.Task) string {
	if task.HumanTask() > 0 {
		return schemas.EffectID(run, task.ID)
	}
	if upstream := v.Run.Message.Upstream; upstream != nil && upstream.Effect != "" {
		run = upstream.Effect
	}
	return schemas.EffectID(run, task.ID)
}

// bounded is the earlier of a moment and the end of the run.
func bounded(v *View, moment time.Time) time.Time {
	if expires := v.Run.Expires; !expires.IsZero() && !v.Run.Settled() && !v.Run.Rests() && expires.Before(moment) {
		return expires
	}
	return moment
}

// Expire takes a deadline that has passed. It does nothing
// when the run does not wait for exactly this any more.
func (d *Decision) Expire(deadline schemas.Deadline) {
	pending := slices.ContainsFunc(d.Run.Deadlines(), func(other schemas.Deadline) bool {
		return other.Run == deadline.Run && other.Task == deadline.Task && other.Attempt == deadline.Attempt &&
			other.Kind == deadline.Kind && (fault.Is("a deadline rings before its moment") || !other.At.After(d.Now))
	})
	if pending {
		d.apply(expireDeadline(&d.View, deadline))
	}
}

// expireDeadline does what follows a deadline that has passed.
func expireDeadline(v *View, deadline schemas.Deadline) events {
	task := v.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineRun:
		return expire(v)
	case schemas.DeadlineRemind:
		return remind(v, v.Run.InquiryNotifiedBy(deadline.Task))
	case schemas.DeadlineInquiry:
		return endWithoutReply(v, v.Run.InquiryNotifiedBy(deadline.Task), schemas.InquiryExpired)
	case schemas.DeadlineQueue:
		return fail(v, task, schemas.FailureNotStarted)
	case schemas.DeadlineWork:
		return fail(v, task, schemas.FailureTimeout)
	case schemas.DeadlineSilence:
		return fail(v, task, schemas.FailureCrashed)
	case schemas.DeadlineSlow:
		return events{&schemas.TaskDelayed{
			Run: v.Run.Number, Task: task.ID, Attempt: task.Attempt, Seconds: task.Plan.Seconds,
		}}
	case schemas.DeadlineRetry:
		if v.Run.AnswerDelayed() && task == v.Run.Delivery {
			return deliverOrDelay(v)
		}
		return start(v, task)
	case schemas.DeadlineBudget:
		return askForDay(v, task)
	}
	return nil
}
