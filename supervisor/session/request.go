package session

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// task writes down what an agent is asked: its task, the words of the person, the
// results that it builds on, what the session is about, and no more (P-11).
func (env *Env) task(state *State, f *schemas.TaskDispatched) (schemas.Task, error) {
	run := state.Active
	constraints, err := constraintsOf(run)
	if err != nil {
		return schemas.Task{}, err
	}
	task := schemas.Task{
		TaskID: f.Task, AssignedTo: f.Agent, Priority: schemas.PriorityMedium,
		Context: schemas.TaskContext{Constraints: constraints},
	}
	asked := run.Task(f.Task)
	if asked.NotifiesPeople() {
		task.Description, task.Context.Arguments, err = env.delivery(state.Session, run, asked, f)
		return task, err
	}
	env.fillContext(&task.Context, state, asked, f)
	task.Context.Request = plan.RequestText(&run.Message, env.Read)
	task.Context.Entities = run.Entities
	task.Context.Conversation = env.conversationOf(state, asked)
	if asked.Failure().Action == schemas.RecoveryRetryClarified {
		failed := asked.Failure()
		task.Context.Feedback = say.Failure(say.English(), &failed)
	}
	if f.Kind != schemas.TaskKindWork {
		task.Context.Kind = f.Kind.RequestKind()
		err = env.fillQuestion(&task, run, asked)
		env.grantResults(&task, run, f)
	} else {
		env.fillWork(&task, run, asked)
		task.Context.Stream = env.Pinned.Streams(run, asked)
		task.Context.Answers = append(env.requestInputs.Answers(run, asked, env.Read), env.answersTo(state, asked)...)
		task.Context.Approved = approvedOperation(run.Inquiry(f.Approval))
		env.grantInputs(&task, run, asked, f)
	}
	task.Context.Arguments = env.grantReading(task.Context.Arguments, run.ArgumentArtifacts(), f)
	task.Context.Constraints = env.grantReading(task.Context.Constraints, run.ArgumentArtifacts(), f)
	task.Context.Tainted = taintedIn(&task.Context, run, asked)
	return task, err
}

// delivery is what the agent that tells a person something is asked.
func (env *Env) delivery(session string, run *workflow.Run, asked *workflow.Task, f *schemas.TaskDispatched) (description string, arguments jsontext.Value, err error) {
	var told schemas.DeliveryArguments
	if run.Message.Reply != nil {
		told.Reply = *run.Message.Reply
	}
	asks := "asks_delivery"
	if told.Inquiry = asked.HumanTask(); told.Inquiry > 0 {
		asks, told.Text = "asks_question", env.Pinned.Notice(run, asked)
		if inquiry := run.Inquiry(told.Inquiry); len(inquiry.People) > 0 {
			if !inquiry.InThread {
				told.Reply = schemas.Reply{Agent: schemas.MailDelivery, Account: inquiry.Account, To: inquiry.To, Subject: cmp.Or(run.Message.Subject, cut(firstLine(inquiry.Question), maxSubject))}
				told.Requester, told.Subject = run.Message.RequesterKey(), schemas.RemoveControls(told.Subject)
			}
			if inquiry.Kind.IsWork() {
				work := env.handedWork(run, run.Task(inquiry.Task))
				work = schemas.RemoveControls(work)
				told.Text = strings.TrimSpace(told.Text + "\n\n" + work)
			}
			if inquiry.Task == schemas.DeliveryTask {
				told.Attachments, told.Data = env.wholeAnswer(run, f)
			}
		}
		if told.Agent == schemas.MailDelivery && run.Inquiry(told.Inquiry).Kind.IsRestricted() {
			code := schemas.InquiryCode(schemas.RunID(session, run.Number), told.Inquiry)
			told.Text = strings.TrimSpace(told.Text + "\n\n" + env.Pinned.QuestionCode(run.Message.Language, code))
		}
	} else if told.Text = env.answerText(run); run.Message.Channel == schemas.ChannelEmail {
		told.Attachments, told.Data = env.attachments(run, f), env.answerFiles(run)
	}
	arguments, err = schemas.Marshal(told)
	return say.Sentence(say.English(), asks), arguments, err
}

// approvedOperation is what somebody has agreed to of what an agent has proposed; nil when that is nothing.
func approvedOperation(agreed *workflow.Inquiry) *schemas.ApprovedOperation {
	if agreed == nil || agreed.Operation == nil {
		return nil
	}
	proposed := plan.AgreedOperation(agreed)
	return &schemas.ApprovedOperation{
		Name: proposed.Name, Arguments: proposed.Arguments, Summary: proposed.Summary, Recipients: proposed.Recipients, Hash: agreed.AgreedCall(),
	}
}

// maxSubject bounds the subject of a letter about words that have none, in bytes.
const maxSubject = 60

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// handedWork is what a person who does a task is told of it: its words, and the results that it builds on.
func (env *Env) handedWork(run *workflow.Run, asked *workflow.Task) string {
	told := []string{env.text(asked.Plan.Description)}
	inputs := env.inputs(run, asked)
	for _, name := range sortedNames(inputs) {
		if text := strings.TrimSpace(inputs[name].Text); text != "" {
			told = append(told, text)
		}
	}
	return cut(strings.Join(told, "\n\n"), maxQuoted)
}

func constraintsOf(run *workflow.Run) (jsontext.Value, error) {
	constraints, err := schemas.Marshal(struct {
		Language string `json:"language"`
	}{run.Message.Language})
	return constraints, err
}

// fillWork fills in what the plan says of a task.
func (env *Env) fillWork(task *schemas.Task, run *workflow.Run, asked *workflow.Task) {
	planned := asked.Plan
	task.Description = env.describe(run, planned.Description)
	task.Dependencies = planned.Dependencies
	task.Priority = cmp.Or(planned.Priority, schemas.PriorityMedium)
	task.EstimatedTimeSeconds, task.EstimatedTokens = planned.Seconds, planned.Tokens
	more := planned.Options()
	task.Deliverables, task.ValidationCriteria = more.Deliverables, more.ValidationCriteria
	task.Resources = more.Resources
	task.Context.FilesToModify, task.Context.References = more.FilesToModify, more.References
	task.Context.Arguments = env.Pinned.Arguments(asked, run.Inquiry(int(asked.Approval)))
	if len(more.Constraints) > 0 {
		task.Context.Constraints = more.Constraints
	}
	task.Context.Inputs = env.inputs(run, asked)
	if found := toMend(run, asked); len(found) > 0 {
		task.Context.Feedback = strings.TrimSpace(task.Context.Feedback + "\n\n" + review.Lines(say.English(), found))
	}
	if failed := failureOf(run, asked); failed != nil {
		task.Context.Feedback = strings.TrimSpace(task.Context.Feedback + "\n\n" + findingsOf(failed))
	}
	task.Context.Plan = env.planOf(run, asked)
	task.Context.Run = env.runContext(run, asked)
}

// inputs are the results that a task builds on, in all at most as large as the
// profile allows (P-11): those of other tasks, then what came with the request.
// What is beyond is cut, and the last ones come empty.
func (env *Env) inputs(run *workflow.Run, asked *workflow.Task) map[string]schemas.TaskInput {
	scope := contextBudget{room: cmp.Or(env.Pinned.Execution.ContextLimit, schemas.DefaultContextLimit)}
	if found := toMend(run, asked); len(found) > 0 {
		scope.add(schemas.ReviewInput(run.Review.Round), func() schemas.TaskInput {
			body, _ := schemas.Marshal(struct { //nolint:errchkjson // texts and numbers can be written
				Issues []schemas.ReviewIssue `json:"issues"`
			}{found})
			return schemas.TaskInput{Result: schemas.Result{Text: review.Lines(say.English(), found), Data: body}, Status: schemas.StatusFailed}
		})
	}
	if failed := failureOf(run, asked); failed != nil {
		scope.add(failed.ID, func() schemas.TaskInput {
			input := schemas.TaskInput{Result: env.content(failed.Result), Status: schemas.StatusFailed}
			input.Text = cmp.Or(input.Text, findingsOf(failed))
			return input
		})
	}
	for _, id := range asked.Plan.Dependencies {
		dependency := run.Standing(id)
		if dependency == nil || dependency.State != workflow.TaskCompleted {
			continue // the task works with what is there (P-16)
		}
		scope.add(id, func() schemas.TaskInput {
			input := schemas.TaskInput{Result: env.content(dependency.Result)}
			if dependency.Partial {
				input.Status = schemas.StatusPartial
			}
			return input
		})
	}
	brought := env.requestInputs.For(run, asked, env.Read)
	for _, name := range slices.Sorted(maps.Keys(brought)) {
		if !slices.Contains(asked.Plan.Dependencies, name) {
			scope.add(name, func() schemas.TaskInput { return brought[name] })
		}
	}
	return scope.inputs
}

// grantInputs grants what each input names: of another task's result what that task
// may pass on, of what came with the request what came with a grant.
func (env *Env) grantInputs(task *schemas.Task, run *workflow.Run, asked *workflow.Task, f *schemas.TaskDispatched) {
	for _, name := range sortedNames(task.Context.Inputs) {
		proven := run.Message.Proven
		if slices.Contains(asked.Plan.Dependencies, name) {
			proven = nil
			if dependency := run.Standing(name); dependency != nil {
				proven = dependency.Proven
			}
		} else if failed := run.Task(name); failed != nil && name == asked.Recovers() {
			proven = failed.Proven
		}
		input := task.Context.Inputs[name]
		input.Data = env.grantReading(input.Data, proven, f)
		task.Context.Inputs[name] = input
	}
}

// grantResults grants a judge what the results of the run name, each what its task may pass on.
func (env *Env) grantResults(task *schemas.Task, run *workflow.Run, f *schemas.TaskDispatched) {
	for _, name := range sortedNames(task.Context.Inputs) {
		if done := run.Task(name); done != nil {
			input := task.Context.Inputs[name]
			input.Data = env.grantReading(input.Data, done.Proven, f)
			task.Context.Inputs[name] = input
		}
	}
}

func sortedNames(inputs map[string]schemas.TaskInput) []string {
	return slices.Sorted(maps.Keys(inputs))
}

// A contextBudget is what fits into one request.
type contextBudget struct {
	room   int // in bytes
	inputs map[string]schemas.TaskInput
}

// add cuts a result to the room that is left; without any it need not be read.
func (cb *contextBudget) add(name string, read func() schemas.TaskInput) {
	if cb.inputs == nil {
		cb.inputs = make(map[string]schemas.TaskInput)
	}
	if cb.room == 0 {
		cb.inputs[name] = schemas.TaskInput{}
		return
	}
	result := read()
	if len(result.Data) > cb.room {
		result.Data = nil
	}
	cb.room -= len(result.Data)
	if len(result.Text) > cb.room {
		result.Text = cutInside(result.Text, cb.room)
	}
	cb.room = max(cb.room-len(result.Text), 0)
	cb.inputs[name] = result
}

func (env *Env) conversationOf(state *State, asked *workflow.Task) *schemas.ConversationContext {
	told := &schemas.ConversationContext{State: schemas.ConversationNew, Recent: state.Recent}
	if state.Active.Message.Withheld != "" {
		told.Recent = nil // what was said before is not for whom nobody vouches for
	} else if env.tellsConversation(asked) {
		told.Messages = env.messagesBefore(state)
	}
	if state.goesOn() || len(told.Recent) > 0 || len(told.Messages) > 0 {
		told.State = schemas.ConversationOngoing
	}
	return told
}

// goesOn reports whether the run under way is not the first of its conversation: of that with its correspondent.
func (s *State) goesOn() bool {
	if s.Active.Message.Withheld == "" {
		return s.Active.Number > s.First
	}
	return s.Active.Number > s.Closed+1
}

// A choice is an agent that a planner or a router may name.
type choice struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Unavailable string         `json:"unavailable,omitzero"`  // why it is not asked now
	InputSchema jsontext.Value `json:"input_schema,omitzero"` // for planners
}

// fillQuestion fills in what deciding asks an agent: how well it could do a task,
// who should do it, or how the work is divided.
func (env *Env) fillQuestion(task *schemas.Task, run *workflow.Run, asked *workflow.Task) error {
	arguments := struct {
		Task     string   `json:"task,omitzero"`
		Agents   []choice `json:"agents,omitzero"`
		MaxTasks int      `json:"max_tasks,omitzero"`
		// Given are the arguments that came with the request.
		Given jsontext.Value `json:"given,omitzero"`
		// Schema is that of the arguments that are looked for, and Known what is known of them.
		Schema jsontext.Value `json:"schema,omitzero"`
		Known  jsontext.Value `json:"known,omitzero"`
		*judgement
	}{}
	for i := range env.Pinned.Agents {
		known := choice{Name: env.Pinned.Agents[i].Name, Description: env.Pinned.Agents[i].Description, Unavailable: env.Pinned.Agents[i].Unavailable}
		if asked.Kind == schemas.TaskKindPlan || asked.Kind.AsksEvaluator() {
			known.InputSchema = env.Pinned.Agents[i].InputSchema
		}
		arguments.Agents = append(arguments.Agents, known)
	}
	about := run.Task(asked.Subject().Task)
	if about != nil {
		task.Description = env.text(about.Plan.Description)
		arguments.Task = about.ID
	}
	switch asked.Kind {
	case schemas.TaskKindAssess:
		arguments.Agents = nil
	case schemas.TaskKindRoute:
		arguments.Agents = append(arguments.Agents,
			choice{Name: schemas.RouteRespond, Description: say.Sentence(say.English(), "route_respond")},
			choice{Name: schemas.RouteFinish, Description: say.Sentence(say.English(), "route_finish")})
	case schemas.TaskKindPlan:
		task.Description = say.Sentence(say.English(), "asks_plan")
		arguments.MaxTasks = env.Pinned.MaxTasks()
		if upstream := run.Message.Upstream; upstream != nil && upstream.HasArguments {
			if asked := plan.RequestedTask(env.Read(schemas.Content{Sequence: run.Message.Sequence})); asked != nil {
				arguments.Given = asked.Context.Arguments
			}
		}
	case schemas.TaskKindExtract:
		arguments.Agents = nil
		if about != nil {
			arguments.Schema, arguments.Known = env.Pinned.ArgumentsSchema(about.Agent), env.Pinned.Arguments(about, nil)
		}
	case schemas.TaskKindEvaluate, schemas.TaskKindCheck, schemas.TaskKindMerge, schemas.TaskKindSummarize:
		task.Description = judges(asked.Occasion())
		arguments.MaxTasks = env.Pinned.MaxTasks()
		arguments.judgement = env.judgement(run, asked)
		task.Context.Inputs = env.everyResult(run)
	case schemas.TaskKindWork, schemas.TaskKindNotify, schemas.TaskKindDeliver:
	}
	body, err := schemas.Marshal(arguments)
	task.Context.Arguments = body
	return err
}

// describe returns a description. Where it is the beginning of the request, as it stands on record of a long one, it is all of the request.
func (env *Env) describe(run *workflow.Run, description schemas.Content) string {
	text := env.text(description)
	beginning, cut := strings.CutSuffix(text, "…")
	if !cut || len(beginning) <= schemas.RecordInlineLimit-utf8.UTFMax {
		return text
	}
	if request := plan.RequestText(&run.Message, env.Read); strings.HasPrefix(request, beginning) {
		return request
	}
	return text
}
