package session

import (
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// ProgressOf tells whoever asked for a run how far it is at a moment (M-14): the
// tasks of its plan, and the newest line of the first that an agent works on.
func ProgressOf(run *plan.Run, eta schemas.ETA, now time.Time) schemas.ProgressPayload {
	told := plan.Progress(run, eta, now)
	told.PlanID = run.Message.Upstream.PlanID
	for i := range run.Tasks {
		if task := run.Tasks[i]; task.State == plan.TaskRunning && task.Note != "" {
			told.Message = task.Note
			break
		}
	}
	return told
}

// ProgressEvent returns the message of a progress update to the request that
// began a run. Its id derives from the request and the moment.
func ProgressEvent(upstream *schemas.Upstream, payload schemas.ProgressPayload, now time.Time) (schemas.Event, error) {
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.EffectID(upstream.Request, "progress "+now.UTC().Format(time.RFC3339Nano)),
			From:      upstream.To, To: upstream.From,
			Type: schemas.ProgressUpdateType, Timestamp: now, InReplyTo: upstream.Request,
		},
		Payload: payload,
	}
	body, err := schemas.Marshal(update)
	return answering(upstream, &update.Envelope, body), err
}
