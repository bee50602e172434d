package workflow

import "podium/schemas"

// Levels places every task of a graph: 0 when it depends on nothing, else one
// more than the highest that it depends on (M-22). In a graph with a cycle, or
// with dependencies on nothing, the tasks concerned are at level 0.
func Levels(tasks []schemas.PlannedTask) []int {
	index := IndexOf(tasks)
	placed := make([]int, len(tasks))
	for i, order := 0, Topological(tasks, index); i < len(order); i++ {
		for _, id := range tasks[order[i]].Dependencies {
			if dependency, ok := index[id]; ok {
				placed[order[i]] = max(placed[order[i]], placed[dependency]+1)
			}
		}
	}
	return placed
}

// IndexOf returns the place of each task by its id, of several with one id the first.
func IndexOf(tasks []schemas.PlannedTask) map[string]int {
	index := make(map[string]int, len(tasks))
	for i := range tasks {
		if _, known := index[tasks[i].Task]; !known {
			index[tasks[i].Task] = i
		}
	}
	return index
}

// Topological returns the tasks so that each stands behind those that it depends
// on, otherwise in the order of the plan. Tasks in or behind a cycle are left out.
func Topological(tasks []schemas.PlannedTask, index map[string]int) []int {
	open := make([]int, len(tasks))
	behind := make([][]int, len(tasks))
	var order []int
	for i := range tasks {
		for _, id := range tasks[i].Dependencies {
			if dependency, ok := index[id]; ok {
				open[i]++
				behind[dependency] = append(behind[dependency], i)
			}
		}
		if open[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, next := range behind[order[at]] {
			if open[next]--; open[next] == 0 {
				order = append(order, next)
			}
		}
	}
	return order
}
