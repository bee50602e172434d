package view

import (
	"slices"

	"podium/schemas/workflow"
)

// A Tree is a run as far as it was shown, and below its tasks the runs that supervisors
// have begun for them.
type Tree struct {
	root *branch
	runs map[string]*branch // by id
}

type branch struct {
	run   workflow.RunHistory
	place Place
	above *branch
	below []*branch
}

// A Place is the task that a run is for. The zero Place is that of the run that is
// watched.
type Place struct {
	Run  string // id
	Task string
}

// Put takes a run as it is now, and returns the tasks that are in another state than
// before or that something is said about. It keeps nothing that the fold of the records
// changes later. A run for a task of one that is not in the tree has no place there.
func (t *Tree) Put(place Place, run *workflow.RunHistory, about ...string) (changed []*workflow.Task) {
	if t.runs == nil {
		t.runs = make(map[string]*branch)
	}
	known := t.runs[run.ID]
	if known == nil {
		known = &branch{place: place, above: t.runs[place.Run]}
		switch {
		case place == Place{}:
			t.root = known
		case known.above == nil:
			return nil
		default:
			known.above.below = append(known.above.below, known)
		}
		t.runs[run.ID] = known
	}
	before := known.run
	for _, part := range [...]struct{ now, before []*workflow.Task }{
		{run.DecisionTasks, before.DecisionTasks}, {run.Tasks, before.Tasks}, {delivery(run), delivery(&before)},
	} {
		for i, task := range part.now {
			if i >= len(part.before) || part.before[i].ID != task.ID || part.before[i].State != task.State || slices.Contains(about, task.ID) {
				changed = append(changed, task)
			}
		}
	}
	known.run = *run
	known.run.DecisionTasks, known.run.Tasks = append(before.DecisionTasks[:0], run.DecisionTasks...), append(before.Tasks[:0], run.Tasks...)
	return changed
}

// delivery is the task that delivers the answer of a run, if there is one.
func delivery(run *workflow.RunHistory) []*workflow.Task {
	if run.Delivery == nil {
		return nil
	}
	return []*workflow.Task{run.Delivery}
}

// path names the tasks above a run, from the one that is watched on, in plain words.
func (t *Tree) path(run string) string {
	told := ""
	for at := t.runs[run]; at != nil && at.above != nil; at = at.above {
		told = Line(at.place.Task, shortLength) + " › " + told
	}
	return told
}
