package session

import (
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
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
	for i := range run.TaskCount() {
		task := run.TaskAt(i)
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

// handleProgress decides what an agent's sign of life changes.
func handleProgress(d *decision, progress *schemas.ProgressUpdate) {
	request := progressOf(d, progress)
	task, attempt := asked(d, request)
	switch {
	case task == nil:
		if _, task, _, past := askedByEndedRun(d, request); past {
			hintCancel(d, request)
			d.doubtful = task == schemas.DeliveryTask // it may have been reopened since
		} else {
			d.doubtful = !fault.Is("a sign of life is passed by as it is remembered")
		}
	case attempt != task.Attempt || !task.State.UnderWay():
		hintCancel(d, request)
		d.doubtful = progress.InReplyTo == "" && d.input.Event.CausationID == "" // it may mean a newer attempt
	case task.Agent != d.input.Agent:
		wrongAgent(d, task.Agent)
	default:
		d.planDecision(d.env.Pinned).Progress(task, plan.Sign{
			Percentage: progress.Payload.ProgressPercentage, Message: cut(progress.Payload.Message, maxNote), WaitingUntil: progress.Payload.WaitingUntil,
		})
	}
}

// progressOf returns the request that a progress update is about: what it says
// it replies to, else the attempt of the task under way that it lists.
func progressOf(d *decision, progress *schemas.ProgressUpdate) string {
	if progress.InReplyTo != "" || d.state.Active == nil {
		return progress.InReplyTo
	}
	if d.input.Event.CausationID != "" {
		return d.input.Event.CausationID
	}
	if !aboutActive(d, progress) {
		return ""
	}
	for i := range progress.Payload.TasksInProgress {
		if task := d.state.Active.Task(progress.Payload.TasksInProgress[i].TaskID); task != nil {
			return task.Request
		}
	}
	return ""
}

// aboutActive reports whether a progress update that names no request is about the run
// under way: another one may have tasks of the same names.
func aboutActive(d *decision, progress *schemas.ProgressUpdate) bool {
	run := schemas.RunID(d.state.Session, d.state.Active.Number)
	named, _ := schemas.ParseTaskSubject(d.input.Event.Subject)
	return named == run || progress.Payload.PlanID == schemas.PlanID(run)
}

// hintCancel tells an agent once more that nobody waits for what it works on.
func hintCancel(d *decision, request string) {
	d.output(Output{Kind: OutputCancelHint, Agent: d.input.Agent, Request: request})
}
