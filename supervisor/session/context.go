package session

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/review"
)

// fillContext fills in who has written, and the files to work with.
func (env *Env) fillContext(context *schemas.TaskContext, state *State, asked *workflow.Task, f *schemas.TaskDispatched) {
	run := state.Active
	conversation := env.tellsConversation(asked)
	if conversation {
		context.Message = env.messageContext(&run.Message)
	}
	files := attachmentList{env: env, dispatched: f}
	files.addMessages(schemas.FromMessage, &run.Message)
	for _, inquiry := range run.Inquiries {
		if answered := inquiry.Answered; answered != nil && answered.Files > 0 && inquiry.Kind.IsInput() {
			files.addFiles(schemas.FromMessage, answered.Sequence)
		}
	}
	if brought := env.broughtContext(&run.Message); brought != nil {
		for _, file := range brought.attachmentsFor(run, asked) {
			if slices.Contains(run.Message.Proven, file.SHA256) {
				files.add(schemas.FromRequest, file.Name, file.MediaType, file.Artifact())
			}
		}
	}
	if asked.Kind.AsksEvaluator() && env.Pinned.Review != nil {
		files.addReviewed(run, asked.Occasion())
	}
	if review.IsFix(asked) {
		for i := range run.Merged {
			if file, is := plan.DeliverableFile(&run.Merged[i].Deliverable); is {
				files.add(run.Merged[i].Question, file.Name, file.MediaType, file.Artifact)
			}
		}
	}
	if asked.Plan != nil {
		for _, id := range asked.Plan.Dependencies {
			files.addResult(run.Standing(id))
		}
	}
	if conversation {
		for _, sequence := range earlierMessages(state, &env.Pinned.Context) {
			files.addFiles(schemas.FromEarlier, sequence)
		}
	}
	context.Attachments = files.made
	context.AttachmentsLeftOut = len(files.leftOut)
}

// tellsConversation reports whether a task's agent is told who has written and what was said
// before. One whose answers may be used again is not: they would be answers to that.
func (env *Env) tellsConversation(asked *workflow.Task) bool {
	return !env.Pinned.Reuses(asked.Agent)
}

// messageContext is what a request tells of the message that the run is for.
func (env *Env) messageContext(message *schemas.Incoming) *schemas.MessageContext {
	if message.Upstream != nil {
		if brought := env.broughtContext(message); brought != nil {
			return brought.Message
		}
		return nil
	}
	told := &schemas.MessageContext{
		Channel: message.Channel, From: message.Author, Origin: message.Origin, Subject: message.Subject, Time: message.Taken,
	}
	if message.Quoted {
		if input := env.InputAt(message.Sequence); input.Message != nil {
			told.Quoted = cut(input.Message.Quoted, maxQuoted)
		}
	}
	return told
}

// maxQuoted bounds what a request repeats of earlier messages that a mail quotes, in bytes.
const maxQuoted = 64 << 10

// broughtContext is what came along with the run's own request; nil when nothing has.
func (env *Env) broughtContext(message *schemas.Incoming) *RequestContext {
	if message.Upstream == nil || !message.Upstream.HasContext {
		return nil
	}
	if input := env.InputAt(message.Sequence); input.Message != nil {
		return input.Message.Context
	}
	return nil
}

// messagesBefore are what was said in the session before the run under way, the newest as far as
// the profile has it told.
func (env *Env) messagesBefore(state *State) []schemas.ConversationMessage {
	policy := &env.Pinned.Context
	room := policy.Bytes
	var told []schemas.ConversationMessage
	if brought := env.broughtContext(&state.Active.Message); brought != nil {
		for _, message := range slices.Backward(brought.Messages[max(len(brought.Messages)-policy.Messages, 0):]) {
			if len(message.Text) > room {
				break
			}
			room -= len(message.Text)
			told = append(told, message)
		}
		slices.Reverse(told)
		return told
	}
	for _, said := range slices.Backward(saidBefore(state, policy)) {
		if room <= 0 {
			break
		}
		message := schemas.ConversationMessage{By: said.By, Text: env.wordsOf(&said), Time: said.Time}
		if message.Text == "" {
			continue // it is lost, and the conversation goes on without
		}
		if len(message.Text) > room {
			message.Text, message.Cut = cutInside(message.Text, room), true
		}
		room -= len(message.Text)
		told = append(told, message)
	}
	slices.Reverse(told)
	return told
}

// saidBefore are the utterances that a request of the run under way tells, oldest first.
func saidBefore(state *State, policy *schemas.ContextPolicy) []Utterance {
	before := make([]Utterance, 0, len(state.Said))
	for i := range state.Said {
		if state.Said[i].Run != state.Active.Number {
			before = append(before, state.Said[i])
		}
	}
	return before[max(len(before)-policy.Messages, 0):]
}

// earlierMessages are the inputs of the requester that a request tells, the newest first.
func earlierMessages(state *State, policy *schemas.ContextPolicy) []uint64 {
	if state.Active.Message.Withheld != "" {
		return nil
	}
	var sequences []uint64
	for _, said := range slices.Backward(saidBefore(state, policy)) {
		if said.By == schemas.SpeakerRequester {
			sequences = append(sequences, said.Sequences...)
		}
	}
	return sequences
}

// An attachmentList collects the files that a request lists.
type attachmentList struct {
	env        *Env
	dispatched *schemas.TaskDispatched
	made       []schemas.TaskAttachment
	leftOut    map[string]bool // by hash and name
}

// add lists a file once, as long as there is room.
func (l *attachmentList) add(from, name, mediaType string, artifact schemas.Artifact) {
	name = cut(name, maxNote)
	known := slices.ContainsFunc(l.made, func(other schemas.TaskAttachment) bool {
		return other.SHA256 == artifact.SHA256 && other.Name == name
	})
	if known || !schemas.ValidHash(artifact.SHA256) || artifact.Size < 0 {
		return
	}
	if len(l.made) == schemas.MaxAttachments {
		if l.leftOut == nil {
			l.leftOut = make(map[string]bool)
		}
		l.leftOut[artifact.SHA256+" "+name] = true
		return
	}
	if len(mediaType) > maxMediaType {
		mediaType = ""
	}
	file := schemas.TaskAttachment{
		ID: schemas.AttachmentID(len(l.made) + 1), Name: name, MediaType: mediaType, Size: artifact.Size, SHA256: artifact.SHA256, From: from,
	}
	if l.env.Grants != nil {
		file.Grant = l.env.Grants.Read(l.dispatched.Agent, l.dispatched.Request, file.SHA256, l.dispatched.Expires)
	}
	l.made = append(l.made, file)
}

// addMessages lists the files that came with the messages of a run.
func (l *attachmentList) addMessages(from string, message *schemas.Incoming) {
	if message.Files == 0 {
		return
	}
	l.addFiles(from, message.Sequence)
	for i := range message.MergedTexts {
		l.addFiles(from, message.MergedTexts[i].Sequence)
	}
}

// addFiles lists the files of the message at a sequence.
func (l *attachmentList) addFiles(from string, sequence uint64) {
	input := l.env.earlierInput(from, sequence)
	if input.Message == nil {
		return
	}
	for i := range input.Message.Files {
		file := &input.Message.Files[i]
		l.add(from, file.Name, file.MediaType, file.Artifact)
	}
}

// earlierInput returns the message at a sequence. Of what was said before, nothing is needed: a run goes on
// without what the ledger has lost of it.
func (env *Env) earlierInput(from string, sequence uint64) Input {
	if from == schemas.FromEarlier && env.EarlierAt != nil {
		input, _ := env.EarlierAt(sequence)
		return input
	}
	return env.InputAt(sequence)
}

// addResult lists the files that a task has made and that may be passed on.
func (l *attachmentList) addResult(task *workflow.Task) {
	if task == nil || task.State != workflow.TaskCompleted {
		return
	}
	for _, file := range workflow.FilesOf(task, l.env.resultFor(task, task.Result)) {
		l.add(task.ID, file.Name, file.MediaType, file.Artifact)
	}
}

// addNamed lists the files that the result of a task names.
func (l *attachmentList) addNamed(task *workflow.Task) {
	if len(task.Proven) == 0 {
		return
	}
	for _, file := range plan.AttachmentsIn(l.env.content(task.Result)) {
		if slices.Contains(task.Proven, file.Artifact.SHA256) {
			l.add(task.ID, file.Name, file.MediaType, file.Artifact)
		}
	}
}

// taintedIn are the members of a request's context that come from outside, as JSON Pointers. All that is
// told in a run is tainted if the run is for a person's message: what an agent has made of
// tainted words is tainted, too. A request of somebody upstream says whether it brings any.
func taintedIn(context *schemas.TaskContext, run *workflow.Run, asked *workflow.Task) []string {
	if !run.Message.FromOutside() {
		return nil
	}
	given := asked.Plan != nil && len(asked.Plan.Options().Constraints) > 0 // else they are of our own making
	var tainted []string
	mark := func(there bool, member ...string) {
		if !there {
			return
		}
		pointer := jsontext.Pointer("")
		for _, token := range member {
			pointer = pointer.AppendToken(token)
		}
		tainted = append(tainted, string(pointer))
	}
	mark(context.Request != "", "request")
	mark(len(context.Arguments) > 0, "arguments")
	mark(given, "constraints")
	mark(len(context.References) > 0, "references")
	mark(len(context.FilesToModify) > 0, "files_to_modify")
	for _, name := range sortedNames(context.Inputs) {
		mark(true, "inputs", name)
	}
	mark(context.Plan != nil, "plan")
	mark(context.Feedback != "", "feedback")
	mark(len(context.Answers) > 0, "answers")
	mark(len(context.Entities) > 0, "entities")
	mark(context.Conversation != nil && len(context.Conversation.Messages) > 0, "conversation", "messages")
	mark(context.Message != nil, "message")
	mark(len(context.Attachments) > 0, "attachments")
	if len(tainted) == 0 {
		return []string{""} // what the task is comes from outside all the same, and whoever hands it on says so
	}
	return tainted
}

// comesFromOutside reports whether a request of somebody upstream brings anything that
// does: the words of a person, or what it says itself that does.
func comesFromOutside(brought *RequestContext) bool { return brought != nil && brought.Tainted }

// runContext is how a run stands, for who works in it (P-11); nil where the profile has no rounds. An agent whose answers may be used again
// is not told it: they would be answers to that.
func (env *Env) runContext(run *workflow.Run, asked *workflow.Task) *schemas.RunContext {
	rounds := env.Pinned.Replan != nil || env.Pinned.Review != nil
	if !rounds || env.Pinned.Reuses(asked.Agent) {
		return nil
	}
	return &schemas.RunContext{Iteration: run.Iteration(), Artifacts: artifactsOf(run)}
}

// artifactsOf counts the files that a run has made: a path once, whatever its versions, and beside it what results name.
func artifactsOf(run *workflow.Run) int {
	paths, hashes := map[string]bool{}, map[string]bool{}
	for _, task := range run.Tasks {
		if task.State != workflow.TaskCompleted {
			continue
		}
		delivered := map[string]bool{}
		for i := range task.Deliverables {
			made := &task.Deliverables[i]
			paths[made.Path] = true
			if file, ok := plan.DeliverableFile(made); ok {
				delivered[file.Artifact.SHA256] = true
			}
		}
		for _, hash := range task.Proven {
			if !delivered[hash] {
				hashes[hash] = true
			}
		}
	}
	return len(paths) + len(hashes)
}
