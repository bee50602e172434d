package session

import (
	"encoding/hex"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
)

// maxAttached bounds the files that an answer comes with.
const maxAttached = 32

// attachments are the files of an answer: what the results that it tells name as
// attachments in their data, and the deliverables of their tasks whose metadata is
// an artifact. The bytes stay in the object store.
func (env *Env) attachments(run *plan.Run) []schemas.Attachment {
	var found []schemas.Attachment
	add := func(file schemas.Attachment) {
		hash, err := hex.DecodeString(file.Artifact.SHA256)
		known := slices.ContainsFunc(found, func(other schemas.Attachment) bool {
			return other.Artifact.SHA256 == file.Artifact.SHA256 && other.Name == file.Name
		})
		if err != nil || len(hash) != 32 || file.Artifact.Size < 0 || known || len(found) == maxAttached {
			return
		}
		file.Name, file.ContentID = cut(file.Name, maxNote), ""
		if len(file.MediaType) > maxMediaType {
			file.MediaType = ""
		}
		found = append(found, file)
	}
	for i := range run.Answer {
		for _, file := range attached(env.content(run.Answer[i].Body)) {
			add(file)
		}
		if task := run.Task(run.Answer[i].Task); task != nil {
			for j := range task.Made {
				if file, ok := artifactOf(&task.Made[j]); ok {
					add(file)
				}
			}
		}
	}
	return found
}

func attached(result schemas.Result) []schemas.Attachment {
	var named struct {
		Attachments []schemas.Attachment `json:"attachments"`
	}
	if result.Data.Kind() != '{' || schemas.Unmarshal(result.Data, &named) != nil {
		return nil
	}
	return named.Attachments
}

func artifactOf(made *schemas.Deliverable) (schemas.Attachment, bool) {
	var artifact schemas.Artifact
	if made.Metadata.Kind() != '{' || schemas.Unmarshal(made.Metadata, &artifact) != nil || artifact.SHA256 == "" {
		return schemas.Attachment{}, false
	}
	name := made.Path[strings.LastIndexAny(made.Path, `/\`)+1:]
	if name == "" {
		name = made.DeliverableID
	}
	return schemas.Attachment{Name: name, MediaType: artifact.MediaType, Artifact: artifact}, true
}
