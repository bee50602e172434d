package planfile

import (
	"fmt"
	"slices"
	"strings"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// graph names what is wrong between the tasks: ids that stand twice, dependencies on
// nothing, and circles.
func (r *reader) graph(list *node, tasks []schemas.Task, path string) {
	ids := make([]string, len(tasks))
	for i := range tasks {
		ids[i] = tasks[i].TaskID
		if first := slices.Index(ids[:i], ids[i]); first >= 0 && ids[i] != "" {
			r.problem(list.elements[i].member("task_id").at, entry(path, i)+".task_id", "%q is the id of %s already", ids[i], entry(path, first))
		}
	}
	for i := range tasks {
		for j, id := range tasks[i].Dependencies {
			at := list.elements[i].member("dependencies").elements[j].at
			place := entry(entry(path, i)+".dependencies", j)
			switch {
			case id == "": // which is no text
			case slices.Contains(tasks[i].Dependencies[:j], id):
				r.problem(at, place, "%q is there twice", id)
			case !slices.Contains(ids, id):
				r.problem(at, place, "%s", diagnostic.Suggest(fmt.Sprintf("there is no task %q", id), id, ids))
			}
		}
	}
	for _, around := range circles(tasks, ids) {
		i := around[0]
		names := make([]string, 0, len(around)+1)
		for _, at := range append(around, i) {
			names = append(names, fmt.Sprintf("%q", ids[at]))
		}
		r.problem(list.elements[i].member("dependencies").at, entry(path, i)+".dependencies",
			"tasks depend on each other in a circle, so that none of them could begin: %s", strings.Join(names, " → "))
	}
}

// circles returns circles of tasks that each depend on the next, no task in two of them.
func circles(tasks []schemas.Task, ids []string) [][]int {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(tasks))
	var found [][]int
	var way []int
	var visit func(i int)
	visit = func(i int) {
		state[i] = open
		way = append(way, i)
		for _, id := range tasks[i].Dependencies {
			next := slices.Index(ids, id)
			switch {
			case next < 0 || state[next] == done:
			case state[next] == open:
				around := slices.Clone(way[slices.Index(way, next):])
				if !slices.ContainsFunc(found, func(other []int) bool {
					return slices.ContainsFunc(around, func(i int) bool { return slices.Contains(other, i) })
				}) {
					found = append(found, around)
				}
			default:
				visit(next)
			}
		}
		way = way[:len(way)-1]
		state[i] = done
	}
	for i := range tasks {
		if state[i] == unseen {
			visit(i)
		}
	}
	return found
}
