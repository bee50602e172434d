package session

import (
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
)

// progress decides what an agent's sign of life changes.
func (d *decision) progress(progress *schemas.ProgressUpdate) {
	request := d.progressOf(progress)
	task, attempt := d.asked(request)
	switch {
	case task == nil:
		if _, task, _, past := d.askedByEndedRun(request); past {
			d.hintCancel(request)
			d.doubtful = task == schemas.DeliveryTask // it may have been reopened since
		} else {
			d.doubtful = true
		}
	case attempt != task.Attempt || !task.State.UnderWay():
		d.hintCancel(request)
		d.doubtful = progress.InReplyTo == "" && d.input.Event.CausationID == "" // it may mean a newer attempt
	case task.Agent != d.input.Agent:
		d.wrongAgent(task.Agent)
	default:
		d.planDecision(d.env.Pinned).Progress(task, plan.Sign{
			Percentage: progress.Payload.ProgressPercentage, Message: cut(progress.Payload.Message, maxNote), WaitingUntil: progress.Payload.WaitingUntil,
		})
	}
}

// progressOf returns the request that a progress update is about: what it says
// it replies to, else the attempt of the task under way that it lists.
func (d *decision) progressOf(progress *schemas.ProgressUpdate) string {
	if progress.InReplyTo != "" || d.state.Active == nil {
		return progress.InReplyTo
	}
	if d.input.Event.CausationID != "" {
		return d.input.Event.CausationID
	}
	if !d.aboutActive(progress) {
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
func (d *decision) aboutActive(progress *schemas.ProgressUpdate) bool {
	run := schemas.RunID(d.state.Session, d.state.Active.Number)
	named, _, _ := strings.Cut(d.input.Event.Subject, "/")
	return named == run || progress.Payload.PlanID == schemas.PlanID(run)
}

// hintCancel tells an agent once more that nobody waits for what it works on.
func (d *decision) hintCancel(request string) {
	d.output(Output{Kind: OutputCancelHint, Agent: d.input.Agent, Request: request})
}
