package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/review"
)

// earlierResult returns the result of a task that has not begun, where it is known: from an earlier attempt of the same piece of work, or from the same input.
func earlierResult(v *View, task *workflow.Task) *schemas.TaskCompleted {
	if task.State != workflow.TaskPending {
		return nil
	}
	if brought := broughtResult(v, task); brought != nil {
		return brought
	}
	return reusedResult(v, task)
}

// reusedResult returns the answer that the agent of a task gave to the same input
// before, where the profile allows that (M-29); nil is none.
func reusedResult(v *View, task *workflow.Task) *schemas.TaskCompleted {
	use := v.Profile.agentUse(task.Agent)
	if use == nil || use.Reuse <= 0 || task.Plan == nil {
		return nil
	}
	found, ok := v.Admission.Reuse(task.Agent, inputHash(v, task), time.Duration(use.Reuse))
	if !ok {
		return nil
	}
	if check := v.Profile.outputs[task.Agent]; check != nil {
		if checkSchema(v.content(schemas.Content{Sequence: found.Sequence, Size: found.Size}).Data, check) != nil {
			return nil // it was given under another profile
		}
	}
	completed := schemas.TaskCompleted{
		Run: v.Run.Number, Task: task.ID, Reused: found.Sequence,
		Result: schemas.Content{Sequence: found.Sequence, Size: found.Size},
	}
	if len(found.Proven) > 0 || len(v.Run.Granted(task)) > 0 {
		provenance := provenance{view: v, task: task, put: found.Proven}
		provenance.result(v.content(completed.Result), &completed)
	}
	return &completed
}

// ReusableResult returns an answer as it may be used again for the same input, or
// false when the profile does not want its answers to be used again.
func (v *View) ReusableResult(task *workflow.Task, sequence uint64, size int, put []string) (schemas.Reuse, bool) {
	use := v.Profile.agentUse(task.Agent)
	if use == nil || use.Reuse <= 0 || task.Plan == nil {
		return schemas.Reuse{}, false
	}
	return schemas.Reuse{Agent: task.Agent, Input: inputHash(v, task), Sequence: sequence, Size: size, Proven: put}, true
}

// inputHash is the hash of all that an agent is told about a task, but for ids,
// moments and the session around it.
func inputHash(v *View, task *workflow.Task) string {
	return hashTold(v, task, v.known().requestInputs.Answers(v.Run, task, v.Read), nil)
}

// toldHash is the hash of what whoever does a task is told, in a run whose upstream may ask once more; else it is empty. People are not told
// what others have answered.
func toldHash(v *View, task *workflow.Task) string {
	if !v.Run.LeavesAll() || task.Plan == nil {
		return ""
	}
	if worksAsPerson(v, task) {
		return hashTold(v, task, nil, nil)
	}
	return agentToldHash(v, task)
}

// calledHash is the hash of what an agent that may answer by a callback is told; else it is empty.
func calledHash(v *View, task *workflow.Task, agent string) string {
	if task.Plan == nil || !v.Profile.Async(agent) {
		return ""
	}
	return agentToldHash(v, task)
}

func agentToldHash(v *View, task *workflow.Task) string {
	var beside jsontext.Value
	if v.ToldBeside != nil {
		beside = v.ToldBeside(task)
	}
	return hashTold(v, task, v.known().requestInputs.Answers(v.Run, task, v.Read), beside)
}

// broughtResult returns what an earlier attempt of the same piece of work has completed a task with, if it was told the same; nil is nothing.
func broughtResult(v *View, task *workflow.Task) *schemas.TaskCompleted {
	left := v.Left.ResultOf(task.ID)
	if left == nil || task.Attempt > 0 || left.Agent != task.Agent && left.Agent != fallback(v, task) || left.Completed.Told != toldHash(v, task) && !fault.Is("a result is brought whatever was told") {
		return nil
	}
	completed := *left.Completed
	if check := v.Profile.outputs[task.Agent]; check != nil && !completed.Partial && !worksAsPerson(v, task) && checkSchema(v.content(completed.Result).Data, check) != nil {
		return nil // it was given under another profile
	}
	completed.Run, completed.Brought, completed.Usage = v.Run.Number, left.Completed.Run, fault.Either("what is brought is paid again", completed.Usage, nil) // that run has paid for it
	return &completed
}

func hashTold(v *View, task *workflow.Task, answers []schemas.InquiryAnswer, beside jsontext.Value) string {
	told := struct {
		Task        schemas.PlannedTask          `json:"task"`
		Description schemas.Result               `json:"description"`
		Request     string                       `json:"request"`
		Inputs      map[string]schemas.TaskInput `json:"inputs,omitzero"`
		Entities    map[string]string            `json:"entities,omitzero"`
		Language    string                       `json:"language"`
		Granted     []string                     `json:"granted,omitzero"`
		Files       []string                     `json:"files,omitzero"` // names and hashes of what is listed, in order
		Answers     []string                     `json:"answers,omitzero"`
		Filled      jsontext.Value               `json:"filled,omitzero"`
		Beside      jsontext.Value               `json:"beside,omitzero"`
		Found       []schemas.ReviewIssue        `json:"found,omitzero"` // that it is to mend
		Failed      *schemas.TaskInput           `json:"failed,omitzero"`
		Detail      string                       `json:"detail,omitzero"`
		Reasons     []schemas.Reason             `json:"reasons,omitzero"`
	}{Beside: beside, Task: *task.Plan, Description: v.content(task.Plan.Description), Request: requestText(v), Entities: v.Run.Entities, Language: v.Run.Message.Language}
	told.Task.Task, told.Task.Description = "", schemas.Content{}
	if options := told.Task.Options(); v.Profile.rules.Sets(task.Agent) {
		options.Arguments = v.Profile.rules.Arguments(task.Agent, options.Arguments, nil)
		told.Task.TaskOptions = &options
	}
	told.Granted = v.Run.Granted(task) // whoever only names a file gets no answer that was made of it
	told.Description.Data = nil        // of the message that the words stand in: no agent is told it as such
	told.Inputs = maps.Clone(v.known().requestInputs.For(v.Run, task, v.Read))
	for _, id := range task.Dependencies() {
		if told.Inputs == nil {
			told.Inputs = map[string]schemas.TaskInput{}
		}
		dependency := v.Run.Standing(id)
		input := schemas.TaskInput{Result: v.content(dependency.Result)}
		if dependency.Partial {
			input.Status = schemas.StatusPartial
		}
		told.Inputs[id] = input
	}
	for _, brought := range answers {
		told.Answers = append(told.Answers, brought.Text)
	}
	told.Files = filesTold(v, task)
	if failed := v.Run.Task(task.Recovers()); failed != nil && task.Recovers() != "" {
		told.Failed = &schemas.TaskInput{Result: v.content(failed.Result)}
		told.Detail, told.Reasons = failed.Failure().Detail, failed.Failure().Reasons
	} else if v.Run.Review != nil {
		told.Found = review.Of(v.Run.Review.Issues, task.Plan.Options().Fixes)
	}
	if task.Filled != nil {
		told.Filled = argumentsOf(v, task)
	}
	body, err := schemas.Marshal(told)
	if err != nil {
		body = []byte(schemas.RunID(v.Session, v.Run.Number) + "/" + task.ID) // what cannot be written is like nothing else
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// filesTold are the files of the run's messages and of the deliverables that a task builds on: what results name stands in these.
func filesTold(v *View, task *workflow.Task) []string {
	var told []string
	for _, sequence := range messagesWithFiles(v) {
		for _, file := range AttachmentsIn(v.Read(schemas.Content{Sequence: sequence})) {
			told = append(told, file.Name+" "+file.Artifact.SHA256)
		}
	}
	for _, id := range task.Dependencies() {
		if dependency := v.Run.Standing(id); dependency != nil {
			for i := range dependency.Deliverables {
				if file, is := DeliverableFile(&dependency.Deliverables[i]); is {
					told = append(told, file.Name+" "+file.Artifact.SHA256)
				}
			}
		}
	}
	return told
}

// requestText are all that the person has said.
func requestText(v *View) string { return RequestText(&v.Run.Message, v.Read) }
