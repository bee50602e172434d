package plan

import (
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Sign is an agent's sign of life.
type Sign struct {
	Percentage int
	Message    string
	// WaitingUntil, unless zero, is until when it gives no other one, as it says.
	WaitingUntil time.Time
}

// Progress takes a sign of life. The first one says that work began.
func (d *Decision) Progress(task *workflow.Task, sign Sign) {
	heartbeat, percentage, message := d.heartbeat(task), sign.Percentage, sign.Message
	crashed := d.Now.Add(missedHeartbeats * heartbeat)
	waits := heartbeat > 0 && !sign.WaitingUntil.IsZero() && d.Profile.Async(task.Agent)
	if waits {
		crashed = d.waiting(task, sign.WaitingUntil).Add(missedHeartbeats * heartbeat)
	}
	if d.Profile.Async(task.Agent) && task.State == workflow.TaskRunning && task.Silence.After(crashed) {
		crashed = task.Silence // another process is handed what goes on elsewhere
	}
	if task.State == workflow.TaskDispatched {
		started := schemas.TaskStarted{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Deadline: d.Now.Add(d.Profile.workDeadline(task, task.Agent, task.Attempt)),
		}
		if task.Kind != "" || task.ID == schemas.DeliveryTask {
			started.Deadline = task.Expires // the agent knows it, and waits for its turn by it
		}
		started.Deadline = d.bounded(started.Deadline)
		if estimate := task.Estimate(); estimate > 0 {
			started.Slow = d.Now.Add(2 * estimate)
		}
		if heartbeat > 0 {
			started.Silence = crashed
		}
		d.Emit(&started)
	} else if regular := d.Now.Sub(task.Heartbeat) >= heartbeat/2; heartbeat > 0 && (regular || waits && !crashed.Equal(task.Silence)) { // a regular sign may come a little early
		d.Emit(&schemas.TaskHeartbeat{Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Silence: crashed})
	}
	if percentage > task.Percentage || message != "" && message != task.Message {
		d.Emit(&schemas.TaskProgressed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		})
	}
}

// waiting is until when an agent may be silent that says so: not in the past, and not for longer than its request
// is good for, which the work deadline ends before that.
func (d *Decision) waiting(task *workflow.Task, until time.Time) time.Time {
	switch {
	case until.Before(d.Now):
		return d.Now
	case until.After(task.Expires):
		return task.Expires
	}
	return until.UTC()
}

func (d *Decision) heartbeat(task *workflow.Task) time.Duration {
	if use := d.Profile.agentUse(task.Agent); use != nil {
		return time.Duration(use.Heartbeat)
	}
	return 0
}

// missedHeartbeats is how many promised signs of life may be missing (M-47).
const missedHeartbeats = 3
