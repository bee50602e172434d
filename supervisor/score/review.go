package score

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// judged notes what a round of review has found when it ends.
func (c *course) judged(f *schemas.Judged) {
	if f.Occasion != schemas.OccasionReview || f.Question != "" {
		return
	}
	c.wrong = nil
	for i := range f.Issues {
		if f.Issues[i].Severity == schemas.ValidationError {
			c.wrong = with(c.wrong, f.Issues[i].Task)
			c.reviewed = with(c.reviewed, f.Issues[i].Task)
		}
	}
}

// reviews adds the results in which reviews have found errors. Those are mended that the last round has found none in. A task of which an attempt
// has failed as well counts once, as mended where both are.
func (c *counts) reviews(run *workflow.RunHistory, went *course) {
	for _, name := range went.reviewed {
		mended := !slices.Contains(went.wrong, name)
		if slices.Contains(went.failed, name) {
			if task := run.Task(name); task != nil && !mended && went.mends(task) {
				c.mended--
			}
			continue
		}
		c.failed++
		if mended {
			c.mended++
		}
	}
}

// mends reports whether a task that had failed was done after all, or others were in its place, without a person.
func (c *course) mends(task *workflow.Task) bool {
	return (task.State == workflow.TaskCompleted || task.Replaced) && !slices.Contains(c.helped, task.ID)
}

func with(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}
