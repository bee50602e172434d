package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// advance does what has become possible: skip what can never begin, begin what
// may, the most urgent first, settle when nothing is left.
func (d *Decision) advance() {
	if d.Run.Phase == workflow.PhaseReviewing {
		d.review()
		return
	}
	if d.Run.Phase != workflow.PhaseExecuting || d.mended() || d.defers() {
		return
	}
	d.skip()
	for _, id := range d.startable() {
		if task := d.Run.Task(id); task.State == workflow.TaskPending && !d.Run.Settled() && d.mayBegin() {
			d.start(task)
			if d.Profile.stepwise() {
				break
			}
		}
	}
	switch {
	case d.Run.Phase != workflow.PhaseExecuting || d.Run.Judge() != nil:
	case d.done():
		d.finish()
	default:
		d.outOfSteps()
	}
}

func (d *Decision) done() bool {
	return !slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool { return !task.State.Ended() })
}

// skip skips the tasks that can never begin, and those behind them.
func (d *Decision) skip() {
	for again := true; again; {
		again = false
		for i := range d.Run.Tasks {
			task := d.Run.Tasks[i]
			if task.State != workflow.TaskPending {
				continue
			}
			if missing := d.missing(task); missing != nil {
				d.Emit(&schemas.TaskSkipped{
					Run: d.Run.Number, Task: task.ID, Reason: "dependency " + string(missing.State),
				})
				again = true
			}
		}
	}
}

// missing returns a dependency that has ended without what the task needs.
func (d *Decision) missing(task *workflow.Task) *workflow.Task {
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
func (d *Decision) startable() []string {
	barrier := d.barrier()
	var ranks [6][]string
	for i := range d.Run.Tasks {
		task := d.Run.Tasks[i]
		if task.State == workflow.TaskPending && d.levelOf(task) <= barrier && d.dependenciesEnded(task) {
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
func (d *Decision) levelOf(task *workflow.Task) int {
	if failed := d.Run.Task(task.Recovers()); failed != nil && !fault.Is("what mends a failure waits for its level") {
		return min(task.Level, failed.Level)
	}
	return task.Level
}

// barrier is the highest level that may begin: with levels, the lowest one that
// has not ended (M-24).
func (d *Decision) barrier() int {
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
func (d *Decision) dependenciesEnded(task *workflow.Task) bool {
	return !slices.ContainsFunc(task.Dependencies(), func(id string) bool {
		dependency := d.Run.Task(id)
		return (dependency == nil || !dependency.State.Ended()) && !fault.Is("nobody waits for dependencies")
	})
}

// start begins a task, or notes that it waits: for its agent to have room, or
// for its resources, which only a grant brings.
func (d *Decision) start(task *workflow.Task) {
	if d.barred(task) || !d.fill(task) {
		return
	}
	task = d.Run.Task(task.ID)
	if task.State == workflow.TaskPending && (d.bring(task) || d.reuse(task)) {
		return
	}
	if fault := d.argumentFault(task); fault != "" {
		d.fail(task, schemas.FailureArguments, fault)
		return
	}
	if d.handOver(task) || !fault.Is("nobody has to agree") && !d.approved(task) {
		return
	}
	if d.unapprovedUnasked(task) && d.approvalRule(task) == nil {
		d.fail(task, schemas.FailureUnapproved, d.texts().Unapproved)
		return
	}
	if !(fault.Is("a retry skips the budget") && task.Attempt > 0) && !d.affords(task) {
		return
	}
	admission := Full
	if len(task.Resources()) == 0 {
		admission = d.admit(task)
	}
	switch admission {
	case Admitted:
		d.dispatch(task)
	case Full:
		d.ready(task)
	case Unavailable:
		d.fail(task, schemas.FailureUnavailable, d.whyUnavailable(task))
	}
}

// barred fails a task whose agent is not asked now, as the profile says, and reports whether it has.
func (d *Decision) barred(task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || use.Unavailable == "" || task.Plan == nil {
		return false
	}
	d.fail(task, schemas.FailurePermanent, use.Unavailable)
	return true
}

// taskReady is the fact that a task may begin once its agent has room.
func (d *Decision) taskReady(task *workflow.Task) *schemas.TaskReady {
	return &schemas.TaskReady{Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Kind: task.Kind, About: task.About}
}

func (d *Decision) ready(task *workflow.Task) {
	ready := d.taskReady(task)
	ready.Day = d.dayClaim(task)
	if known := d.Run.Task(task.ID); known != nil && known.State == workflow.TaskReady && known.Agent == task.Agent && !known.Held && (known.Day == nil) == (ready.Day == nil) {
		return
	}
	if wait := d.waitFor(task); wait > 0 {
		ready.Until = d.Now.Add(wait)
	}
	d.Emit(ready)
}

// Grant begins a task that was ready, or fails it when its agent is not asked any
// more; a delivery that has not been tried goes out all the same. A grant brings
// room with it, which nobody else has when the task does not begin. It reports false, and does nothing, when no task of that id is ready.
func (d *Decision) Grant(grant schemas.Grant) bool {
	defer d.Admission.GrantDecided()
	task := d.Run.Task(grant.Task)
	if d.Run.Number != grant.Run || task == nil || task.State != workflow.TaskReady || task.Held && !task.HeldForDay() || d.Run.HoldsBack(task) && !fault.Is("a grant does not wait for the judge") {
		return false
	}
	if !d.approved(task) && !fault.Is("nobody has to agree") {
		return true
	}
	if !fault.Is("a grant skips the budget") && !d.affords(task) {
		return true // it waits for the budget now
	}
	if !d.affordsDay(task) {
		return true
	}
	if task.NotifiesPeople() && task.Attempt == 0 {
		d.admitTelling(task.Agent) // a grant brings room with it
	} else if d.Admission.Admit(task.Agent) == Unavailable {
		d.fail(task, schemas.FailureUnavailable, d.whyUnavailable(task))
		return true
	}
	d.dispatch(task)
	return true
}

// admitTelling asks whether what tells people may go to an agent now. An answer or a question is worth the try when its circuit breaker is open, once in a decision: a refusal says no more of room than that there is some for one.
func (d *Decision) admitTelling(agent string) bool {
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
func (d *Decision) whyUnavailable(task *workflow.Task) string {
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

// Unserved notes that nobody serves the agent that a task waits for. It reports
// false, and does nothing, when the task waits for it no more, or that is known.
func (d *Decision) Unserved(absence schemas.Absence) bool {
	task := d.Run.Task(absence.Task)
	if d.Run.Number != absence.Run || task == nil || task.Agent != absence.Agent || !task.Unbegun() || task.Unserved != nil {
		return false
	}
	d.Emit(&schemas.TaskUnserved{
		Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Since: absence.Since,
	})
	return true
}

// argumentFault says why the arguments of a task are not what its agent takes (G-14).
func (d *Decision) argumentFault(task *workflow.Task) string {
	check := d.Profile.inputs[task.Agent]
	if check == nil || task.Plan == nil {
		return ""
	}
	arguments := d.arguments(task)
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
func (d *Decision) dispatch(asked *workflow.Task) {
	run, agent, attempt := schemas.RunID(d.Session, d.Run.Number), asked.Agent, asked.Attempt+1
	queue := d.Now.Add(time.Duration(d.Profile.Deadlines.Queue))
	task := d.Run.Task(asked.ID)
	if task == nil {
		task = asked
	}
	expires := queue.Add(d.Profile.workDeadline(task, agent, attempt))
	if wait := d.waitFor(asked); wait > 0 {
		queue = d.Now.Add(wait)
		if task.State == workflow.TaskReady && !task.Due.IsZero() {
			queue = task.Due
		}
		expires = queue
	}
	d.Emit(&schemas.TaskDispatched{
		Run: d.Run.Number, Task: asked.ID, Kind: asked.Kind, About: asked.About, Agent: agent, Attempt: attempt,
		Request: schemas.RequestID(d.Shard, fault.Either("a request names no epoch", 0, d.Epoch), run, asked.ID, attempt),
		Effect:  d.effect(run, asked),
		Queue:   d.bounded(queue),
		Expires: d.bounded(expires), Permitted: d.carriesPermit(asked, attempt), Told: d.calledHash(task, agent), Approval: d.approval(task),
		Reserved: d.need(asked),
	})
}

// effect is what every attempt of a task has in common. Attempts of one piece of
// work that somebody upstream asks for are runs of their own, and have it in common too, but for letters that ask: an inquiry is adopted and its letter is not written again.
func (d *Decision) effect(run string, task *workflow.Task) string {
	if task.HumanTask() > 0 {
		return schemas.EffectID(run, task.ID)
	}
	if upstream := d.Run.Message.Upstream; upstream != nil && upstream.Effect != "" {
		run = upstream.Effect
	}
	return schemas.EffectID(run, task.ID)
}

// bounded is the earlier of a moment and the end of the run.
func (d *Decision) bounded(moment time.Time) time.Time {
	if expires := d.Run.Expires; !expires.IsZero() && !d.Run.Settled() && !d.Run.Rests() && expires.Before(moment) {
		return expires
	}
	return moment
}

// Expire takes a deadline that has passed. It reports false, and does nothing,
// when the run does not wait for exactly this any more.
func (d *Decision) Expire(deadline schemas.Deadline) bool {
	pending := slices.ContainsFunc(d.Run.Deadlines(), func(other schemas.Deadline) bool {
		return other.Run == deadline.Run && other.Task == deadline.Task && other.Attempt == deadline.Attempt &&
			other.Kind == deadline.Kind && (fault.Is("a deadline rings before its moment") || !other.At.After(d.Now))
	})
	if !pending {
		return false
	}
	switch deadline.Kind {
	case schemas.DeadlineRun:
		d.expire()
		return true
	case schemas.DeadlineRemind:
		d.remind(d.Run.InquiryNotifiedBy(deadline.Task))
		return true
	case schemas.DeadlineInquiry:
		d.Unanswered(d.Run.InquiryNotifiedBy(deadline.Task), schemas.InquiryExpired)
		return true
	case schemas.DeadlineQueue, schemas.DeadlineWork, schemas.DeadlineRetry, schemas.DeadlineSlow, schemas.DeadlineSilence, schemas.DeadlineBudget:
	}
	task := d.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineQueue:
		d.fail(task, schemas.FailureNotStarted, "")
	case schemas.DeadlineWork:
		d.fail(task, schemas.FailureTimeout, "")
	case schemas.DeadlineSilence:
		d.fail(task, schemas.FailureCrashed, "")
	case schemas.DeadlineSlow:
		d.Emit(&schemas.TaskDelayed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Seconds: task.Plan.Seconds,
		})
	case schemas.DeadlineRetry:
		if d.Run.AnswerDelayed() && task == d.Run.Delivery {
			d.deliverDelayed()
			return true
		}
		d.start(task)
	case schemas.DeadlineBudget:
		d.askForDay(task)
	case schemas.DeadlineRun, schemas.DeadlineRemind, schemas.DeadlineInquiry:
	}
	return true
}
