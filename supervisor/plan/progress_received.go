package plan

import (
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// Progress takes an agent's sign of life. The first one says that work began.
func (d *Decision) Progress(task *workflow.Task, percentage int, message string) {
	heartbeat := d.heartbeat(task)
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
			started.Silence = d.Now.Add(missedHeartbeats * heartbeat)
		}
		d.Emit(&started)
	} else if heartbeat > 0 && d.Now.Sub(task.Heartbeat) >= heartbeat/2 { // a regular sign may come a little early
		d.Emit(&schemas.TaskHeartbeat{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Silence: d.Now.Add(missedHeartbeats * heartbeat),
		})
	}
	if percentage > task.Percentage || message != "" && message != task.Message {
		d.Emit(&schemas.TaskProgressed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		})
	}
}

func (d *Decision) heartbeat(task *workflow.Task) time.Duration {
	if use := d.Profile.agentUse(task.Agent); use != nil {
		return time.Duration(use.Heartbeat)
	}
	return 0
}

// missedHeartbeats is how many promised signs of life may be missing (M-47).
const missedHeartbeats = 3
