package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Response is what an agent said to the current attempt of a task.
type Response struct {
	Status        schemas.ResponseStatus
	Result        schemas.Body            // as the session keeps it
	WholeResult   schemas.Result          // as the agent said it
	Delivered     string                  // mail's Message-ID or chat's reply id, from a delivery
	Detail        string                  // what went wrong, as the agent says
	Permanent     bool                    // the agent says that no attempt can help
	EffectUnknown bool                    // the agent says that its effect may have happened all the same
	Category      schemas.FailureCategory // of what went wrong, as the agent says
	Deliverables  []schemas.Deliverable   // of work
	PutArtifacts  []string                // artifacts that it names and that the agent has put
	Tokens        int
}

// HandleResponse takes an agent's answer to the current attempt of a task.
func (d *Decision) HandleResponse(task *workflow.Task, answer Response) {
	switch answer.Status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		d.accept(task, &answer)
	case schemas.StatusBlocked:
		d.fail(task, schemas.FailureBlocked, answer.Detail)
	case schemas.StatusFailed:
		d.agentFailed(task, &answer)
	}
}

// Malformed ends the attempt of a task by an answer that cannot be read.
func (d *Decision) Malformed(task *workflow.Task, answer *schemas.Malformed) {
	d.failWith(task, schemas.TaskFailed{
		Cause: schemas.FailureMalformed, Detail: answer.Detail, Quarantine: answer.Quarantine,
	})
}

// agentFailed takes a failure that the agent tells. Whether there is another attempt
// when its effect was permitted and may have happened, is for the profile to say.
func (d *Decision) agentFailed(task *workflow.Task, answer *Response) {
	failed := schemas.TaskFailed{Cause: schemas.FailureAgent, Detail: answer.Detail}
	failed.EffectUnknown = answer.EffectUnknown && task.Permit != ""
	switch {
	case failed.EffectUnknown && d.asksOnUnknown(task.Agent):
		failed.Cause = schemas.FailureUnknownEffect
	case answer.Permanent:
		failed.Cause = schemas.FailurePermanent
	case answer.Category == schemas.CategoryResource && !failed.EffectUnknown:
		failed.Category = schemas.CategoryResource
	}
	d.failWith(task, failed)
}

func (d *Decision) accept(task *workflow.Task, answer *Response) {
	switch {
	case task.Kind == schemas.KindPlan:
		d.planAnswered(task, answer)
		return
	case task.Kind != "":
		about := QuestionedTask(task)
		d.completed(task, answer)
		d.questionEnded(about)
		return
	case task.ID == schemas.DeliveryTask:
		d.completed(task, answer)
		d.end(d.Run.Reason, answer.Delivered)
		return
	}
	if check := d.Profile.outputs[task.Agent]; check != nil {
		if err := checkSchema(answer.WholeResult.Data, check); err != nil {
			d.fail(task, schemas.FailureInvalidResult, "The result is not what was asked for: "+truncate(err.Error(), maxFeedback))
			return
		}
	}
	d.flagMismatches(task, answer.WholeResult)
	d.completed(task, answer)
	d.advance()
}

func (d *Decision) completed(task *workflow.Task, answer *Response) {
	completed := schemas.TaskCompleted{
		Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Result: answer.Result, Tokens: answer.Tokens,
	}
	provenance := provenance{decision: d, task: task, put: answer.PutArtifacts}
	switch {
	case task.ID == schemas.DeliveryTask:
	case task.Kind == "":
		completed.Recovered = task.Failure().Action
		provenance.answer(answer, &completed)
	case task.Kind == schemas.KindPlan: // its tasks may be given what it was given
		provenance.result(answer.WholeResult, &completed)
		completed.Unproven = nil
	}
	d.Emit(&completed)
}

// flagMismatches flags an answer about another entity than the session's (G-30).
func (d *Decision) flagMismatches(task *workflow.Task, result schemas.Result) {
	if len(d.Run.Entities) == 0 || len(result.Data) == 0 {
		return
	}
	var said map[string]jsontext.Value
	if schemas.Unmarshal(result.Data, &said) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Run.Entities)) {
		if found, ok := scalar(said[name]); ok && found != d.Run.Entities[name] {
			d.Emit(&schemas.EntityMismatched{
				Run: d.Run.Number, Task: task.ID, Entity: name, Found: found,
			})
		}
	}
}

// scalar returns the characters of a JSON string, or a number as it is written,
// as an entity is kept.
func scalar(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		return entity(string(text)), err == nil
	case '0':
		return entity(string(value)), true
	}
	return "", false
}

// missedHeartbeats is how many promised signs of life may be missing (M-47).
const missedHeartbeats = 3

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

// Expire takes a deadline that has passed. It reports false, and does nothing,
// when the run does not wait for exactly this any more.
func (d *Decision) Expire(deadline schemas.Deadline) bool {
	pending := slices.ContainsFunc(d.Run.Deadlines(), func(other schemas.Deadline) bool {
		return other.Run == deadline.Run && other.Task == deadline.Task && other.Attempt == deadline.Attempt &&
			other.Kind == deadline.Kind && !other.At.After(d.Now)
	})
	if !pending {
		return false
	}
	if deadline.Kind == schemas.DeadlineRun {
		d.expire()
		return true
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
		d.start(task)
	case schemas.DeadlineRun:
	}
	return true
}
