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
	silence, waits := d.silence(task, sign.WaitingUntil, heartbeat)
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
		started.Silence = silence
		d.Emit(&started)
	} else if heartbeat > 0 && (d.Now.Sub(task.Heartbeat) >= heartbeat/2 || waits) { // a regular sign may come a little early
		d.Emit(&schemas.TaskHeartbeat{Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Silence: silence})
	}
	if percentage > task.Percentage || message != "" && message != task.Message {
		d.Emit(&schemas.TaskProgressed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		})
	}
}

// silence is from when on an agent counts as crashed that gives no sign of life after this one; zero is never.
// Waits says that the agent has just said so: that it may wait longer than signs of life are apart, which counts for
// one that answers by a callback. It waits no longer than its request is good for, and the work deadline is before that.
// What it has said holds, also when another process is handed the request.
func (d *Decision) silence(task *workflow.Task, until time.Time, heartbeat time.Duration) (silence time.Time, waits bool) {
	if heartbeat == 0 {
		return time.Time{}, false
	}
	silence = d.Now.Add(missedHeartbeats * heartbeat)
	if !d.Profile.Async(task.Agent) {
		return silence, false
	}
	if until.After(task.Expires) {
		until = task.Expires
	}
	said := task.Silence // zero before the first sign
	if until.After(d.Now) && until.UTC().Add(missedHeartbeats*heartbeat).After(said) {
		said, waits = until.UTC().Add(missedHeartbeats*heartbeat), true
	}
	if said.After(silence) {
		silence = said
	}
	return silence, waits
}

func (d *Decision) heartbeat(task *workflow.Task) time.Duration {
	if use := d.Profile.agentUse(task.Agent); use != nil {
		return time.Duration(use.Heartbeat)
	}
	return 0
}

// missedHeartbeats is how many promised signs of life may be missing (M-47).
const missedHeartbeats = 3
