package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

// An Answer is what an agent said to the current attempt of a task.
type Answer struct {
	Status       schemas.ResponseStatus
	Result       schemas.Body            // as the session keeps it
	Whole        schemas.Result          // as the agent said it
	Delivered    string                  // mail's Message-ID or chat's reply id, from a delivery
	Detail       string                  // what went wrong, as the agent says
	Permanent    bool                    // the agent says that no attempt can help
	Unknown      bool                    // the agent says that its effect may have happened all the same
	Category     schemas.FailureCategory // of what went wrong, as the agent says
	Deliverables []schemas.Deliverable   // of work
	Put          []string                // artifacts that it names and that the agent has put
	Tokens       int
}

// Answer takes an agent's answer to the current attempt of a task.
func (t *Decision) Answer(task *workflow.Task, answer Answer) {
	switch answer.Status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		t.accept(task, &answer)
	case schemas.StatusBlocked:
		t.fail(task, schemas.FailureBlocked, answer.Detail)
	case schemas.StatusFailed:
		t.declined(task, &answer)
	}
}

// Malformed ends the attempt of a task by an answer that cannot be read.
func (t *Decision) Malformed(task *workflow.Task, answer *schemas.Malformed) {
	t.failWith(task, schemas.TaskFailed{
		Cause: schemas.FailureMalformed, Detail: answer.Detail, Quarantine: answer.Quarantine,
	})
}

// declined takes a failure that the agent tells. Whether there is another attempt
// when its effect was permitted and may have happened, is for the profile to say.
func (t *Decision) declined(task *workflow.Task, answer *Answer) {
	failed := schemas.TaskFailed{Cause: schemas.FailureAgent, Detail: answer.Detail}
	failed.EffectUnknown = answer.Unknown && task.Permit != ""
	switch {
	case failed.EffectUnknown && t.asksOnUnknown(task.Agent):
		failed.Cause = schemas.FailureUnknownEffect
	case answer.Permanent:
		failed.Cause = schemas.FailurePermanent
	case answer.Category == schemas.CategoryResource && !failed.EffectUnknown:
		failed.Category = schemas.CategoryResource
	}
	t.failWith(task, failed)
}

func (t *Decision) accept(task *workflow.Task, answer *Answer) {
	switch {
	case task.Kind == schemas.KindPlan:
		t.planAnswered(task, answer)
		return
	case task.Kind != "":
		about := About(task)
		t.completed(task, answer)
		t.heard(about)
		return
	case task.ID == schemas.DeliveryTask:
		t.completed(task, answer)
		t.end(t.Run.Reason, answer.Delivered)
		return
	}
	if check := t.Profile.outputs[task.Agent]; check != nil {
		if err := fits(answer.Whole.Data, check); err != nil {
			t.fail(task, schemas.FailureInvalidResult, "The result is not what was asked for: "+head(err.Error(), maxFeedback))
			return
		}
	}
	t.compare(task, answer.Whole)
	t.completed(task, answer)
	t.advance()
}

func (t *Decision) completed(task *workflow.Task, answer *Answer) {
	completed := schemas.TaskCompleted{
		Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt, Result: answer.Result, Tokens: answer.Tokens,
	}
	passing := passing{turn: t, task: task, put: answer.Put}
	switch {
	case task.ID == schemas.DeliveryTask:
	case task.Kind == "":
		completed.Recovered = task.Failure().Action
		passing.answer(answer, &completed)
	case task.Kind == schemas.KindPlan: // its tasks may be given what it was given
		passing.result(answer.Whole, &completed)
		completed.Unproven = nil
	}
	t.Emit(&completed)
}

// compare flags an answer about another entity than the conversation's (G-30).
func (t *Decision) compare(task *workflow.Task, result schemas.Result) {
	if len(t.Run.Entities) == 0 || len(result.Data) == 0 {
		return
	}
	var said map[string]jsontext.Value
	if schemas.Unmarshal(result.Data, &said) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Run.Entities)) {
		if found, ok := scalar(said[name]); ok && found != t.Run.Entities[name] {
			t.Emit(&schemas.EntityMismatched{
				Run: t.Run.Number, Task: task.ID, Entity: name, Found: found,
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

// silences is how many promised signs of life may be missing (M-47).
const silences = 3

// Progress takes an agent's sign of life. The first one says that work began.
func (t *Decision) Progress(task *workflow.Task, percentage int, message string) {
	heartbeat := t.heartbeat(task)
	if task.State == workflow.TaskDispatched {
		started := schemas.TaskStarted{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Deadline: t.Now.Add(t.Profile.workDeadline(task, task.Agent, task.Attempt)),
		}
		if task.Kind != "" || task.ID == schemas.DeliveryTask {
			started.Deadline = task.Expires // the agent knows it, and waits for its turn by it
		}
		started.Deadline = t.bounded(started.Deadline)
		if estimate := task.Estimate(); estimate > 0 {
			started.Slow = t.Now.Add(2 * estimate)
		}
		if heartbeat > 0 {
			started.Silence = t.Now.Add(silences * heartbeat)
		}
		t.Emit(&started)
	} else if heartbeat > 0 && t.Now.Sub(task.Heartbeat) >= heartbeat/2 { // a regular sign may come a little early
		t.Emit(&schemas.TaskHeartbeat{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt, Silence: t.Now.Add(silences * heartbeat),
		})
	}
	if percentage > task.Percentage || message != "" && message != task.Message {
		t.Emit(&schemas.TaskProgressed{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		})
	}
}

func (t *Decision) heartbeat(task *workflow.Task) time.Duration {
	if use := t.Profile.use(task.Agent); use != nil {
		return time.Duration(use.Heartbeat)
	}
	return 0
}

// Expire takes a deadline that has passed. It reports false, and does nothing,
// when the run does not wait for exactly this any more.
func (t *Decision) Expire(deadline schemas.Deadline) bool {
	pending := slices.ContainsFunc(t.Run.Deadlines(), func(d schemas.Deadline) bool {
		return d.Run == deadline.Run && d.Task == deadline.Task && d.Attempt == deadline.Attempt &&
			d.Kind == deadline.Kind && !d.At.After(t.Now)
	})
	if !pending {
		return false
	}
	if deadline.Kind == schemas.DeadlineRun {
		t.expire()
		return true
	}
	task := t.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineQueue:
		t.fail(task, schemas.FailureNotStarted, "")
	case schemas.DeadlineWork:
		t.fail(task, schemas.FailureTimeout, "")
	case schemas.DeadlineSilence:
		t.fail(task, schemas.FailureCrashed, "")
	case schemas.DeadlineSlow:
		t.Emit(&schemas.TaskDelayed{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt, Seconds: task.Plan.Seconds,
		})
	case schemas.DeadlineRetry:
		t.start(task)
	case schemas.DeadlineRun:
	}
	return true
}

// Cancel stops the run for a person. It reports false when the outcome is
// already fixed.
func (t *Decision) Cancel() bool {
	if t.Run.Settled() {
		return false
	}
	t.stop(schemas.RunCancelled, schemas.StopCancelled, t.cancelled())
	return true
}

// Supersede stops the run because a newer message takes its place; nobody is
// told, since that one will be answered. It reports false when the outcome is
// already fixed.
func (t *Decision) Supersede() bool {
	if t.Run.Settled() {
		return false
	}
	t.cancelTasks()
	t.Emit(&schemas.RunSettled{
		Run: t.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopSuperseded,
	})
	t.end(schemas.StopSuperseded, "")
	return true
}

// Refuse ends a run before any work: its sender is forged, and nobody is told.
func (t *Decision) Refuse() {
	t.Emit(&schemas.RunSettled{Run: t.Run.Number, Status: schemas.RunCancelled, Reason: schemas.StopRefuted})
	if t.Run.Message.ReplyAgent() != "" && t.Withheld != nil {
		t.Emit(t.Withheld)
	}
	t.end(schemas.StopRefuted, "")
}

// expire stops the run because its time is over; what is there is kept (M-56).
func (t *Decision) expire() {
	status := schemas.RunFailed
	if t.completedAny() {
		status = schemas.RunPartial
	}
	t.stop(status, schemas.StopExpired, t.expired(status == schemas.RunPartial))
}

// stop ends all work of the run.
func (t *Decision) stop(status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) {
	t.cancelTasks()
	t.conclude(status, reason, failure)
}

func (t *Decision) cancelTasks() {
	for task := range t.Run.All {
		if !task.State.Ended() {
			t.Emit(&schemas.TaskCancelled{
				Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			})
		}
	}
}
