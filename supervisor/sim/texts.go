package sim

import (
	"fmt"
	"strings"

	"podium/bus/artifact"
	"podium/schemas"
)

// text is what a person writes: it hits keywords, calls for plans, names
// entities, or means nothing to anybody.
func (w *World) text() string {
	words := pick(w.rand,
		"alpha please", "beta please", "calculate alpha and then summarize beta", "calculate nothing",
		"nobody knows this", "everything please", "please alpha, the answer and thanks", "bitte alpha und danke",
		"fan out over alpha", "a diamond for 7 with beta", "calculate gamma, summarize alpha and then calculate beta",
	)
	if w.once(4) {
		words += fmt.Sprintf(" for P-%d", w.rand.IntN(3))
	}
	return words + w.bulk(12)
}

// bulk is what makes every n-th text large, in worlds that know large ones.
func (w *World) bulk(n int) string {
	if w.configuration.bulk == bulkSmall || !w.once(n) {
		return ""
	}
	if w.configuration.bulk == bulkClaimed && w.once(4) {
		return strings.Repeat(" many more words", artifact.MessageInlineLimit/16+1)
	}
	return strings.Repeat(" more words", schemas.RecordInlineLimit/8)
}

// graph is a plan with names, dependencies and wishes of all kinds.
func (w *World) graph() []schemas.Task {
	tasks := make([]schemas.Task, 1+w.rand.IntN(pick(w.rand, 3, 5, 7)))
	density := w.rand.IntN(4)
	for i := range tasks {
		tasks[i] = schemas.Task{
			TaskID: string(rune('a' + i)), Description: w.text(), AssignedTo: pick(w.rand, alpha, alpha, beta, gamma),
			EstimatedTimeSeconds: pick(w.rand, 0, 0, 1, 5), Optional: w.once(6),
			Priority: pick(w.rand, "", schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave),
		}
		for j := range i {
			if w.rand.IntN(6) < density {
				tasks[i].Dependencies = append(tasks[i].Dependencies, tasks[j].TaskID)
			}
		}
		if w.once(6) || w.configuration.shared && w.once(2) {
			tasks[i].Resources = []string{pick(w.rand, "disk", "printer")}
			if w.configuration.shared && w.once(3) {
				tasks[i].Resources = []string{"printer", "disk"}
			}
		}
	}
	return tasks
}

// spoil makes a plan one that nobody can carry out, now and then.
func (w *World) spoil(tasks []schemas.Task) {
	if !w.once(6) {
		return
	}
	task := &tasks[w.rand.IntN(len(tasks))]
	switch w.rand.IntN(5) {
	case 0:
		task.AssignedTo = "nobody"
	case 1:
		task.Dependencies = []string{task.TaskID}
	case 2:
		task.Dependencies = []string{"missing"}
	case 3:
		task.TaskID, task.AssignedTo = tasks[0].TaskID, tasks[0].AssignedTo
	case 4:
		task.TaskID = schemas.DeliveryTask
	}
}
