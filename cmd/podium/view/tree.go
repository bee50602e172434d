package view

import (
	"reflect"
	"slices"

	"podium/schemas"
)

// A Tree is a run as far as it was shown, and below its tasks the runs that supervisors
// have begun for them.
type Tree struct {
	root *branch
	runs map[string]*branch // by id
}

type branch struct {
	run   schemas.Run
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

// Put takes a run as it is now, and returns the tasks that have changed. It keeps
// nothing that the fold of the records changes later. A run for a task of one that is
// not in the tree has no place there.
func (t *Tree) Put(place Place, run *schemas.Run) (changed []schemas.RunTask) {
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
	before := make(map[string]*schemas.RunTask)
	for _, task := range tasksOf(&known.run) {
		before[task.Task] = task
	}
	known.run = *run
	known.run.Tasks, known.run.Support = slices.Clone(run.Tasks), slices.Clone(run.Support)
	if run.Delivery != nil {
		delivery := *run.Delivery
		known.run.Delivery = &delivery
	}
	for _, task := range tasksOf(&known.run) {
		if was, there := before[task.Task]; !there || !reflect.DeepEqual(*was, *task) {
			changed = append(changed, *task)
		}
	}
	return changed
}

// path names the tasks above a run, from the one that is watched on, in plain words.
func (t *Tree) path(run string) string {
	told := ""
	for at := t.runs[run]; at != nil && at.above != nil; at = at.above {
		told = Line(at.place.Task, shortLength) + " › " + told
	}
	return told
}

// tasksOf are the tasks of a run with those beside its plan.
func tasksOf(run *schemas.Run) (tasks []*schemas.RunTask) {
	for _, some := range [...][]schemas.RunTask{run.Support, run.Tasks} {
		for i := range some {
			tasks = append(tasks, &some[i])
		}
	}
	if run.Delivery != nil {
		tasks = append(tasks, run.Delivery)
	}
	return tasks
}
