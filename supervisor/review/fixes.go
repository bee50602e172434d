package review

import (
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// Root is the task that another one mends, or the task itself.
func Root(task *workflow.Task) string {
	if task.Plan == nil {
		return task.ID
	}
	if fixes := task.Plan.Options().Fixes; fixes != "" {
		return fixes
	}
	return task.ID
}

// IsFix reports whether a task mends what a review has found in another one's result.
func IsFix(task *workflow.Task) bool { return task.Plan != nil && task.Plan.Options().Fixes != "" }

// Newest is the completed task by which the work of a root stands: itself, or what has mended it last; nil when there is none.
func Newest(run *workflow.Run, root string) *workflow.Task {
	for _, task := range slices.Backward(run.Tasks) {
		if Root(task) == root && Counts(task) {
			return task
		}
	}
	return nil
}

// Stands reports whether a task is the newest of its root.
func Stands(run *workflow.Run, task *workflow.Task) bool { return Newest(run, Root(task)) == task }

// Assign says of each error that no task is named for who is responsible: whoever has made the file that it is in, or is to change that, and where
// only one task has a result, that one. Tasks become the roots of what they mend.
func Assign(run *workflow.Run, files []File, issues []schemas.ReviewIssue) {
	for i := range issues {
		issue := &issues[i]
		switch task := run.Task(issue.Task); {
		case task != nil && task.Plan != nil:
			issue.Task = Root(task)
		case issue.Severity != schemas.ValidationError:
			issue.Task = ""
		default:
			issue.Task = responsible(run, files, issue.File)
		}
	}
}

func responsible(run *workflow.Run, files []File, name string) string {
	if name = clean(name); name != "" {
		if file := find(files, name); file != nil && len(file.Parents) > 0 {
			return Root(run.Task(file.Parents[len(file.Parents)-1])) // it knows all of the others
		}
		for _, task := range run.Tasks {
			if Counts(task) && slices.ContainsFunc(task.Plan.Options().FilesToModify, func(other string) bool { return clean(other) == name }) {
				return Root(task)
			}
		}
	}
	return only(run)
}

// only is the root of the one result that there is, or nothing.
func only(run *workflow.Run) string {
	root := ""
	for _, task := range run.Tasks {
		switch {
		case !Counts(task) || Root(task) == root:
		case root != "":
			return ""
		default:
			root = Root(task)
		}
	}
	return root
}

// find returns the file of a name: its path, or else the only path that the name ends in, or that ends in the name.
func find(files []File, name string) *File {
	var ends []*File
	for i := range files {
		switch file := &files[i]; {
		case file.Path == name:
			return file
		case strings.HasSuffix(name, "/"+file.Path) || strings.HasSuffix(file.Path, "/"+name):
			ends = append(ends, file)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return nil
}

// Fixes are the tasks that mend what a review has found: one for each root that is responsible for an error, in the order of the roots, by
// whoever has done it. Each builds on what it mends, and on what that was built on, as far as this is mended as well on that. Mendable says
// what can be made anew.
func Fixes(run *workflow.Run, round int, files []File, issues []schemas.ReviewIssue, mendable func(made *workflow.Task) bool) []schemas.PlannedTask {
	names := map[string]string{} // by root: of its fix
	var roots []*workflow.Task
	for _, task := range run.Tasks {
		blamed := slices.ContainsFunc(issues, func(issue schemas.ReviewIssue) bool {
			return issue.Severity == schemas.ValidationError && issue.Task == task.ID
		})
		if newest := Newest(run, task.ID); blamed && newest != nil && mendable(newest) {
			roots = append(roots, task)
		}
	}
	round = freeRound(run, round, roots)
	for _, root := range roots {
		names[root.ID] = schemas.FixTask(round, root.ID)
	}
	var fixes []schemas.PlannedTask
	for _, root := range roots {
		fixes = append(fixes, fix(run, root, names, files, issues))
	}
	return fixes
}

// freeRound is the first round, the given one or a later one, by which no task has the id of a fix of any root: a plan from outside may have such ids.
func freeRound(run *workflow.Run, round int, roots []*workflow.Task) int {
	for ; ; round++ {
		if !slices.ContainsFunc(roots, func(root *workflow.Task) bool { return run.Task(schemas.FixTask(round, root.ID)) != nil }) {
			return round
		}
	}
}

func fix(run *workflow.Run, root *workflow.Task, names map[string]string, files []File, issues []schemas.ReviewIssue) schemas.PlannedTask {
	newest := Newest(run, root.ID)
	mends := *root.Plan
	mends.Task, mends.Agent, mends.Routed, mends.Optional = names[root.ID], newest.Agent, true, false
	mends.HasInputs = mends.HasInputs && !fault.Is("whoever mends has nothing of what the request has brought")
	mends.Dependencies = nil
	depend := func(id string) {
		if !slices.Contains(mends.Dependencies, id) {
			mends.Dependencies = append(mends.Dependencies, id)
		}
	}
	depend(fault.Either("a mend builds on the first version", root.ID, newest.ID))
	for _, id := range root.Dependencies() {
		dependency := run.Task(id)
		if dependency == nil {
			continue
		}
		if mended, now := names[Root(dependency)]; now && Root(dependency) != root.ID {
			depend(mended)
		} else if stands := Newest(run, Root(dependency)); stands != nil {
			depend(stands.ID)
		}
	}
	for i := range issues {
		if issue := &issues[i]; issue.Task == root.ID && issue.File != "" {
			if file := find(files, clean(issue.File)); file != nil {
				for _, id := range file.Parents {
					depend(id)
				}
			}
		}
	}
	options := root.Plan.Options()
	options.Fixes, options.Arguments = root.ID, newest.Arguments()
	mends.TaskOptions = &options
	return mends
}

// Lines tell issues to whoever mends them, one in a line.
func Lines(language *schemas.Language, issues []schemas.ReviewIssue) string {
	lines := make([]string, len(issues))
	for i := range issues {
		lines[i] = Where(&issues[i]) + issues[i].Severity + ": " + say.Issue(language, &issues[i])
	}
	return strings.Join(lines, "\n")
}

// Where is the file of an issue and, if it is known, the line, as a compiler begins what it says; empty when it has no file.
func Where(issue *schemas.ReviewIssue) string {
	switch {
	case issue.File == "":
		return ""
	case issue.Line > 0:
		return issue.File + ":" + strconv.Itoa(issue.Line) + ": "
	}
	return issue.File + ": "
}

// Of are the issues that a root is responsible for.
func Of(issues []schemas.ReviewIssue, root string) []schemas.ReviewIssue {
	var found []schemas.ReviewIssue
	for i := range issues {
		if issues[i].Task == root && root != "" {
			found = append(found, issues[i])
		}
	}
	return found
}
