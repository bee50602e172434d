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
func earlierResult(d *Decision, task *workflow.Task) *schemas.TaskCompleted {
	if task.State != workflow.TaskPending {
		return nil
	}
	if brought := broughtResult(d, task); brought != nil {
		return brought
	}
	return reusedResult(d, task)
}

// reusedResult returns the answer that the agent of a task gave to the same input
// before, where the profile allows that (M-29); nil is none.
func reusedResult(d *Decision, task *workflow.Task) *schemas.TaskCompleted {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || use.Reuse <= 0 || task.Plan == nil {
		return nil
	}
	found, ok := d.Admission.Reuse(task.Agent, inputHash(d, task), time.Duration(use.Reuse))
	if !ok {
		return nil
	}
	if check := d.Profile.outputs[task.Agent]; check != nil {
		if checkSchema(d.content(schemas.Content{Sequence: found.Sequence, Size: found.Size}).Data, check) != nil {
			return nil // it was given under another profile
		}
	}
	completed := schemas.TaskCompleted{
		Run: d.Run.Number, Task: task.ID, Reused: found.Sequence,
		Result: schemas.Content{Sequence: found.Sequence, Size: found.Size},
	}
	if len(found.Proven) > 0 || len(d.Run.Granted(task)) > 0 {
		provenance := provenance{decision: d, task: task, put: found.Proven}
		provenance.result(d.content(completed.Result), &completed)
	}
	return &completed
}

// ReusableResult returns an answer as it may be used again for the same input, or
// false when the profile does not want its answers to be used again.
func (d *Decision) ReusableResult(task *workflow.Task, sequence uint64, size int, put []string) (schemas.Reuse, bool) {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || use.Reuse <= 0 || task.Plan == nil {
		return schemas.Reuse{}, false
	}
	return schemas.Reuse{Agent: task.Agent, Input: inputHash(d, task), Sequence: sequence, Size: size, Proven: put}, true
}

// inputHash is the hash of all that an agent is told about a task, but for ids,
// moments and the session around it.
func inputHash(d *Decision, task *workflow.Task) string {
	return hashTold(d, task, d.requestInputs.Answers(d.Run, task, d.Read), nil)
}

// toldHash is the hash of what whoever does a task is told, in a run whose upstream may ask once more; else it is empty. People are not told
// what others have answered.
func toldHash(d *Decision, task *workflow.Task) string {
	if !d.Run.LeavesAll() || task.Plan == nil {
		return ""
	}
	if worksAsPerson(d, task) {
		return hashTold(d, task, nil, nil)
	}
	return agentToldHash(d, task)
}

// calledHash is the hash of what an agent that may answer by a callback is told; else it is empty.
func calledHash(d *Decision, task *workflow.Task, agent string) string {
	if task.Plan == nil || !d.Profile.Async(agent) {
		return ""
	}
	return agentToldHash(d, task)
}

func agentToldHash(d *Decision, task *workflow.Task) string {
	var beside jsontext.Value
	if d.ToldBeside != nil {
		beside = d.ToldBeside(task)
	}
	return hashTold(d, task, d.requestInputs.Answers(d.Run, task, d.Read), beside)
}

// broughtResult returns what an earlier attempt of the same piece of work has completed a task with, if it was told the same; nil is nothing.
func broughtResult(d *Decision, task *workflow.Task) *schemas.TaskCompleted {
	left := d.Left.ResultOf(task.ID)
	if left == nil || task.Attempt > 0 || left.Agent != task.Agent && left.Agent != fallback(d, task) || left.Completed.Told != toldHash(d, task) && !fault.Is("a result is brought whatever was told") {
		return nil
	}
	completed := *left.Completed
	if check := d.Profile.outputs[task.Agent]; check != nil && !completed.Partial && !worksAsPerson(d, task) && checkSchema(d.content(completed.Result).Data, check) != nil {
		return nil // it was given under another profile
	}
	completed.Run, completed.Brought, completed.Usage = d.Run.Number, left.Completed.Run, fault.Either("what is brought is paid again", completed.Usage, nil) // that run has paid for it
	return &completed
}

func hashTold(d *Decision, task *workflow.Task, answers []schemas.InquiryAnswer, beside jsontext.Value) string {
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
	}{Beside: beside, Task: *task.Plan, Description: d.content(task.Plan.Description), Request: requestText(d), Entities: d.Run.Entities, Language: d.Run.Message.Language}
	told.Task.Task, told.Task.Description = "", schemas.Content{}
	if options := told.Task.Options(); d.Profile.rules.Sets(task.Agent) {
		options.Arguments = d.Profile.rules.Arguments(task.Agent, options.Arguments, nil)
		told.Task.TaskOptions = &options
	}
	told.Granted = d.Run.Granted(task) // whoever only names a file gets no answer that was made of it
	told.Description.Data = nil        // of the message that the words stand in: no agent is told it as such
	told.Inputs = maps.Clone(d.requestInputs.For(d.Run, task, d.Read))
	for _, id := range task.Dependencies() {
		if told.Inputs == nil {
			told.Inputs = map[string]schemas.TaskInput{}
		}
		dependency := d.Run.Standing(id)
		input := schemas.TaskInput{Result: d.content(dependency.Result)}
		if dependency.Partial {
			input.Status = schemas.StatusPartial
		}
		told.Inputs[id] = input
	}
	for _, brought := range answers {
		told.Answers = append(told.Answers, brought.Text)
	}
	told.Files = filesTold(d, task)
	if failed := d.Run.Task(task.Recovers()); failed != nil && task.Recovers() != "" {
		told.Failed, told.Detail = &schemas.TaskInput{Result: d.content(failed.Result)}, failed.Failure().Detail
	} else if d.Run.Review != nil {
		told.Found = review.Of(d.Run.Review.Issues, task.Plan.Options().Fixes)
	}
	if task.Filled != nil {
		told.Filled = argumentsOf(d, task)
	}
	body, err := schemas.Marshal(told)
	if err != nil {
		body = []byte(schemas.RunID(d.Session, d.Run.Number) + "/" + task.ID) // what cannot be written is like nothing else
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// filesTold are the files of the run's messages and of the deliverables that a task builds on: what results name stands in these.
func filesTold(d *Decision, task *workflow.Task) []string {
	var told []string
	for _, sequence := range messagesWithFiles(d) {
		for _, file := range AttachmentsIn(d.Read(schemas.Content{Sequence: sequence})) {
			told = append(told, file.Name+" "+file.Artifact.SHA256)
		}
	}
	for _, id := range task.Dependencies() {
		if dependency := d.Run.Standing(id); dependency != nil {
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
func requestText(d *Decision) string { return RequestText(&d.Run.Message, d.Read) }
