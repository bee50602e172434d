package session

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/reference"
	"podium/schemas/workflow"
)

// maxAttached bounds the files that an answer comes with.
const maxAttached = 32

// attachments are the files of an answer: what the results that it tells name as
// attachments in their data, and the deliverables of their tasks whose metadata is
// an artifact, as far as they may be passed on. The bytes stay in the object store.
func (env *Env) attachments(run *workflow.Run, f *schemas.TaskDispatched) []schemas.Attachment {
	var found []schemas.Attachment
	add := func(file schemas.Attachment) {
		known := slices.ContainsFunc(found, func(other schemas.Attachment) bool {
			return other.Artifact.SHA256 == file.Artifact.SHA256 && other.Name == file.Name
		})
		if file.Artifact.Size < 0 || known || len(found) == maxAttached {
			return
		}
		file.Name, file.ContentID = cut(file.Name, maxNote), ""
		if len(file.MediaType) > maxMediaType {
			file.MediaType = ""
		}
		if env.Grants != nil {
			file.Artifact.Grant = env.Grants.Read(f.Agent, f.Request, file.Artifact.SHA256, f.Expires)
		}
		found = append(found, file)
	}
	for i := range run.Answer {
		task := run.Task(run.Answer[i].Task)
		if task == nil {
			continue
		}
		for _, file := range workflow.FilesOf(task, env.resultFor(task, run.Answer[i].Body)) {
			add(file.Attachment)
		}
	}
	return found
}

// resultFor is a result of a task, as far as it can name files that may be passed on. What names none is not read.
func (env *Env) resultFor(task *workflow.Task, body schemas.Content) schemas.Result {
	if len(task.Proven) == 0 {
		return schemas.Result{}
	}
	return env.content(body)
}

// grantReading gives the artifacts that free JSON in a request names the right to be
// read by whom it is for, as far as the run may pass them on, and no other.
func (env *Env) grantReading(value jsontext.Value, proven []string, f *schemas.TaskDispatched) jsontext.Value {
	return reference.GiveGrants(value, func(sha256 string) string {
		if env.Grants == nil || !slices.Contains(proven, sha256) {
			return ""
		}
		return env.Grants.Read(f.Agent, f.Request, sha256, f.Expires)
	})
}

// proveForUpstream gives the artifacts that free JSON in an answer names the proof that the
// supervisor may pass them on, as far as it may, and no other.
func (env *Env) proveForUpstream(run *workflow.Run, value jsontext.Value, proven []string) jsontext.Value {
	return reference.GiveGrants(value, func(sha256 string) string {
		if env.Grants == nil || !slices.Contains(proven, sha256) {
			return ""
		}
		return env.Grants.Put(run.Message.Upstream.To, sha256)
	})
}

// takeFromAnswer takes the grants out of an answer, and returns what they are for.
func takeFromAnswer(payload *schemas.ResponsePayload) []schemas.Artifact {
	var all []schemas.Artifact
	take := taking(&all)
	if payload.Result != nil {
		take(&payload.Result.Data)
	}
	for i := range payload.Deliverables {
		take(&payload.Deliverables[i].Metadata)
	}
	return all
}

// takeFromTasks takes the grants out of what a request brings, and returns what
// they are for.
func takeFromTasks(tasks []schemas.Task) []schemas.Artifact {
	var all []schemas.Artifact
	take := taking(&all)
	for i := range tasks {
		context := &tasks[i].Context
		take(&context.Arguments)
		take(&context.Constraints)
		for _, name := range sortedNames(context.Inputs) {
			input := context.Inputs[name]
			take(&input.Data)
			context.Inputs[name] = input
		}
		for j := range context.Attachments {
			file := &context.Attachments[j]
			if file.Grant != "" {
				all = append(all, file.Artifact())
			}
			file.Grant = ""
		}
	}
	return all
}

func taking(all *[]schemas.Artifact) func(*jsontext.Value) {
	return func(value *jsontext.Value) {
		bare, taken := reference.TakeGrants(*value)
		*value, *all = bare, append(*all, taken...)
	}
}
