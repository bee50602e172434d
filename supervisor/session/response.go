package session

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
	"podium/supervisor/findings"
	"podium/supervisor/plan"
)

// handleResponse decides what an agent's answer changes.
func handleResponse(d *decision, response *schemas.ExecutionResponse) {
	task, attempt := asked(d, response.InReplyTo)
	if task == nil && !fault.Is("an answer to an earlier run is late") {
		task, attempt = askedBefore(d, response)
	}
	switch {
	case d.input.Usable() != nil:
		refuseInput(d, schemas.QuarantineMalformed, errTooDeep.Error())
	case task == nil:
		orphan(d, response)
	case task.AgentOf(attempt) != d.input.Agent && !fault.Is("anybody's answer counts"):
		wrongAgent(d, task.AgentOf(attempt))
	case d.env.Pinned.Async(d.input.Agent) && !fault.Is("a second answer counts") && d.state.HasTaken(settledKey(response.InReplyTo)): // it comes again
	case !task.State.UnderWay() || attempt != task.Attempt && !fault.Is("the answer to an old attempt counts") && !countsForPending(d, task, response):
		if !isRepeat(d, task, attempt, response) {
			noteLate(d, d.state.Active.Number, task.ID, attempt, response)
		}
		d.doubtful = d.env.Pinned.Async(d.input.Agent) // another attempt may be under way by now
	default:
		if d.env.Pinned.Async(d.input.Agent) && !unknowing(response) {
			d.settles = response.InReplyTo
			d.state.settle(d.settles)
		}
		lesson, wanted := reusable(d, task, response)
		before := len(d.facts)
		d.planDecision(d.env.Pinned).HandleResponse(task, answerOf(d, response))
		if wanted && slices.ContainsFunc(d.facts[before:], completes(task.ID)) {
			d.output(Output{Kind: OutputReusable, Reuse: lesson})
		}
	}
}

// countsForPending reports whether an answer to an earlier attempt of a task is one to the attempt that is under
// way: its agent may answer by a callback, and knows all attempts of a task by their effect alone. What says that
// nobody knows what has become of an earlier attempt says nothing about this one, and a request that is not known
// here was made in a past that is lost.
func countsForPending(d *decision, task *workflow.Task, response *schemas.ExecutionResponse) bool {
	call, made := task.Call(response.InReplyTo)
	if made && refusedOnly(&call, response) {
		return false
	}
	made = made || response.InReplyTo == task.PreviousRequest
	return made && task.Agent == d.input.Agent && d.env.Pinned.Async(task.Agent) && !unknowing(response)
}

// refusedOnly reports whether an answer says no more than that its process was not permitted to work, as another one may have been.
func refusedOnly(call *workflow.Call, response *schemas.ExecutionResponse) bool {
	return call.Refused && !fault.Is("the failure of who was refused ends another attempt") && response.Payload.Status == schemas.StatusFailed
}

// askedBefore returns the task, and its attempt under way, that an answer to a request of an earlier run for the same effect counts for: the same
// agent is told the same, and may answer by a callback. Nil is none.
func askedBefore(d *decision, response *schemas.ExecutionResponse) (*workflow.Task, int) {
	call := d.state.leftFor(d.state.Active).Call(response.InReplyTo)
	if call == nil || unknowing(response) || refusedOnly(&call.Call, response) {
		return nil, 0
	}
	task := d.state.Active.Task(call.Task)
	if task == nil || !task.State.UnderWay() || call.Agent != d.input.Agent {
		return nil, 0
	}
	if now, calls := task.Call(task.Request); !calls || now.Agent != call.Agent || now.Told != call.Told && !fault.Is("an answer to an earlier run counts whatever was told") {
		return nil, 0
	}
	return task, task.Attempt
}

// unknowing reports whether an answer leaves open what has become of an effect: another one may still say it.
func unknowing(response *schemas.ExecutionResponse) bool {
	return slices.ContainsFunc(response.Payload.IssuesEncountered, func(issue schemas.Issue) bool { return issue.EffectUnknown })
}

// settledKey is what the session remembers of a request that was answered by an agent which may answer by a
// callback: such an answer may come again whatever has become of its attempt.
func settledKey(request string) string { return "settled\x00" + request }

// settle remembers the request.
func (s *State) settle(request string) {
	run := 0
	if s.Active != nil {
		run = s.Active.Number
	}
	s.see(settledKey(request), run)
}

// handleMalformed takes an answer that cannot be read. If it is the one that is waited
// for, by the subject that it came by, the attempt has failed; else it changes
// nothing, and nobody is credited with it.
func handleMalformed(d *decision, answer *schemas.Malformed) {
	task, attempt := named(d, answer.Request)
	if task == nil || task.AgentOf(attempt) != d.input.Agent || attempt != task.Attempt || !task.State.UnderWay() {
		d.doubtful = true
		return
	}
	d.planDecision(d.env.Pinned).Malformed(task, answer)
}

// reusable is what an answer may teach about others of the same input; only one
// that completes its task does.
func reusable(d *decision, task *workflow.Task, response *schemas.ExecutionResponse) (schemas.Reuse, bool) {
	if response.Payload.Status != schemas.StatusCompleted || response.Payload.Result == nil {
		return schemas.Reuse{}, false
	}
	if d.state.Active.InquiriesOf(task.ID) > 0 {
		return schemas.Reuse{}, false // it is made of what a person has answered
	}
	if p := &response.Payload; len(p.Deliverables) > 0 || findings.Of(p) != nil {
		return schemas.Reuse{}, false // nothing but its result would stand in
	}
	return d.planDecision(d.env.Pinned).ReusableResult(task, d.input.Sequence, len(response.Payload.Result.Text), d.input.Proven)
}

func completes(task string) func(schemas.Fact) bool {
	return func(f schemas.Fact) bool {
		completed, is := f.(*schemas.TaskCompleted)
		return is && completed.Task == task
	}
}

// named is asked for what cannot be read: it may say an attempt, and not in which epoch that
// was dispatched.
func named(d *decision, request string) (*workflow.Task, int) {
	if request == schemas.AttemptKey(request) {
		for i := range d.state.Active.TaskCount() {
			task := d.state.Active.TaskAt(i)
			if task.Request != "" && schemas.AttemptKey(task.Request) == request {
				return task, task.Attempt
			}
		}
	}
	return asked(d, request)
}

// asked returns the task of the active run, and the attempt, that a request id stands for.
// For the newest attempt there is one id. Another one was made in a past that is lost, and its
// answer may be the answer to something else. Of earlier attempts nothing counts any more, but for countsForPending.
func asked(d *decision, request string) (*workflow.Task, int) {
	active := d.state.Active
	if active == nil || request == "" {
		return nil, 0
	}
	for i := range active.TaskCount() {
		if task := active.TaskAt(i); task.Request == request {
			return task, task.Attempt
		}
	}
	return earlierAttempt(d, request)
}

// earlierAttempt returns the task of the active run, and its attempt before the newest, that a request id stands for.
func earlierAttempt(d *decision, request string) (*workflow.Task, int) {
	active := d.state.Active
	run, named := schemas.RunID(d.state.Session, active.Number), schemas.AttemptKey(request)
	for i := range active.TaskCount() {
		task := active.TaskAt(i)
		for attempt := task.Attempt - 1; attempt >= 1; attempt-- {
			if schemas.RequestID(d.env.Shard, 0, run, task.ID, attempt) == named {
				return task, attempt
			}
		}
	}
	return nil, 0
}

// isRepeat reports whether this very answer has been taken already: an agent that
// crashed between its answer and its acknowledgment gives it again. One that may answer by a callback is known by
// settledKey, and what leaves open what has become of an effect by the failure: anything else that it says about an attempt was overtaken by the
// answer to an earlier one, and is late.
func isRepeat(d *decision, task *workflow.Task, attempt int, response *schemas.ExecutionResponse) bool {
	if attempt != task.Attempt || response.MessageID != schemas.ResponseID(response.InReplyTo) {
		return false
	}
	if task.AgentOf(attempt) != task.Agent && !fault.Is("what the agent before says is taken for a repeat") {
		return false // what has become of the task since is its fallback's, which may not have been asked
	}
	failure := task.Failure()
	taken := unknowing(response) && (failure.EffectUnknown && failure.Attempt == attempt)
	if d.env.Pinned.Async(task.Agent) && !taken {
		return false
	}
	switch task.State {
	case workflow.TaskCompleted:
		return failure.Attempt != attempt || failure.Cause.Answered()
	case workflow.TaskWaiting, workflow.TaskBlocked, workflow.TaskFailed:
		return failure.Cause.Answered()
	case workflow.TaskWaitingInput, workflow.TaskWaitingApproval:
		return true
	case workflow.TaskPending, workflow.TaskReady, workflow.TaskDue, workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskSkipped, workflow.TaskCancelled:
	}
	return false
}

// orphan is an answer to nothing that the active run has asked. If its own
// attributes prove that an earlier run asked it, it is late; else nobody did.
func orphan(d *decision, response *schemas.ExecutionResponse) {
	if d.state.HasTaken(settledKey(response.InReplyTo)) {
		return // it comes again
	}
	run, task, attempt, past := askedByEndedRun(d, response.InReplyTo)
	if past {
		noteLate(d, run, task, attempt, response)
		return
	}
	refuseInput(d, schemas.QuarantineUnknownRun, "in_reply_to names no request that this session made")
}

// HasMade reports whether the request that an answer names by its headers is one that the session has made: of the active run, of an
// earlier run for the same effect, or of one that has ended.
func (s *State) HasMade(shard int, answer *schemas.Event) bool {
	if answer.CausationID == "" {
		return false
	}
	made := decision{state: *s, env: Env{Shard: shard}, input: &Input{Event: *answer}}
	if task, _ := asked(&made, answer.CausationID); task != nil || s.HasTaken(settledKey(answer.CausationID)) {
		return true
	}
	if s.leftFor(s.Active).Call(answer.CausationID) != nil {
		return true
	}
	_, _, _, past := askedByEndedRun(&made, answer.CausationID)
	return past
}

// askedByEndedRun reports whether the input's own attributes prove that a request is one of a
// run that is over.
func askedByEndedRun(d *decision, request string) (number int, task string, attempt int, past bool) {
	run, task := schemas.ParseTaskSubject(d.input.Event.Subject)
	session, number, err := schemas.ParseRunID(run)
	attempt = d.input.Event.Attempt
	past = err == nil && session == d.state.Session && endedFor(d, number, task) && plan.PossibleAttempt(task, attempt) &&
		schemas.RequestID(d.env.Shard, 0, run, task, attempt) == schemas.AttemptKey(request)
	return number, task, attempt, past
}

func noteLate(d *decision, run int, task string, attempt int, response *schemas.ExecutionResponse) {
	asked, undone := unsent(d, response)
	late := schemas.ResponseLate{
		Run: run, Task: task, Attempt: attempt,
		Sequence: d.input.Sequence, Status: string(response.Payload.Status), Undone: undone, Agent: d.input.Agent,
	}
	if active := d.state.Active; active != nil && active.Number == run && d.env.Pinned != nil {
		if about := active.Task(task); about != nil && !about.NotifiesPeople() {
			late.Usage = d.env.Pinned.Spent(active, about, response.InReplyTo, said(&response.Payload))
		}
	}
	d.emit(&late)
	if asked != nil {
		d.planDecision(d.env.Pinned).AskAnew(asked)
	}
}

// unsent reports whether an answer says that the one letter by which people may know of an inquiry has not gone out, and returns that inquiry when the
// run under way has adopted it.
func unsent(d *decision, response *schemas.ExecutionResponse) (asked *workflow.Inquiry, undone bool) {
	failed := response.Payload.Status == schemas.StatusFailed || response.Payload.Status == schemas.StatusBlocked
	if !failed || unknowing(response) || d.input.Agent != schemas.MailDelivery {
		return nil, false
	}
	if active := d.state.Active; active != nil {
		for _, inquiry := range active.Inquiries {
			if letter := active.Uncertain(inquiry); inquiry.Open() && inquiry.Adopts != nil && letter != nil && letter.Request == response.InReplyTo {
				return inquiry, true
			}
		}
	}
	return nil, d.state.left().Unsent(response.InReplyTo) != nil
}

func wrongAgent(d *decision, asked string) {
	refuseInput(d, schemas.QuarantineWrongAgent,
		"agent "+d.input.Agent+" speaks about a request that was made to agent "+asked)
}

func answerOf(d *decision, response *schemas.ExecutionResponse) plan.Response {
	answer := plan.Response{Status: response.Payload.Status, Delivered: deliveredID(response.Payload.Result), PutArtifacts: d.input.Proven}
	if response.Payload.Result != nil {
		answer.Result = inlineOrReferTo(*response.Payload.Result, d.input.Sequence)
		answer.WholeResult = *response.Payload.Result
	}
	if used := response.Payload.ResourceUsage; used != nil {
		if used.TokensUsed != nil {
			answer.Tokens = min(*used.TokensUsed, maxTokens)
		}
	}
	answer.Request, answer.Said = response.InReplyTo, said(&response.Payload)
	answer.Deliverables = findings.Deliverables(response.Payload.Deliverables)
	answer.Sequence = d.input.Sequence
	answer.Findings = findings.Of(&response.Payload)
	answer.Needs, answer.Operation = findings.Needs(response.Payload.Needs), findings.Operation(response.Payload.Operation)
	for i := range response.Payload.IssuesEncountered {
		issue := &response.Payload.IssuesEncountered[i]
		if answer.Detail == "" {
			answer.Detail = cut(issue.Description, maxDetail)
		}
		answer.Permanent = answer.Permanent || issue.Resolution == schemas.ResolutionEscalated
		answer.EffectUnknown = answer.EffectUnknown || issue.EffectUnknown
		answer.Crashed = answer.Crashed || issue.Crashed
		answer.Category = cmp.Or(answer.Category, issue.Category)
	}
	return answer
}

// said is what an agent says that a request has used.
func said(payload *schemas.ResponsePayload) budget.Said {
	used := payload.ResourceUsage
	if used == nil {
		return budget.Said{}
	}
	made := budget.Said{Milliseconds: int64(min(used.TimeElapsedSeconds, maxSeconds) * 1000), CostMicros: used.CostMicros}
	if used.TokensUsed != nil {
		tokens := int64(*used.TokensUsed)
		made.Tokens = &tokens
	}
	return made
}

// maxSeconds bounds the time that one answer may say.
const maxSeconds = float64(schemas.MaxUsage / 1000)

// maxTokens bounds what one answer may have cost, so that a sum over a run keeps to
// the schema of the answer that tells it.
const maxTokens = 1_000_000_000_000

// deliveredID returns the id that the world knows a delivered answer by.
func deliveredID(result *schemas.Result) string {
	if result == nil || len(result.Data) == 0 {
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
		return identifier(receipt.MessageID)
	}
	return identifier(receipt.ReplyID)
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

// cutInside is cut with the mark counted; a text of which not even that has room
// is empty.
func cutInside(text string, limit int) string {
	switch {
	case len(text) <= limit:
		return text
	case limit < len("…"):
		return ""
	}
	return cut(text, limit-len("…"))
}
