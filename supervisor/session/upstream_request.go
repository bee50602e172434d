package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// readRequest takes an execution_request to a supervisor apart: a plan when it
// has several tasks or assigns one to somebody else, else one piece of work in
// the words of its task. Handed on says that a supervisor has sent it, and nobody outside:
// what it says of the conversation is believed then.
func readRequest(event *schemas.Event, request *schemas.ExecutionRequest, handedOn bool) *Message {
	tasks := request.Payload.Tasks
	planned := len(tasks) != 1 || tasks[0].AssignedTo != request.To
	message := &Message{Channel: schemas.ChannelAgent, Language: languageOf(tasks)}
	upstream := schemas.Upstream{
		Request: request.MessageID, From: request.From, To: request.To, ReplyTo: event.ReplyTo,
		PlanID: request.Payload.PlanID, Planned: planned,
		Subject: event.Subject, Correlation: event.CorrelationID, Partition: event.PartitionKey, Effect: event.EffectID,
		Attempt: event.Attempt, Expires: event.Expires,
		HasInputs: plan.HasInputs(tasks, planned), HasAnswers: plan.HasAnswers(tasks),
	}
	message.Entities = entitiesOf(tasks)
	message.Context = contextOf(tasks, handedOn)
	upstream.HasContext = message.Context.told()
	if planned {
		message.Text = personsRequest(tasks)
		message.Tasks = tasks
	} else {
		upstream.Task = tasks[0].TaskID
		message.Text = taskText(&tasks[0])
		upstream.HasArguments = plan.OptionsOf(&tasks[0]) != nil
		if upstream.HasArguments || upstream.HasInputs || upstream.HasAnswers {
			message.Tasks = tasks
		}
	}
	message.Upstream = &upstream
	return message
}

// A RequestContext is what a request brings along about the conversation that it is for.
type RequestContext struct {
	Message     *schemas.MessageContext
	Messages    []schemas.ConversationMessage // that were said before
	Attachments []taskFiles                   // as the request lists them; only what it proves may be read
	Tainted     bool                          // something in it comes from outside
}

// taskFiles are the files that a request lists for one of its tasks.
type taskFiles struct {
	task  string
	files []schemas.TaskAttachment
}

func (c *RequestContext) told() bool {
	return c.Message != nil || len(c.Messages) > 0 || len(c.Attachments) > 0
}

// attachmentsFor are the files for a task: of a plan that came with the request its own, else those of the
// whole request, since each task does a part of that.
func (c *RequestContext) attachmentsFor(run *workflow.Run, asked *workflow.Task) []schemas.TaskAttachment {
	planned := run.Message.Upstream.Planned && run.Source == schemas.PlannerExternal
	var found []schemas.TaskAttachment
	for i := range c.Attachments {
		if !planned || c.Attachments[i].task == run.OriginOf(asked) {
			found = append(found, c.Attachments[i].files...)
		}
	}
	return found
}

// contextOf gathers what the tasks of a request say of the conversation. Of what
// nobody but a supervisor may say, two tasks say the same, so that the first counts.
func contextOf(tasks []schemas.Task, handedOn bool) *RequestContext {
	brought := &RequestContext{}
	for i := range tasks {
		context := &tasks[i].Context
		brought.Tainted = brought.Tainted || context.Request != "" || len(context.Tainted) > 0 && !fault.Is("a stranger's request is one of ours") || len(context.Answers) > 0
		if len(context.Attachments) > 0 {
			brought.Attachments = append(brought.Attachments, taskFiles{tasks[i].TaskID, context.Attachments})
		}
		if !handedOn {
			continue
		}
		if brought.Message == nil {
			brought.Message = context.Message
		}
		if conversation := context.Conversation; conversation != nil && len(brought.Messages) == 0 {
			brought.Messages = conversation.Messages
		}
	}
	return brought
}

// toldBeside is what the agent of a task is told of the conversation that has come with the run's request; nil is nothing.
func toldBeside(d *decision, profile *plan.Profile, task *workflow.Task) jsontext.Value {
	brought := d.env.broughtContext(&d.state.Active.Message)
	if brought == nil || brought.Message == nil && len(brought.Messages) == 0 || profile.Reuses(task.Agent) {
		return nil
	}
	body, err := schemas.Marshal(struct {
		Message  *schemas.MessageContext       `json:"message,omitzero"`
		Messages []schemas.ConversationMessage `json:"messages,omitzero"`
	}{brought.Message, brought.Messages[max(len(brought.Messages)-profile.Context.Messages, 0):]})
	if err != nil {
		return nil // what was read as JSON can be written as JSON
	}
	return body
}

func languageOf(tasks []schemas.Task) string {
	for i := range tasks {
		if len(tasks[i].Context.Constraints) == 0 {
			continue
		}
		var constraints struct {
			Language string `json:"language"`
		}
		if schemas.Unmarshal(tasks[i].Context.Constraints, &constraints) == nil && constraints.Language != "" {
			return constraints.Language
		}
	}
	return ""
}

// entitiesOf is what the tasks of a request are about; of two that say different
// things of one name, the first.
func entitiesOf(tasks []schemas.Task) map[string]string {
	said := map[string]string{}
	for i := range slices.Backward(tasks) {
		maps.Copy(said, tasks[i].Context.Entities)
	}
	if len(said) == 0 {
		return nil
	}
	return said
}

// personsRequest is what a person has asked for, as far as the tasks of a plan say it.
func personsRequest(tasks []schemas.Task) string {
	for i := range tasks {
		if tasks[i].Context.Request != "" {
			return tasks[i].Context.Request
		}
	}
	return ""
}

// taskText are what a task asks for: its description, and below it the results
// that it builds on.
func taskText(task *schemas.Task) string {
	var said []string
	if words := strings.TrimSpace(task.Description); words != "" {
		said = append(said, words)
	}
	for _, name := range slices.Sorted(maps.Keys(task.Context.Inputs)) {
		if input := strings.TrimSpace(task.Context.Inputs[name].Text); input != "" {
			said = append(said, input)
		}
	}
	if len(said) == 0 {
		return strings.TrimSpace(task.Context.Request)
	}
	return strings.Join(said, "\n\n")
}

// sameEffect reports whether two requests are attempts of one piece of work.
func sameEffect(a, b *schemas.Upstream) bool {
	return a != nil && b != nil && a.Effect != "" && a.Effect == b.Effect
}

// Attempts is what a session knows of runs for somebody upstream, for their further attempts.
type Attempts struct {
	// PossibleEffects are the effects that the runs may have had.
	PossibleEffects []string `json:"possible_effects,omitzero"`
	// Left is what the runs for the newest effect have left.
	Left *workflow.Left `json:"left,omitzero"`
}

func (s *State) possibleEffects() []string {
	if s.Attempts == nil {
		return nil
	}
	return s.Attempts.PossibleEffects
}

func (s *State) left() *workflow.Left {
	if s.Attempts == nil {
		return nil
	}
	return s.Attempts.Left
}

func (s *State) keepAttempts(effects []string, left *workflow.Left) {
	s.Attempts = nil // sessions without are many
	if len(effects) > 0 || left != nil {
		s.Attempts = &Attempts{PossibleEffects: effects, Left: left}
	}
}

// leave keeps what the run under way leaves for a further attempt of whoever is upstream.
func (s *State) leave(f *schemas.RunEnded) {
	effects, left := s.possibleEffects(), s.left()
	for _, effect := range s.Active.PossibleEffects() {
		if !fault.Is("a permit that an earlier run had is forgotten") && !slices.Contains(effects, effect) {
			effects = append(slices.Clip(effects), effect)
		}
	}
	switch {
	case !s.Active.LeavesAll():
	case f.Final && !fault.Is("a further attempt goes on after a person's cancel"):
		left = nil
	default:
		left = s.Active.Leave(left, s.now)
	}
	s.keepAttempts(effects, left)
}

// takeOver notes what a further attempt has taken over, and what becomes of the letters of the attempts before.
func (s *State) takeOver(f schemas.Fact) {
	effects, left := s.possibleEffects(), s.left()
	switch f := f.(type) {
	case *schemas.InquiryOpened:
		if s.leftFor(s.Active) != nil {
			left = left.Without(f.Task)
		}
	case *schemas.TaskCompleted:
		if f.Told == "" || s.Active == nil {
			return
		}
		if f.Brought > 0 && f.Permit != "" { // what that permit was for is known; of others it says nothing
			known := schemas.EffectID(s.Active.Message.Upstream.Effect, f.Task)
			effects = slices.DeleteFunc(slices.Clone(effects), func(effect string) bool { return effect == known })
		}
		left = s.Active.Completed(left, f)
	case *schemas.DeliveryBounced:
		left = left.Bounced(f)
	case *schemas.ResponseLate:
		left = left.Late(f)
	case *schemas.PermitRefused:
		left = left.Doubted(f)
	default:
		return
	}
	s.keepAttempts(effects, left)
}

// leftFor returns what runs before have left for a run; nil is nothing.
func (s *State) leftFor(run *workflow.Run) *workflow.Left {
	left := s.left()
	if left == nil || run == nil || !run.LeavesAll() || run.Message.Upstream.Effect != left.Effect {
		return nil
	}
	return left
}
