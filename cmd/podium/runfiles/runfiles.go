package runfiles

import (
	"cmp"
	"fmt"
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

// A Reader reads the result that a Content of a run stands for.
type Reader func(body schemas.Content) (schemas.Result, error)

// Standing are the newest versions of what the completed tasks of a run have made: those of each task in the order of workflow.FilesOf, and
// then what was merged.
func Standing(run *workflow.Run, read Reader) ([]File, error) {
	var all []File
	heads := map[string][]review.Version{}
	files := review.Files(run)
	for i := range files {
		heads[files[i].Path] = files[i].Heads
	}
	for _, task := range run.Tasks {
		if !review.Counts(task) {
			continue
		}
		made, err := filesOf(task, read)
		if err != nil {
			return nil, err
		}
		stands := review.Stands(run, task)
		for i := range made {
			isHead := slices.ContainsFunc(heads[made[i].Path], func(head review.Version) bool {
				return head.Task == task.ID && head.Hash == made[i].Artifact.SHA256
			})
			if made[i].Path == "" && stands || isHead {
				all = add(all, made[i], task.ID, task.Agent)
			}
		}
	}
	for i := range files {
		for j := range files[i].Heads { // by now those that were merged are left
			head := &files[i].Heads[j]
			all = addDeliverable(all, &head.Deliverable, head.Task, head.Agent)
		}
	}
	for i := range all {
		all[i].Conflicts = slices.ContainsFunc(all, func(other File) bool { return other.Path == all[i].Path && other.SHA256 != all[i].SHA256 })
	}
	return all, nil
}

// OfTask are the files that one task has made, whether or not others have made newer versions. It reports false when the run has no such task.
func OfTask(run *workflow.Run, id string, read Reader) ([]File, bool, error) {
	task := run.Task(id)
	if task == nil {
		return nil, false, nil
	}
	made, err := filesOf(task, read)
	var all []File
	for i := range made {
		all = add(all, made[i], task.ID, task.Agent)
	}
	for i := range run.Merged {
		if merged := &run.Merged[i]; merged.Question == id {
			all = addDeliverable(all, &merged.Deliverable, id, merged.Agent)
		}
	}
	return all, true, err
}

// filesOf are the files of a task, whose result is read where it can name any.
func filesOf(task *workflow.Task, read Reader) (made []workflow.MadeFile, err error) {
	var result schemas.Result
	if len(task.Proven) > 0 {
		if result, err = read(task.Result); err != nil {
			return nil, fmt.Errorf("the result of task %s: %w", task.ID, err)
		}
	}
	return workflow.FilesOf(task, result), nil
}

// addDeliverable lists a deliverable whose bytes are kept; what is only told of is no file.
func addDeliverable(all []File, made *schemas.Deliverable, task, agent string) []File {
	file, is := workflow.DeliverableFile(made)
	if !is {
		return all
	}
	return add(all, workflow.MadeFile{Attachment: file, Path: review.Path(made), Type: made.Type}, task, agent)
}

// add lists a file, once.
func add(all []File, made workflow.MadeFile, task, agent string) []File {
	artifact := made.Artifact
	file := File{
		Path: cmp.Or(made.Path, made.Name), Task: task, By: agent, Type: made.Type,
		MediaType: cmp.Or(made.MediaType, artifact.MediaType), Size: artifact.Size, SHA256: artifact.SHA256, artifact: artifact,
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
