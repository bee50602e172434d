package session

import (
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// ProgressOf tells whoever asked for a run how far it is at a moment (M-14): the
// tasks of its plan, and that nobody serves the agent of one, else the newest line
// of the first that an agent works on. Without a profile there are no words.
func ProgressOf(run *workflow.Run, profile *plan.Profile, now time.Time) schemas.ProgressPayload {
	var eta schemas.ETA
	if profile != nil {
		eta = profile.Execution.Estimate
	}
	told := plan.Progress(run, eta, now)
	told.PlanID = run.Message.Upstream.PlanID
	for i := range run.Tasks {
		if task := run.Tasks[i]; task.State == workflow.TaskRunning && task.Message != "" {
			told.Message = task.Message
			break
		}
	}
	for task := range run.All {
		if task.Unserved != nil && profile != nil {
			told.Message = unserved(profile.TextsIn(run.Message.Language), task, now)
			break
		}
	}
	return told
}

// unserved says that a task waits for an agent that nobody serves.
func unserved(texts *schemas.Texts, task *workflow.Task, now time.Time) string {
	sentence := texts.Unserved
	since := task.Unserved.Moment(now)
	if since != "" {
		sentence = texts.UnservedSince
	}
	return strings.NewReplacer("{agent}", task.Agent, "{since}", since).Replace(sentence)
}

// ProgressEvent returns the message of a progress update to the request that was
// asked, and began a run. Its id derives from the request and the moment.
func ProgressEvent(asked *schemas.Incoming, payload schemas.ProgressPayload, now time.Time) (schemas.Event, error) {
	upstream := asked.Upstream
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.EffectID(upstream.Request, "progress "+now.UTC().Format(time.RFC3339Nano)),
			From:      upstream.To, To: upstream.From,
			Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: now, InReplyTo: upstream.Request,
		},
		Payload: payload,
	}
	body, err := schemas.Marshal(update)
	return replyEvent(asked, &update.Envelope, body), err
}
