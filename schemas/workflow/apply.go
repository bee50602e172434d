package workflow

import (
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// Begin returns the run that a fact begins.
func Begin(f *schemas.RunStarted) *Run {
	return &Run{
		Number: f.Run, Profile: f.Profile, ProfileHash: f.ProfileHash,
		Message: f.Message, Expires: f.Expires, Entities: f.Entities, Phase: PhaseDecomposing,
	}
}

// Apply changes the run by one fact about it, decided at now. A fact that does
// not concern a task of the run changes nothing.
func (r *Run) Apply(f schemas.Fact, now time.Time) {
	switch f := f.(type) {
	case *schemas.PlanCreated:
		applyPlan(r, f, now)
	case *schemas.PlanRefused:
		r.Phase, r.Tasks, r.index, r.PlanFaults = PhaseDecomposing, nil, nil, f.Faults
	case *schemas.PlanChanged:
		applyChange(r, f)
	case *schemas.Judged:
		applyJudged(r, f)
	case *schemas.ReviewBegan:
		r.Phase, r.Review = PhaseReviewing, &Review{Round: f.Round, Forced: f.Forced}
	case *schemas.TaskRouted:
		applyRoute(r, f)
	case *schemas.TaskReady:
		task := takeTask(r, f.Task, f.Kind, f.About)
		task.State, task.Agent, task.Due, task.Held = TaskReady, f.Agent, f.Until, f.Held
		claimDay(r, task, f.Day, now)
		if f.Kind.AsksEvaluator() {
			markJudged(r)
		}
		noteNotified(r, task, now)
	case *schemas.TaskDispatched:
		applyDispatch(r, f, now)
	case *schemas.RunSettled:
		applySettled(r, f, now)
	case *schemas.DeliveryReopened:
		applyReopened(r, f)
	case *schemas.AnswerDelayed:
		task := takeTask(r, schemas.DeliveryTask, schemas.TaskKindDeliver, nil)
		task.State, task.Agent, task.Due = TaskWaiting, f.Agent, f.Until
	case *schemas.RunEnded:
		r.Phase = PhaseComplete
		r.Status, r.Reason = f.Status, f.Reason
	case *schemas.TaskUnserved, *schemas.TaskStarted, *schemas.TaskProgressed, *schemas.TaskHeartbeat, *schemas.TaskDelayed,
		*schemas.TaskCompleted, *schemas.TaskFailed, *schemas.TaskSkipped, *schemas.TaskCancelled, *schemas.PermitGranted:
		settleAccount(r, f)
		if task := changeTask(r, schemas.TaskOf(f)); task != nil {
			parked := task.HeldForDay() && task.Day.Parked
			if task.apply(f, now); parked && !task.HeldForDay() {
				resumeRun(r, now)
			}
			noticeIsPermitted(task, f)
		}
	case *schemas.PermitRefused:
		noteDoubt(r, f)
	case *schemas.ArgumentsFilled:
		if task := changeTask(r, f.Task); task != nil {
			task.Filled = f
		}
	case *schemas.InquiryOpened, *schemas.InquiryAnswered, *schemas.InquiryClosed:
		applyInquiry(r, f, now)
	case *schemas.MessageReceived, *schemas.RunStarted, *schemas.ResendRequested: // of the session
	case *schemas.ResponseLate:
		settleAccount(r, f)
	case *schemas.ComplexityAssessed, *schemas.EntityMismatched, *schemas.ReplyWithheld: // of its history
	case *schemas.DeliveryBounced:
		applyBounce(r, f)
	}
}

// applyBounce notes that a letter has not arrived, whatever its agent has said.
func applyBounce(r *Run, f *schemas.DeliveryBounced) {
	switch inquiry := r.Inquiry(f.Inquiry); {
	case !f.Failed || f.Run != r.Number:
	case inquiry != nil && f.Recipient != "":
		r.Inquiries[f.Inquiry-1] = inquiry.without(f.Recipient)
	case f.Inquiry == 0 && r.Delivery != nil && r.Delivery.State == TaskCompleted:
		changeTask(r, schemas.DeliveryTask).State = TaskFailed
	}
}

func applyPlan(r *Run, f *schemas.PlanCreated, now time.Time) {
	r.Phase, r.Source, r.Planned = PhaseRouting, f.Source, now
	r.Tasks, r.index = make([]*Task, len(f.Tasks)), nil
	for i := range f.Tasks {
		planned := &f.Tasks[i]
		r.Tasks[i] = &Task{ID: planned.Task, Plan: planned, Agent: planned.Agent, Routed: planned.Routed, State: TaskPending}
	}
	for i, level := range Levels(f.Tasks) {
		r.Tasks[i].Level = level
	}
	if len(f.Tasks) > indexed {
		r.index = IndexOf(f.Tasks)
	}
	endRouting(r)
}

// indexed is how many tasks are found faster one by one than by an index.
const indexed = 8

func applyRoute(r *Run, f *schemas.TaskRouted) {
	if task := changeTask(r, f.Task); task != nil {
		task.Agent, task.Routed = f.Decision.NextAgent, true
	}
	endRouting(r)
}

// endRouting goes on to the next phase when every task has been routed (P-13).
func endRouting(r *Run) {
	for i := range r.Tasks {
		if !r.Tasks[i].Routed && (r.Changes == 0 || !fault.Is("what was not routed is taken for routed")) {
			return
		}
	}
	if r.Phase == PhaseRouting {
		r.Phase = PhaseExecuting
	}
}

// takeTask returns the task with that id to be changed, and makes it when it is none
// of the plan.
func takeTask(r *Run, id string, kind schemas.TaskKind, about *schemas.TaskAbout) *Task {
	if task := changeTask(r, id); task != nil {
		return task
	}
	if id == schemas.DeliveryTask {
		r.Delivery = NewDelivery("")
		return r.Delivery
	}
	added := &Task{ID: id, Kind: kind, About: about}
	if r.Phase == PhaseReviewing && kind.AsksEvaluator() {
		added.Round = int32(r.Review.Round) //nolint:gosec // a run has few rounds
	}
	r.DecisionTasks = append(r.DecisionTasks, added)
	return added
}

func applyDispatch(r *Run, f *schemas.TaskDispatched, now time.Time) {
	task := takeTask(r, f.Task, f.Kind, f.About)
	task.State, task.Agent, task.Attempt, task.PreviousRequest = TaskDispatched, f.Agent, f.Attempt, task.Request
	task.Request, task.Dispatched, task.Due, task.Expires = f.Request, now, f.Queue, f.Expires
	task.called(f)
	task.Unapproved, task.Approval, task.Held, task.Released = false, int32(f.Approval), false, false //nolint:gosec // at most schemas.MaxInquiries
	reserveBudget(r, f, task.Day, now)
	claimDay(r, task, nil, now)
	task.Percentage, task.Message, task.Started, task.Ended = 0, "", time.Time{}, time.Time{}
	task.Slow, task.Silence, task.Heartbeat = time.Time{}, time.Time{}, time.Time{}
	if f.Permitted {
		task.Permit = schemas.PermitID(f.Request)
	}
	noteNotified(r, task, now)
	if f.Kind.AsksEvaluator() {
		markJudged(r)
	}
}

// markJudged notes how much a judge is told as it is asked.
func markJudged(r *Run) {
	for i := range r.Tasks {
		if r.Tasks[i].Worked() && !r.Tasks[i].Judged {
			changeAt(&r.Tasks[i]).Judged = true
		}
	}
}

// applyChange adds the tasks of another plan. What it leaves out has ended by facts of its own.
func applyChange(r *Run, f *schemas.PlanChanged) {
	r.Phase, r.Changes = PhaseRouting, f.Change
	if f.Source != schemas.OccasionReview && f.Source != schemas.OccasionPerson && f.Source != schemas.OccasionFix {
		r.Replans = fault.Either("attempts begin anew with each change", 0, r.Replans+1)
	}
	for _, id := range f.Replaces {
		if task := changeTask(r, id); task != nil {
			task.Replaced = true
		}
	}
	for i := range f.Tasks {
		planned := &f.Tasks[i]
		r.Tasks = append(r.Tasks, &Task{ID: planned.Task, Plan: planned, Agent: planned.Agent, Routed: planned.Routed, State: TaskPending, Change: f.Change})
	}
	plan := make([]schemas.PlannedTask, len(r.Tasks))
	for i, task := range r.Tasks {
		plan[i] = *task.Plan
	}
	for i, level := range Levels(plan) {
		if r.Tasks[i].Level != level {
			changeAt(&r.Tasks[i]).Level = level
		}
	}
	if r.index = nil; len(plan) > indexed {
		r.index = IndexOf(plan)
	}
	endRouting(r)
}

// applySettled closes the plan. Tasks that were never begun need no fact of their own: they
// are skipped, or cancelled with the run.
func applySettled(r *Run, f *schemas.RunSettled, now time.Time) {
	r.Phase, r.Status, r.Reason, r.Answer, r.Error, r.Notes, r.Summary = PhaseAssembling, f.Status, f.Reason, f.Answer, f.Error, f.Notes, f.Summary
	closed := TaskSkipped
	if f.Status == schemas.RunCancelled {
		closed = TaskCancelled
	}
	for i := range r.Tasks {
		if !r.Tasks[i].State.Ended() {
			task := changeAt(&r.Tasks[i])
			task.State, task.Ended, task.Unserved = closed, now, nil
			task.letGo(time.Time{})
		}
	}
}

func (t *Task) apply(f schemas.Fact, now time.Time) {
	switch f := f.(type) {
	case *schemas.TaskUnserved:
		t.Unserved = &Unserved{Since: f.Since}
	case *schemas.TaskStarted:
		t.Unserved = nil
		t.State, t.Due, t.Started, t.Heartbeat = TaskRunning, f.Deadline, now, now
		t.Slow, t.Silence = f.Slow, f.Silence
		t.letGo(f.WaitingUntil)
	case *schemas.TaskProgressed:
		t.Percentage, t.Message = f.Percentage, f.Message
	case *schemas.TaskHeartbeat:
		t.Heartbeat, t.Silence = now, f.Silence
		if !f.WaitingUntil.IsZero() || !fault.Is("what works again takes no place") {
			t.letGo(f.WaitingUntil)
		}
	case *schemas.TaskDelayed:
		t.Slow, t.Delayed = time.Time{}, true
	case *schemas.TaskCompleted:
		t.complete(f, now)
	case *schemas.TaskFailed:
		t.fail(f, now)
	case *schemas.TaskSkipped:
		t.State, t.Ended, t.Message, t.Unserved = TaskSkipped, now, strings.TrimSpace(f.Reason+" "+f.Dependency), nil
		t.letGo(time.Time{})
		t.Replaced = f.Reason == schemas.SkippedReplanned
	case *schemas.TaskCancelled:
		t.State, t.Ended, t.Unserved = TaskCancelled, now, nil
		t.letGo(time.Time{})
	case *schemas.PermitGranted:
		t.Permit = f.Permit
	default:
	}
}

func (t *Task) complete(f *schemas.TaskCompleted, now time.Time) {
	t.State, t.Percentage, t.Result, t.Ended = TaskCompleted, 100, f.Result, now
	t.Deliverables, t.Tokens, t.Unserved = f.Deliverables, t.Tokens+f.Tokens, nil
	t.letGo(time.Time{})
	t.Proven, t.Unproven, t.Reused = f.Proven, f.Unproven, f.Reused
	t.Answered, t.Partial, t.Findings = f.Sequence, f.Partial, f.Findings
	if f.Brought > 0 {
		t.Permit = f.Permit
	}
}

func (t *Task) fail(f *schemas.TaskFailed, now time.Time) {
	t.LastFailure, t.Unserved, t.Tokens, t.Held, t.Day = f, nil, t.Tokens+f.Tokens, false, nil
	t.letGo(time.Time{})
	if f.Cause == schemas.FailureVerdict {
		t.Result, t.Proven = f.Result, f.Proven
	}
	if f.Undone() && t.State.UnderWay() { // else it fails for what nobody has said, and its agent has said nothing
		t.Permit = ""
	}
	switch {
	case !t.State.UnderWay():
		t.Rejections++
	case t.TurnedAway(f):
		t.UncountedAttempts, t.Rejections = t.UncountedAttempts+1, t.Rejections+1
	}
	switch {
	case !f.RetryAt.IsZero():
		t.State, t.Due = TaskWaiting, f.RetryAt
	case f.Agent != "":
		t.State, t.PreviousAgent, t.Agent, t.UncountedAttempts, t.Rejections = TaskDue, t.Agent, f.Agent, t.Attempt, 0
		t.Inquired, t.Released = 0, true
		t.Due = time.Time{}
	case f.Recovering != "":
		t.State, t.Due = fault.Either("what is blocked goes on by itself", TaskPending, TaskBlocked), time.Time{}
	case f.Action == schemas.RecoverySkip:
		t.State, t.Ended = TaskSkipped, now
	default:
		t.State, t.Ended = TaskFailed, now
	}
}

// TurnedAway reports whether an answer was not taken to be delivered because there
// was no room for it: that uses up no attempt, so that no answer is lost. It does
// after MaxTurnedAway times, so that there is an end.
func (t *Task) TurnedAway(failed *schemas.TaskFailed) bool {
	return t.NotifiesPeople() && failed.Category == schemas.CategoryResource && int(t.Rejections) < MaxTurnedAway
}

// MaxTurnedAway is a day of the longest waits.
const MaxTurnedAway = int(24 * time.Hour / time.Duration(schemas.MaxRetryWait))
