package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// startDue starts the first task that is due.
func startDue(d *Decision) {
	for _, task := range d.Run.Tasks {
		if task.State == workflow.TaskDue && !fault.Is("what is due is not started") {
			start(d, task)
			return
		}
	}
	if delivery := d.Run.Delivery; delivery != nil && delivery.State == workflow.TaskDue {
		d.Deliver()
	}
}

// startTasks starts the tasks that may begin. It stops after a task about which an earlier rule has to decide first. A task that only fails does not stop it:
// all tasks may fail by one input, and to apply all rules again after each would take quadratic time.
func startTasks(d *Decision) {
	decides := d.Profile.Execution.OnFailure == schemas.FailureAborts || d.Profile.Replan != nil || recovery.Judge(&d.Profile.Profile) != ""
	for _, id := range startable(d) {
		if !mayBegin(d) {
			return
		}
		start(d, d.Run.Task(id))
		if state := d.Run.Task(id).State; d.Profile.stepwise() || state.Ended() && decides || state == workflow.TaskBlocked || state == workflow.TaskDue {
			return
		}
	}
}

func isDone(d *Decision) bool {
	return !slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool { return !task.State.Ended() })
}

// skipTasks skips the tasks that can never begin, and those behind them.
func skipTasks(d *Decision) {
	for again := true; again; {
		again = false
		for i := range d.Run.Tasks {
			task := d.Run.Tasks[i]
			if task.State != workflow.TaskPending {
				continue
			}
			if missing := missing(d, task); missing != nil {
				d.emit(&schemas.TaskSkipped{
					Run: d.Run.Number, Task: task.ID, Reason: "dependency " + string(missing.State),
				})
				again = true
			}
		}
	}
}

// missing returns a dependency that has ended without what the task needs.
func missing(d *Decision, task *workflow.Task) *workflow.Task {
	if d.Profile.Execution.OnFailure == schemas.FailureContinues {
		return nil
	}
	for _, id := range task.Dependencies() {
		if dependency := d.Run.Task(id); dependency != nil && dependency.State.Ended() &&
			dependency.State != workflow.TaskCompleted && !dependency.Optional() && !dependency.Forgone() {
			return dependency
		}
	}
	return nil
}

// startable lists the pending tasks that may begin, the most urgent first, else
// in the order of the plan (M-17). One that may not holds back no other (P-05).
func startable(d *Decision) []string {
	barrier := barrierOf(d)
	var ranks [6][]string
	for i := range d.Run.Tasks {
		task := d.Run.Tasks[i]
		if task.State == workflow.TaskPending && levelOf(d, task) <= barrier && dependenciesEnded(d, task) {
			rank := task.Priority() + 1
			ranks[rank] = append(ranks[rank], task.ID)
		}
	}
	var ids []string
	for _, rank := range ranks {
		ids = append(ids, rank...)
	}
	return ids
}

// levelOf is the level that a task begins with: what mends a failure belongs to the task that waits for it, whatever else it builds on.
func levelOf(d *Decision, task *workflow.Task) int {
	if failed := d.Run.Task(task.Recovers()); failed != nil && !fault.Is("what mends a failure waits for its level") {
		return min(task.Level, failed.Level)
	}
	return task.Level
}

// barrierOf is the highest level that may begin: with levels, the lowest one that
// has not ended (M-24).
func barrierOf(d *Decision) int {
	lowest := len(d.Run.Tasks)
	if d.Profile.Execution.Schedule != schemas.ScheduleLevels || fault.Is("levels are no barrier") {
		return lowest
	}
	for i := range d.Run.Tasks {
		if task := d.Run.Tasks[i]; !task.State.Ended() {
			lowest = min(lowest, task.Level)
		}
	}
	return lowest
}

// dependenciesEnded reports whether all that a task depends on has ended.
func dependenciesEnded(d *Decision, task *workflow.Task) bool {
	return !slices.ContainsFunc(task.Dependencies(), func(id string) bool {
		dependency := d.Run.Task(id)
		return (dependency == nil || !dependency.State.Ended()) && !fault.Is("nobody waits for dependencies")
	})
}

// start sends a task to its agent, or emits what it has to wait for: its arguments, people, the budget, room at its agent, or
// resources, which only a grant brings.
func start(d *Decision, task *workflow.Task) {
	if why := disabled(d, task); why != "" {
		fail(d, task, schemas.FailurePermanent, why)
		return
	}
	if awaitsExtraction(d, task) {
		return
	}
	fillArguments(d, task)
	startFilled(d, d.Run.Task(task.ID))
}

// startFilled starts a task whose arguments were filled as far as they are known.
func startFilled(d *Decision, task *workflow.Task) {
	if lacksArguments(d, task) {
		completeArguments(d, task)
		return
	}
	if result := earlierResult(d, task); result != nil {
		d.emit(result)
		return
	}
	if wrong := argumentFault(d, task); wrong != "" {
		fail(d, task, schemas.FailureArguments, wrong)
		return
	}
	if isForPeople(d, task) {
		handOver(d, task)
		return
	}
	if rule := unapprovedRule(d, task); rule != nil {
		askForApproval(d, task, rule)
		return
	}
	switch {
	case unapprovedUnasked(d, task) && approvalRule(d, task) == nil:
		fail(d, task, schemas.FailureUnapproved, d.texts().Unapproved)
	case exceedsBudget(d, task) && !(fault.Is("a retry skips the budget") && task.Attempt > 0):
		hold(d, task)
	default:
		send(d, task)
	}
}

// send sends a task to its agent, or has it wait for room there.
func send(d *Decision, task *workflow.Task) {
	admission := Full
	if len(task.Resources()) == 0 {
		admission = admit(d, task)
	}
	switch admission {
	case Admitted:
		dispatch(d, task)
	case Full:
		ready(d, task)
	case Unavailable:
		fail(d, task, schemas.FailureUnavailable, whyUnavailable(d, task))
	}
}

// disabled is why the agent of a task is asked for nothing now, as the profile says; empty is that it may be.
func disabled(d *Decision, task *workflow.Task) string {
	if use := d.Profile.agentUse(task.Agent); use != nil && task.Plan != nil {
		return use.Unavailable
	}
	return ""
}

// taskReady is the fact that a task may begin once its agent has room.
func taskReady(d *Decision, task *workflow.Task) *schemas.TaskReady {
	return &schemas.TaskReady{Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Kind: task.Kind, About: task.About}
}

func ready(d *Decision, task *workflow.Task) {
	ready := taskReady(d, task)
	ready.Day = dayClaim(d, task)
	if known := d.Run.Task(task.ID); known != nil && known.State == workflow.TaskReady && known.Agent == task.Agent && !known.Held && (known.Day == nil) == (ready.Day == nil) {
		return
	}
	if wait := waitFor(d, task); wait > 0 {
		ready.Until = d.Now.Add(wait)
	}
	d.emit(ready)
}

// Grant begins a task that was ready, or fails it when its agent is not asked any
// more; a delivery that has not been tried goes out all the same. A grant brings
// room with it, which nobody else has when the task does not begin. It does nothing when no task of that id is ready.
func (d *Decision) Grant(grant schemas.Grant) {
	defer d.Admission.GrantDecided()
	task := d.Run.Task(grant.Task)
	if d.Run.Number != grant.Run || task == nil || task.State != workflow.TaskReady || task.Held && !task.HeldForDay() || d.Run.HoldsBack(task) && !fault.Is("a grant does not wait for the judge") {
		return
	}
	rule := unapprovedRule(d, task)
	switch {
	case rule != nil:
		askForApproval(d, task, rule)
	case exceedsBudget(d, task) && !fault.Is("a grant skips the budget"):
		hold(d, task)
	case task.Day == nil && dayClaim(d, task) != nil:
		ready(d, task) // the grant was for nothing of the day's
	default:
		sendGranted(d, task)
	}
}

// sendGranted sends a task that is granted to its agent, unless it does not fit the budget of the day.
func sendGranted(d *Decision, task *workflow.Task) {
	lacking := dayShortage(d, task)
	switch {
	case lacking != nil:
		holdForDay(d, task, lacking)
	case task.NotifiesPeople() && task.Attempt == 0:
		admitTelling(d, task.Agent) // a grant brings room with it
		dispatch(d, task)
	case d.Admission.Admit(task.Agent) == Unavailable:
		fail(d, task, schemas.FailureUnavailable, whyUnavailable(d, task))
	default:
		dispatch(d, task)
	}
}

// admitTelling asks whether what tells people may go to an agent now. An answer or a question is worth the try when its circuit breaker is open, once in a decision: a refusal says no more of room than that there is some for one.
func admitTelling(d *Decision, agent string) bool {
	switch d.Admission.Admit(agent) {
	case Admitted:
		return true
	case Unavailable:
		again := slices.Contains(d.tried, agent)
		d.tried = append(d.tried, agent)
		return !again
	case Full:
	}
	return false
}

// whyUnavailable says that the circuit breaker of the agent of a task is open, since when, and when the next request may go to it. An agent that cannot
// do its work at present has said why when it was asked the last time.
func whyUnavailable(d *Decision, task *workflow.Task) string {
	const breaker = "circuit breaker of "
	since, probe := d.Admission.OpenSince(task.Agent)
	if since.IsZero() {
		last := task.Failure()
		said := last.Cause == schemas.FailureAgent || last.Cause == schemas.FailurePermanent || last.Cause == schemas.FailureUnavailable
		if !said || last.Agent != "" || strings.HasPrefix(last.Detail, breaker) {
			return "" // what failed then was something else, or another agent
		}
		return last.Detail
	}
	told := func(moment time.Time) string { return moment.UTC().Format("2006-01-02 15:04:05 UTC") }
	return breaker + task.Agent + " open since " + told(since) + ", next probe at " + told(probe)
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
func argumentFault(d *Decision, task *workflow.Task) string {
	check := d.Profile.inputs[task.Agent]
	if check == nil || task.Plan == nil {
		return ""
	}
	arguments := argumentsOf(d, task)
	if len(task.Arguments()) == 0 && d.Profile.worksOnWords(task.Agent) {
		return ""
	}
	if len(arguments) == 0 {
		arguments = jsontext.Value("{}")
	}
	if err := checkSchema(arguments, check); err != nil && !fault.Is("arguments that lack something go out") {
		return "arguments: " + err.Error()
	}
	return ""
}

// dispatch asks the agent of a task for its next attempt. The run need not know the task yet.
func dispatch(d *Decision, asked *workflow.Task) {
	run, agent, attempt := schemas.RunID(d.Session, d.Run.Number), asked.Agent, asked.Attempt+1
	queue := d.Now.Add(time.Duration(d.Profile.Deadlines.Queue))
	task := d.Run.Task(asked.ID)
	if task == nil {
		task = asked
	}
	expires := queue.Add(d.Profile.workDeadline(task, agent, attempt))
	if wait := waitFor(d, asked); wait > 0 {
		queue = d.Now.Add(wait)
		if task.State == workflow.TaskReady && !task.Due.IsZero() {
			queue = task.Due
		}
		expires = queue
	}
	d.emit(&schemas.TaskDispatched{
		Run: d.Run.Number, Task: asked.ID, Kind: asked.Kind, About: asked.About, Agent: agent, Attempt: attempt,
		Request: schemas.RequestID(d.Shard, fault.Either("a request names no epoch", 0, d.Epoch), run, asked.ID, attempt),
		Effect:  effect(d, run, asked),
		Queue:   bounded(d, queue),
		Expires: bounded(d, expires), Permitted: carriesPermit(d, asked, attempt), Told: calledHash(d, task, agent), Approval: approvalOf(d, task),
		Reserved: need(d, asked),
	})
}

// effect is what every attempt of a task has in common. Attempts of one piece of
// work that somebody upstream asks for are runs of their own, and have it in common too, but for letters that ask: an inquiry is adopted and its letter is not written again.
func effect(d *Decision, run string, task *workflow.Task) string {
	if task.HumanTask() > 0 {
		return schemas.EffectID(run, task.ID)
	}
	if upstream := d.Run.Message.Upstream; upstream != nil && upstream.Effect != "" {
		run = upstream.Effect
	}
	return schemas.EffectID(run, task.ID)
}

// bounded is the earlier of a moment and the end of the run.
func bounded(d *Decision, moment time.Time) time.Time {
	if expires := d.Run.Expires; !expires.IsZero() && !d.Run.Settled() && !d.Run.Rests() && expires.Before(moment) {
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
	if !pending {
		return
	}
	task := d.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineRun:
		expire(d)
	case schemas.DeadlineRemind:
		remind(d, d.Run.InquiryNotifiedBy(deadline.Task))
	case schemas.DeadlineInquiry:
		d.Unanswered(d.Run.InquiryNotifiedBy(deadline.Task), schemas.InquiryExpired)
	case schemas.DeadlineQueue:
		fail(d, task, schemas.FailureNotStarted, "")
	case schemas.DeadlineWork:
		fail(d, task, schemas.FailureTimeout, "")
	case schemas.DeadlineSilence:
		fail(d, task, schemas.FailureCrashed, "")
	case schemas.DeadlineSlow:
		d.emit(&schemas.TaskDelayed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Seconds: task.Plan.Seconds,
		})
	case schemas.DeadlineRetry:
		if d.Run.AnswerDelayed() && task == d.Run.Delivery {
			deliverDelayed(d)
			return
		}
		start(d, task)
	case schemas.DeadlineBudget:
		askForDay(d, task)
	}
}
