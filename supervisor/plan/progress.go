package plan

import (
	"cmp"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// Progress tells how far a run is at a moment: every task of the plan is in
// exactly one list (M-14, M-15).
func Progress(run *workflow.Run, eta schemas.ETA, now time.Time) schemas.ProgressPayload {
	told := schemas.ProgressPayload{
		TasksCompleted: []string{}, TasksInProgress: []schemas.TaskInProgress{}, TasksPending: []string{}, TasksBlocked: []schemas.TaskBlocked{},
		ProgressPercentage: run.Progress(), ResourceUsage: &schemas.ResourceUsage{TimeElapsedSeconds: elapsed(run, now).Seconds()},
	}
	slowdown, tokens := slowdown(run), 0
	told.ResourceUsage.TokensUsed = &tokens
	if run.Account != nil {
		used := run.Account.Used("")
		tokens, told.ResourceUsage.CostMicros = int(used.Tokens), used.CostMicros
	}
	for i := range run.Tasks {
		task := run.Tasks[i]
		if run.Account == nil {
			tokens += task.Tokens
		}
		switch task.State {
		case workflow.TaskCompleted:
			told.TasksCompleted = append(told.TasksCompleted, task.ID)
		case workflow.TaskRunning:
			told.TasksInProgress = append(told.TasksInProgress, inProgress(task, slowdown))
		case workflow.TaskPending, workflow.TaskReady, workflow.TaskDue, workflow.TaskDispatched, workflow.TaskWaiting:
			if asked := run.AsksForBudget(); task.Held && asked != nil {
				told.TasksBlocked = append(told.TasksBlocked, schemas.TaskBlocked{TaskID: task.ID, Reason: asked.Question})
				continue
			}
			if task.HeldForDay() && task.Day.Parked {
				told.TasksBlocked = append(told.TasksBlocked, schemas.TaskBlocked{TaskID: task.ID, Reason: say.Sentence(say.English(), "day_used_up", "{day}", task.Day.Short.Day)})
				continue
			}
			told.TasksPending = append(told.TasksPending, task.ID)
		case workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked:
			asked := run.AsksAbout(task.ID)
			told.TasksBlocked = append(told.TasksBlocked, schemas.TaskBlocked{TaskID: task.ID, Reason: waitsFor(run, task.ID), RequiresReplanning: asked != nil && asked.Upstream})
		case workflow.TaskSkipped, workflow.TaskCancelled:
			told.TasksSkipped = append(told.TasksSkipped, task.ID)
		case workflow.TaskFailed:
			if task.Failure().Cause == schemas.FailureBlocked {
				told.TasksBlocked = append(told.TasksBlocked, schemas.TaskBlocked{TaskID: task.ID, Reason: failureText(task), RequiresReplanning: true})
				continue
			}
			told.TasksFailed = append(told.TasksFailed, task.ID)
		}
	}
	told.EstimatedCompletion, told.WaitingUntil = EstimateCompletion(run, eta, now), run.WaitingUntil()
	return told
}

// waitsFor is what a person is asked for a task, or why it has failed.
func waitsFor(run *workflow.Run, task string) string {
	for _, inquiry := range run.Inquiries {
		if inquiry.Task == task && inquiry.Open() && !inquiry.Upstream {
			return inquiry.Question
		}
	}
	if blocked := run.Task(task); blocked != nil && blocked.State == workflow.TaskBlocked {
		return cmp.Or(failureText(blocked), string(blocked.Failure().Cause))
	}
	return ""
}

func elapsed(run *workflow.Run, now time.Time) time.Duration {
	if run.Planned.IsZero() {
		return 0
	}
	return max(now.Sub(run.Planned), 0)
}

func inProgress(task *workflow.Task, slowdown permille) schemas.TaskInProgress {
	told := schemas.TaskInProgress{TaskID: task.ID, Agent: task.Agent, StartedAt: task.Started}
	if estimate := task.Estimate(); estimate > 0 {
		told.EstimatedCompletion = task.Started.Add(slowdown.of(estimate))
	}
	return told
}

// permille is a factor in thousandths, which is the same on every machine. It is
// at most maxSlowdown.
type permille int64

// Bounds of what is foreseen, so that no sum of times overflows.
const (
	maxSlowdown = permille(1_000_000)
	maxForeseen = 100 * 365 * 24 * time.Hour
)

func (p permille) of(d time.Duration) time.Duration {
	return time.Duration(int64(d/time.Millisecond) * int64(p) / 1000 * int64(time.Millisecond))
}

// slowdown is the mean of actual ÷ estimated time of the completed tasks that
// have an estimate; 1 while there is none (M-35).
func slowdown(run *workflow.Run) permille {
	var sum, count int64
	for i := range run.Tasks {
		task := run.Tasks[i]
		if estimate := task.Estimate(); task.State == workflow.TaskCompleted && estimate > 0 && !task.Started.IsZero() {
			sum += int64(task.Ended.Sub(task.Started)/time.Millisecond) * 1000 / int64(estimate/time.Millisecond)
			count++
		}
	}
	if count == 0 {
		return 1000
	}
	return min(permille(max(sum/count, 1)), maxSlowdown)
}

// EstimateCompletion foresees when the run's tasks will be done (M-35): now, plus the
// remaining estimates times the slowdown so far, added up or along the critical
// path. It is zero when nothing that remains has an estimate.
func EstimateCompletion(run *workflow.Run, eta schemas.ETA, now time.Time) time.Time {
	slow := slowdown(run)
	ends := make(map[string]time.Duration, len(run.Tasks))
	var longest, sum time.Duration
	byLevel := slices.Clone(run.Tasks) // so that dependencies come first
	slices.SortStableFunc(byLevel, func(a, b *workflow.Task) int { return cmp.Compare(a.Level, b.Level) })
	for _, task := range byLevel {
		remaining := remaining(task, slow, now)
		sum = min(sum+remaining, maxForeseen)
		var begins time.Duration
		for _, id := range task.Dependencies() {
			begins = max(begins, ends[id])
		}
		ends[task.ID] = min(begins+remaining, maxForeseen)
		longest = max(longest, ends[task.ID])
	}
	left := longest
	if eta == schemas.ETASum {
		left = sum
	}
	if left == 0 {
		return time.Time{}
	}
	return now.Add(left)
}

// remaining is how long a task still takes, as far as it is known.
func remaining(task *workflow.Task, slow permille, now time.Time) time.Duration {
	if task.State.Ended() {
		return 0
	}
	takes := slow.of(task.Estimate())
	if task.State == workflow.TaskRunning {
		takes = max(takes-now.Sub(task.Started), 0)
	}
	return takes
}

// A Sign is an agent's sign of life.
type Sign struct {
	Percentage int
	Message    string
	// WaitingUntil, unless zero, is until when it gives no other one, or waits for somebody else, as it says.
	WaitingUntil time.Time
}

// Progress takes a sign of life. The first one says that work began.
func (d *Decision) Progress(task *workflow.Task, sign Sign) {
	heartbeat, percentage, message := heartbeat(&d.View, task), sign.Percentage, sign.Message
	waiting := waitingUntil(&d.View, task, sign.WaitingUntil)
	silence, waits := silence(&d.View, task, sign.WaitingUntil, heartbeat)
	if !waiting.IsZero() && heartbeat > 0 && !fault.Is("who waits has crashed when it is silent") {
		silence = waiting.Add(missedHeartbeats * heartbeat)
	}
	if task.State == workflow.TaskDispatched {
		started := schemas.TaskStarted{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Deadline: d.Now.Add(d.Profile.workDeadline(task, task.Agent, task.Attempt)),
		}
		if task.Kind != schemas.TaskKindWork {
			started.Deadline = task.Expires // the agent knows it, and waits for its turn by it
		}
		started.Deadline = bounded(&d.View, started.Deadline)
		if estimate := task.Estimate(); estimate > 0 {
			started.Slow = d.Now.Add(2 * estimate)
		}
		started.Silence, started.WaitingUntil = silence, waiting
		d.emit(&started)
	} else {
		regular := heartbeat > 0 && waiting.IsZero() && d.Now.Sub(task.Heartbeat) >= heartbeat/2 // it may come a little early
		if regular || waits || changed(task.WaitingUntil(), waiting) {
			d.emit(&schemas.TaskHeartbeat{Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Silence: silence, WaitingUntil: waiting})
		}
	}
	if percentage > task.Percentage || message != "" && message != task.Message {
		d.emit(&schemas.TaskProgressed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		})
	}
}

// waitingUntil is until when an agent waits and takes no place: one that lets go of what it has taken over, as it says. No request waits longer than it is
// good for. Another sign of life that does not say so ends it.
func waitingUntil(v *View, task *workflow.Task, until time.Time) time.Time {
	if !v.Profile.Supervisor(task.Agent) && !fault.Is("whoever says so takes no place") {
		return time.Time{}
	}
	if until.After(task.Expires) {
		until = task.Expires
	}
	if !until.After(v.Now) {
		return time.Time{}
	}
	return until.UTC()
}

// changed reports whether an agent waits otherwise than it did.
func changed(before *time.Time, now time.Time) bool {
	if before == nil {
		return !now.IsZero()
	}
	return !before.Equal(now)
}

// silence is from when on an agent counts as crashed that gives no sign of life after this one; zero is never.
// Waits says that the agent has just said so: that it may wait longer than signs of life are apart, which counts for
// one that answers by a callback. It waits no longer than its request is good for, and the work deadline is before that.
// What it has said holds, also when another process is handed the request.
func silence(v *View, task *workflow.Task, until time.Time, heartbeat time.Duration) (silence time.Time, waits bool) {
	if heartbeat == 0 {
		return time.Time{}, false
	}
	silence = v.Now.Add(missedHeartbeats * heartbeat)
	if !v.Profile.Async(task.Agent) || fault.Is("who answers by callback and is silent has crashed") {
		if !fault.Is("whoever says so may be silent") {
			return silence, false
		}
	}
	if until.After(task.Expires) {
		until = task.Expires
	}
	said := task.Silence // zero before the first sign
	if until.After(v.Now) && until.UTC().Add(missedHeartbeats*heartbeat).After(said) {
		said, waits = until.UTC().Add(missedHeartbeats*heartbeat), true
	}
	if said.After(silence) {
		silence = said
	}
	return silence, waits
}

func heartbeat(v *View, task *workflow.Task) time.Duration {
	if use := v.Profile.agentUse(task.Agent); use != nil {
		return time.Duration(use.Heartbeat)
	}
	return 0
}

// missedHeartbeats is how many promised signs of life may be missing (M-47).
const missedHeartbeats = 3
