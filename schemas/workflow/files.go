package workflow

import (
	"path"
	"slices"
	"strings"

	"podium/schemas"
)

// A MadeFile is a file that a task has made.
type MadeFile struct {
	schemas.Attachment

	Path string // where it belongs below a folder, as its agent says, with slashes; empty where the result alone names it
	Type string // of the deliverable; empty where the result alone names it
}

// FilesOf is the one list of the files that a completed task has made: those that its result names as attachments and that may be passed
// on, and then its deliverables. A file that both name is there once, at its first place. It is by this list that mail, pages and the command
// line tell files.
func FilesOf(task *Task, result schemas.Result) []MadeFile {
	var all []MadeFile
	if len(task.Proven) > 0 {
		for _, file := range AttachmentsIn(result) {
			known := slices.ContainsFunc(all, func(other MadeFile) bool {
				return other.Artifact.SHA256 == file.Artifact.SHA256 && other.Name == file.Name
			})
			if slices.Contains(task.Proven, file.Artifact.SHA256) && !known {
				all = append(all, MadeFile{Attachment: file})
			}
		}
	}
	for i := range task.Deliverables {
		made := &task.Deliverables[i]
		file, is := DeliverableFile(made)
		if !is {
			continue
		}
		place := ""
		if made.Path != "" {
			place = path.Clean(strings.ReplaceAll(made.Path, `\`, "/"))
		}
		at := slices.IndexFunc(all, func(other MadeFile) bool {
			return other.Artifact.SHA256 == file.Artifact.SHA256 && other.Name == file.Name && (other.Type == "" || other.Path == place)
		})
		if at < 0 {
			all = append(all, MadeFile{file, place, made.Type})
		} else if all[at].Type == "" {
			all[at].Path, all[at].Type = place, made.Type
		}
	}
	return all
}

// AttachmentsIn are the files that a result, or a message, names as its attachments.
func AttachmentsIn(result schemas.Result) []schemas.Attachment {
	var names struct {
		Attachments []schemas.Attachment `json:"attachments"`
	}
	if result.Data.Kind() != '{' || schemas.Unmarshal(result.Data, &names) != nil {
		return nil
	}
	return names.Attachments
}

// DeliverableFile returns the file that a deliverable is, if its metadata names an artifact.
func DeliverableFile(made *schemas.Deliverable) (schemas.Attachment, bool) {
	var artifact schemas.Artifact
	if made.Metadata.Kind() != '{' || schemas.Unmarshal(made.Metadata, &artifact) != nil || !schemas.ValidHash(artifact.SHA256) {
		return schemas.Attachment{}, false
	}
	name := made.Path[strings.LastIndexAny(made.Path, `/\`)+1:]
	if name == "" {
		name = made.DeliverableID
	}
	return schemas.Attachment{Name: name, MediaType: artifact.MediaType, Artifact: artifact}, true
}
