package runfiles

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/review"
)

// A File is one version of what a run has made.
type File struct {
	// Path is where it belongs below a directory, as whoever made it says.
	Path string `json:"path"`
	Task string `json:"task"` // that has made it, or the question that it was merged by
	By   string `json:"agent"`
	// Type is what it is for, such as code.
	Type      string `json:"type,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Size      int64  `json:"size"` // bytes
	SHA256    string `json:"sha256"`
	// Conflicts says that another version of the same path stands beside it.
	Conflicts bool `json:"conflicts,omitzero"`

	artifact schemas.Artifact
}

// Standing are the newest versions of what the completed tasks of a run have made, in the order in which their paths came up.
func Standing(run *workflow.Run) []File {
	var all []File
	files := review.Files(run)
	for i := range files {
		heads := files[i].Heads
		for j := range heads {
			all = add(all, &heads[j].Deliverable, heads[j].Task, heads[j].Agent)
		}
	}
	for _, task := range run.Tasks {
		if !review.Counts(task) || !review.Stands(run, task) {
			continue
		}
		for i := range task.Deliverables {
			if review.Path(&task.Deliverables[i]) == "" {
				all = add(all, &task.Deliverables[i], task.ID, task.Agent)
			}
		}
	}
	for i := range all {
		all[i].Conflicts = slices.ContainsFunc(all, func(other File) bool { return other.Path == all[i].Path && other.SHA256 != all[i].SHA256 })
	}
	return all
}

// OfTask are the files that one task has made, whether or not others have made newer versions. It reports false when the run has no such task.
func OfTask(run *workflow.Run, id string) ([]File, bool) {
	task := run.Task(id)
	if task == nil {
		return nil, false
	}
	var all []File
	for i := range task.Deliverables {
		all = add(all, &task.Deliverables[i], task.ID, task.Agent)
	}
	for i := range run.Merged {
		if merged := &run.Merged[i]; merged.Question == id {
			all = add(all, &merged.Deliverable, id, merged.Agent)
		}
	}
	return all, true
}

// add lists a deliverable whose bytes are kept; what is only told of is no file.
func add(all []File, made *schemas.Deliverable, task, agent string) []File {
	var artifact schemas.Artifact
	if made.Metadata.Kind() != '{' || schemas.Unmarshal(made.Metadata, &artifact) != nil || !schemas.ValidHash(artifact.SHA256) {
		return all
	}
	file := File{
		Path: cmp.Or(review.Path(made), made.DeliverableID), Task: task, By: agent, Type: made.Type,
		MediaType: artifact.MediaType, Size: artifact.Size, SHA256: artifact.SHA256, artifact: artifact,
	}
	if slices.ContainsFunc(all, func(other File) bool { return other.Path == file.Path && other.SHA256 == file.SHA256 }) {
		return all
	}
	return append(all, file)
}

// Named are the files that a name means: a path, what stands at its end, or a folder.
func Named(all []File, name string) []File {
	name = path.Clean(filepath.ToSlash(name))
	is := func(matches func(File) bool) []File {
		return slices.DeleteFunc(slices.Clone(all), func(file File) bool { return !matches(file) })
	}
	if found := is(func(file File) bool { return file.Path == name }); len(found) > 0 {
		return found
	}
	if found := is(func(file File) bool { return strings.HasPrefix(file.Path, name+"/") }); len(found) > 0 {
		return found
	}
	return is(func(file File) bool { return path.Base(file.Path) == name })
}

// Local reports whether a path leads nowhere but below the directory that it is put in, and can be read on a screen.
func Local(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && name != "." && strings.ToValidUTF8(name, "") == name &&
		!strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
}
