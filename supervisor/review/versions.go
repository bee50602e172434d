package review

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A Version is a file as one task has made it, or as several versions were merged.
type Version struct {
	Task        string // that has made it, or the question that it was merged by
	Agent       string
	Deliverable schemas.Deliverable
	Hash        string // SHA-256; empty when nobody has said it
	merge       bool
	at          int // its place among the tasks; of a merge, how many there were
}

// A File is what has become of one path.
type File struct {
	Path string
	// Heads are the versions that no other version builds on, in the order of the tasks. Of equal ones there is the first.
	Heads []Version
	// Of are who has made them, with those of equal ones.
	Of []string
	// Base is the hash of the newest version that all heads build on, on which none of the others of that kind builds, or of what all of them say that they were made from;
	// empty is none.
	Base string
	// Parents are the tasks whose work is in the heads, of a merge those that it has merged.
	Parents []string
}

// Conflicts reports whether the path has more than one version that stands.
func (f *File) Conflicts() bool { return len(f.Heads) > 1 }

// Conflict says between whom there is one (M-38), and which tasks have made the versions.
func (f *File) Conflict() schemas.ReviewIssue {
	var agents, tasks []string
	for i := range f.Heads {
		agents, tasks = append(agents, f.Heads[i].Agent), append(tasks, f.Heads[i].Task)
	}
	return schemas.ReviewIssue{
		Severity: schemas.ValidationError, File: f.Path, Tasks: tasks,
		Reasons: because(schemas.VersionsDiffer, "file", f.Path, "agents", strings.Join(agents, ", "), "tasks", strings.Join(tasks, ", ")),
	}
}

// Path is the name of a deliverable's file, the same for all ways to write it; empty when it has none.
func Path(made *schemas.Deliverable) string { return clean(made.Path) }

func clean(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(name, `\`, "/"))
}

// Files are the paths that completed tasks have made, in the order in which they came up.
func Files(run *workflow.Run) []File {
	graph := newGraph(run)
	var order []string
	versions := map[string][]Version{}
	add := func(name string, version Version) {
		if name == "" {
			return
		}
		if _, known := versions[name]; !known {
			order = append(order, name)
		}
		versions[name] = append(versions[name], version)
	}
	for at, task := range run.Tasks {
		if !Counts(task) {
			continue
		}
		for i := range task.Deliverables {
			made := &task.Deliverables[i]
			add(Path(made), Version{Task: task.ID, Agent: task.Agent, Deliverable: *made, Hash: hashOf(made), at: at})
		}
	}
	for i := range run.Merged {
		merged := &run.Merged[i]
		add(merged.Path, Version{
			Task: merged.Question, Agent: merged.Agent, Deliverable: merged.Deliverable, Hash: hashOf(&merged.Deliverable), merge: true, at: merged.Planned,
		})
	}
	files := make([]File, len(order))
	for i, name := range order {
		files[i] = graph.file(name, lastOfEach(versions[name]))
	}
	return files
}

// Counts reports whether what a task has made is a part of the result of its run.
func Counts(task *workflow.Task) bool {
	return task.Plan != nil && task.State == workflow.TaskCompleted && !task.Replaced
}

// lastOfEach leaves of what one task says of a path only what it says last.
func lastOfEach(versions []Version) []Version {
	var kept []Version
	for i := range versions {
		if i+1 < len(versions) && versions[i+1].Task == versions[i].Task {
			continue
		}
		kept = append(kept, versions[i])
	}
	return kept
}

// hashOf is the hash of the file that a deliverable is, if its metadata says it.
func hashOf(made *schemas.Deliverable) string {
	var said struct {
		SHA256 string `json:"sha256"`
	}
	if made.Metadata.Kind() != '{' || schemas.Unmarshal(made.Metadata, &said) != nil || !schemas.ValidHash(said.SHA256) {
		return ""
	}
	return said.SHA256
}

// baseOf is the hash of the file that a deliverable was made from, if its metadata says it.
func baseOf(made *schemas.Deliverable) string {
	var said struct {
		Base jsontext.Value `json:"base"`
	}
	if made.Metadata.Kind() != '{' || schemas.Unmarshal(made.Metadata, &said) != nil {
		return ""
	}
	var hash string
	if schemas.Unmarshal(said.Base, &hash) == nil && schemas.ValidHash(hash) {
		return hash
	}
	return ""
}

// file places the versions of a path.
func (g *graph) file(name string, versions []Version) File {
	file := File{Path: name}
	if len(versions) == 1 {
		file.Heads, file.Of = versions, []string{versions[0].Task}
		file.Parents = g.parents(name, versions)
		return file
	}
	below := make([][]bool, len(versions)) // by version: the versions that it builds on
	for i := range versions {
		below[i] = g.below(name, &versions[i], versions)
	}
	var heads []int
	for i := range versions {
		builtOn := slices.ContainsFunc(below, func(others []bool) bool { return others[i] })
		if fault.Is("an older version wins") {
			builtOn = i > 0
		}
		if !builtOn {
			heads = append(heads, i)
		}
	}
	var standing, all []Version
	for _, i := range heads {
		all, file.Of = append(all, versions[i]), append(file.Of, versions[i].Task)
		equal := versions[i].Hash != "" && slices.ContainsFunc(standing, func(other Version) bool { return other.Hash == versions[i].Hash })
		if equal && fault.Is("equal versions are none of a merge") {
			file.Of = file.Of[:len(file.Of)-1]
		}
		if !equal {
			standing = append(standing, versions[i])
		}
	}
	file.Heads = standing
	file.Parents = g.parents(name, all)
	if !file.Conflicts() {
		return file
	}
	if base := g.commonBase(versions, heads, below); base != nil && !fault.Is("a merge has no base") {
		file.Base = base.Hash
		return file
	}
	file.Base = baseOf(&standing[0].Deliverable)
	for i := range standing {
		if baseOf(&standing[i].Deliverable) != file.Base {
			file.Base = ""
		}
	}
	return file
}

// commonBase is the newest version below all heads; nil is none.
func (g *graph) commonBase(versions []Version, heads []int, below [][]bool) *Version {
	closeOver(below)
	var common []int
	for i := range versions {
		if versions[i].Hash != "" && !slices.ContainsFunc(heads, func(head int) bool { return !below[head][i] }) {
			common = append(common, i)
		}
	}
	for _, i := range slices.Backward(common) {
		builtOn := slices.ContainsFunc(common, func(other int) bool { return below[other][i] })
		if !builtOn || fault.Is("a merge is newer than what builds on it") {
			return &versions[i]
		}
	}
	return nil
}

// closeOver marks whatever is below something below.
func closeOver(below [][]bool) {
	for through := range below {
		for i := range below {
			for j := range below {
				below[i][j] = below[i][j] || below[i][through] && below[through][j]
			}
		}
	}
}

// A graph is who builds on whom.
type graph struct {
	run   *workflow.Run
	index map[string]int // of the tasks
}

func newGraph(run *workflow.Run) *graph {
	g := &graph{run: run, index: make(map[string]int, len(run.Tasks))}
	for i, task := range run.Tasks {
		g.index[task.ID] = i
	}
	return g
}

// ancestors marks the tasks that some tasks build on, with these themselves if they are named.
func (g *graph) ancestors(of []string) []bool {
	marked := make([]bool, len(g.run.Tasks))
	open := slices.Clone(of)
	for len(open) > 0 {
		at, known := g.index[open[len(open)-1]]
		open = open[:len(open)-1]
		if !known || marked[at] {
			continue
		}
		marked[at] = true
		open = append(open, g.run.Tasks[at].Dependencies()...)
	}
	return marked
}

// below marks the versions of a path that one of them builds on: those of the tasks that its own builds on; a merge builds on all
// that it has merged, and whatever was planned after it and builds on all of that builds on the merge.
func (g *graph) below(name string, version *Version, versions []Version) []bool {
	var marked []bool
	if version.merge {
		marked = g.ancestors(g.merged(name, version.Task))
	} else {
		marked = g.ancestors(g.run.Tasks[version.at].Dependencies())
	}
	under := make([]bool, len(versions))
	for i := range versions {
		other := &versions[i]
		switch {
		case other.Task == version.Task:
		case !other.merge:
			under[i] = marked[other.at]
		case version.merge:
			under[i] = slices.Contains(g.direct(name, version.Task), other.Task)
		case version.at >= other.at:
			under[i] = g.holds(marked, g.merged(name, other.Task))
		}
	}
	for again := true; again; { // what a version below builds on is below, too
		again = false
		for i := range versions {
			if !under[i] || !versions[i].merge {
				continue
			}
			for j := range versions {
				if !under[j] && versions[j].Task != version.Task && slices.Contains(g.direct(name, versions[i].Task), versions[j].Task) {
					under[j], again = true, true
				}
			}
		}
	}
	return under
}

func (g *graph) holds(marked []bool, tasks []string) bool {
	return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(id string) bool {
		at, known := g.index[id]
		return !known || !marked[at]
	})
}

// direct are the versions that a question has merged, by who has made them.
func (g *graph) direct(name, question string) []string {
	for i := range g.run.Merged {
		if merged := &g.run.Merged[i]; merged.Question == question && merged.Path == name {
			return merged.Of
		}
	}
	return nil
}

// merged are the tasks whose work is in a merge, also by merges before it.
func (g *graph) merged(name, question string) []string {
	var tasks []string
	seen := map[string]bool{}
	open := []string{question}
	for len(open) > 0 {
		id := open[0]
		open = open[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		of := g.direct(name, id)
		if _, task := g.index[id]; task && len(of) == 0 {
			tasks = append(tasks, id)
		}
		open = append(open, of...)
	}
	return tasks
}

// parents are the tasks whose work is in some versions, in the order of the tasks.
func (g *graph) parents(name string, versions []Version) []string {
	holds := make([]bool, len(g.run.Tasks))
	for i := range versions {
		if !versions[i].merge {
			holds[versions[i].at] = true
			continue
		}
		for _, id := range g.merged(name, versions[i].Task) {
			holds[g.index[id]] = true
		}
	}
	var tasks []string
	for i, task := range g.run.Tasks {
		if holds[i] {
			tasks = append(tasks, task.ID)
		}
	}
	return tasks
}
