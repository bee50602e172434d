// Package versions says which versions of Files stand that the tasks of a run have made: an oracle of its own, for whoever judges supervisor/review.
package versions

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"podium/schemas"
)

// A Task is one of the plan of a run, in its order. What it has made is nothing unless that counts.
type Task struct {
	ID           string
	Dependencies []string
	Made         []schemas.Deliverable
}

// A Run is what there is to be judged.
type Run struct {
	Tasks  []Task
	Merged []Version // oldest first
}

// A Version is a file as a task has made it, or as several were merged.
type Version struct {
	By     string   // the task, or the question that it was merged by
	Of     []string // what it was merged of; nil when a task has made it
	Place  int      // of the task; of what was merged how many tasks there were
	Path   string
	Hash   string // empty when nobody has said it
	Origin string // the hash of what its maker says to have made it from; empty is nothing
}

// A File is a path with all of its versions, those that no other one builds on, and where these differ the hash of what they were made from.
type File struct {
	Path     string
	Versions []Version
	Heads    []Version
	Base     string
}

// Distinct are the heads that are not the same as another one before.
func (f *File) Distinct() []Version {
	var distinct []Version
	for _, head := range f.Heads {
		same := func(other Version) bool { return head.Hash != "" && other.Hash == head.Hash }
		if !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, head)
		}
	}
	return distinct
}

// Conflicts reports whether several of them stand that are not the same.
func (f *File) Conflicts() bool { return len(f.Distinct()) > 1 }

// Hashes are those of what stands.
func (f *File) Hashes() []string {
	var hashes []string
	for _, head := range f.Distinct() {
		hashes = append(hashes, head.Hash)
	}
	return hashes
}

// Cleaned is a path in one way of writing.
func Cleaned(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(name, `\`, "/"))
}

// Hashed is what a deliverable says of its file, and of what that was made from.
func Hashed(made *schemas.Deliverable) (hash, origin string) {
	var said struct {
		Hash   string `json:"sha256"`
		Origin string `json:"base"`
	}
	if json.Unmarshal(made.Metadata, &said) != nil || !schemas.ValidHash(said.Hash) {
		said.Hash = ""
	}
	if !schemas.ValidHash(said.Origin) {
		said.Origin = ""
	}
	return said.Hash, said.Origin
}

// Files are the paths that tasks have made, in the order in which they came up in the plan.
func (r *Run) Files() []File {
	var files []File
	add := func(made Version) {
		at := slices.IndexFunc(files, func(f File) bool { return f.Path == made.Path })
		if at < 0 {
			at, files = len(files), append(files, File{Path: made.Path})
		}
		versions := files[at].Versions
		if last := len(versions) - 1; last >= 0 && versions[last].By == made.By {
			versions = versions[:last] // it says once more what it has made
		}
		files[at].Versions = append(versions, made)
	}
	for place, task := range r.Tasks {
		for i := range task.Made {
			if name := Cleaned(task.Made[i].Path); name != "" {
				hash, origin := Hashed(&task.Made[i])
				add(Version{By: task.ID, Place: place, Path: name, Hash: hash, Origin: origin})
			}
		}
	}
	for _, merged := range r.Merged {
		add(merged)
	}
	for i := range files {
		r.stand(&files[i])
	}
	return files
}

// stand finds what of a path no other one builds on, and what all of that was made from.
func (r *Run) stand(f *File) {
	under := make([][]bool, len(f.Versions)) // by version: those below it
	for i := range f.Versions {
		under[i] = make([]bool, len(f.Versions))
		for j := range f.Versions {
			under[i][j] = i != j && r.buildsOn(f.Versions[i], f.Versions[j])
		}
	}
	for range f.Versions { // what is below something below is below
		for i := range under {
			for j := range under {
				for k := range under {
					under[i][k] = under[i][k] || under[i][j] && under[j][k]
				}
			}
		}
	}
	var heads []int
	for j := range f.Versions {
		if !slices.ContainsFunc(under, func(below []bool) bool { return below[j] }) {
			heads, f.Heads = append(heads, j), append(f.Heads, f.Versions[j])
		}
	}
	if !f.Conflicts() {
		return
	}
	var common []int
	for j := range f.Versions {
		if f.Versions[j].Hash != "" && !slices.ContainsFunc(heads, func(head int) bool { return !under[head][j] }) {
			common = append(common, j)
		}
	}
	for _, j := range slices.Backward(common) { // what is merged stands behind all tasks, and some may build on it
		if !slices.ContainsFunc(common, func(newer int) bool { return under[newer][j] }) {
			f.Base = f.Versions[j].Hash
			return
		}
	}
	distinct := f.Distinct()
	if !slices.ContainsFunc(distinct, func(head Version) bool { return head.Origin != distinct[0].Origin }) {
		f.Base = distinct[0].Origin
	}
}

// buildsOn reports whether one version was made with another one there. What was merged is in what builds on all that it was merged of.
func (r *Run) buildsOn(made, other Version) bool {
	switch {
	case made.Of != nil && other.Of != nil:
		return slices.Contains(made.Of, other.By)
	case made.Of != nil:
		return slices.Contains(r.ancestry(r.WorkIn(made)), other.By)
	case other.Of == nil:
		return slices.Contains(r.ancestry(r.dependencies(made.By)), other.By)
	case made.Place < other.Place:
		return false
	}
	before := r.ancestry(r.dependencies(made.By))
	return !slices.ContainsFunc(r.WorkIn(other), func(id string) bool { return !slices.Contains(before, id) })
}

// ancestry are some tasks, and all that they build on.
func (r *Run) ancestry(tasks []string) []string {
	all := slices.Clone(tasks)
	for i := 0; i < len(all); i++ {
		for _, id := range r.dependencies(all[i]) {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// WorkIn are the tasks that have made what is in a version.
func (r *Run) WorkIn(made Version) []string {
	if made.Of == nil {
		return []string{made.By}
	}
	var tasks []string
	for _, by := range made.Of {
		at := slices.IndexFunc(r.Merged, func(other Version) bool { return other.By == by && other.Path == made.Path })
		switch {
		case at >= 0:
			tasks = append(tasks, r.WorkIn(r.Merged[at])...)
		default:
			tasks = append(tasks, by)
		}
	}
	return tasks
}

func (r *Run) dependencies(id string) []string {
	at := slices.IndexFunc(r.Tasks, func(task Task) bool { return task.ID == id })
	if at < 0 {
		return nil
	}
	return r.Tasks[at].Dependencies
}
