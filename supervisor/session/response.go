package session

import (
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
)

func (d *decision) response(response *schemas.ExecutionResponse) {
	task, attempt := d.asked(response.InReplyTo)
	switch {
	case response.Payload.Result != nil && deep(response.Payload.Result.Data):
		d.refuse(schemas.QuarantineMalformed, "/payload/result/data is nested too deep to be handed on")
	case task == nil:
		d.stranger(response)
	case task.Agent != d.input.Agent:
		d.wrongAgent(task)
	case attempt != task.Attempt || !underWay(task):
		if !d.repeat(task, attempt, response) {
			d.late(d.state.Active.Number, task.ID, attempt, response)
		}
	default:
		d.turn(d.env.Pinned).Answer(task, d.answer(response))
	}
}

// asked returns the task of the active run, and the attempt, that a request id stands for.
func (d *decision) asked(request string) (*plan.Task, int) {
	active := d.state.Active
	if active == nil {
		return nil, 0
	}
	run := schemas.RunID(d.state.Session, active.Number)
	for _, task := range d.tasks() {
		if task.Request == request {
			return task, task.Attempt
		}
		for attempt := task.Attempt - 1; attempt >= 1; attempt-- {
			if schemas.RequestID(d.env.Shard, run, task.ID, attempt) == request {
				return task, attempt
			}
		}
	}
	return nil, 0
}

func (d *decision) tasks() []*plan.Task {
	active := d.state.Active
	var tasks []*plan.Task
	for i := range active.Tasks {
		tasks = append(tasks, &active.Tasks[i])
	}
	if active.Delivery != nil {
		tasks = append(tasks, active.Delivery)
	}
	return tasks
}

func underWay(task *plan.Task) bool {
	return task.State == plan.TaskDispatched || task.State == plan.TaskRunning
}

// repeat reports whether this very answer has been taken already: an agent that
// crashed between its answer and its acknowledgment gives it again.
func (d *decision) repeat(task *plan.Task, attempt int, response *schemas.ExecutionResponse) bool {
	if attempt != task.Attempt || response.MessageID != schemas.ResponseID(response.InReplyTo) {
		return false
	}
	switch task.State {
	case plan.TaskCompleted:
		return true
	case plan.TaskWaiting, plan.TaskFailed:
		return task.Failure == schemas.FailureAgent || task.Failure == schemas.FailurePermanent
	case plan.TaskPending, plan.TaskDispatched, plan.TaskRunning, plan.TaskSkipped, plan.TaskCancelled:
	}
	return false
}

// stranger is an answer to nothing that the active run has asked. If its own
// attributes prove that an earlier run asked it, it is late; else nobody did.
func (d *decision) stranger(response *schemas.ExecutionResponse) {
	run, task, _ := strings.Cut(d.input.Event.Subject, "/")
	session, number, err := schemas.ParseRunID(run)
	attempt := d.input.Event.Attempt
	if err == nil && session == d.state.Session && number <= d.ended() &&
		schemas.RequestID(d.env.Shard, run, task, attempt) == response.InReplyTo {
		d.late(number, task, attempt, response)
		return
	}
	d.refuse(schemas.QuarantineUnknownRun, "in_reply_to names no request that this session made")
}

// ended counts the runs that are over; what the one under way has asked is known.
func (d *decision) ended() int {
	begun := d.state.Runs - len(d.state.Queue)
	if d.state.Active != nil {
		begun--
	}
	return begun
}

func (d *decision) late(run int, task string, attempt int, response *schemas.ExecutionResponse) {
	d.emit(schemas.Fact{ResponseLate: &schemas.ResponseLate{
		Run: run, Task: task, Attempt: attempt,
		Sequence: d.input.Sequence, Status: string(response.Payload.Status),
	}})
}

func (d *decision) wrongAgent(task *plan.Task) {
	d.refuse(schemas.QuarantineWrongAgent,
		"agent "+d.input.Agent+" speaks about a request that was made to agent "+task.Agent)
}

func (d *decision) answer(response *schemas.ExecutionResponse) plan.Answer {
	answer := plan.Answer{Status: response.Payload.Status, Delivered: delivered(response.Payload.Result)}
	if response.Payload.Result != nil {
		answer.Result = hold(*response.Payload.Result, d.input.Sequence)
	}
	for i := range response.Payload.IssuesEncountered {
		issue := &response.Payload.IssuesEncountered[i]
		if answer.Detail == "" {
			answer.Detail = cut(issue.Description, maxDetail)
		}
		answer.Permanent = answer.Permanent || issue.Resolution == schemas.ResolutionEscalated
	}
	return answer
}

// delivered returns the id that the world knows a delivered answer by.
func delivered(result *schemas.Result) string {
	if result == nil {
		return ""
	}
	var receipt struct {
		MessageID string `json:"message_id"`
		ReplyID   string `json:"reply_id"`
	}
	if err := schemas.Unmarshal(result.Data, &receipt); err != nil {
		return ""
	}
	if receipt.MessageID != "" {
		return receipt.MessageID
	}
	return receipt.ReplyID
}

func (d *decision) progress(progress *schemas.ProgressUpdate) {
	task, attempt := d.asked(d.progressOf(progress))
	switch {
	case task == nil || attempt != task.Attempt || !underWay(task):
	case task.Agent != d.input.Agent:
		d.wrongAgent(task)
	default:
		d.turn(d.env.Pinned).Progress(task, progress.Payload.ProgressPercentage, cut(progress.Payload.Message, maxNote))
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
	for i := range progress.Payload.TasksInProgress {
		if task := d.state.Active.Task(progress.Payload.TasksInProgress[i].TaskID); task != nil {
			return task.Request
		}
	}
	return ""
}

// What an agent says of itself stands in records, so it is bounded, in bytes.
const (
	maxDetail = 2 << 10
	maxNote   = 256
)

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// maxDepth bounds the nesting of an agent's data, which later messages carry
// inside their own.
const maxDepth = 256

// deep reports whether JSON is nested deeper than maxDepth.
func deep(value []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
