package planfile

import (
	"fmt"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/budget"
	"podium/supervisor/plan"
)

// beyond are cautions about what a run of the profile has no room for: the plan is taken all the same, and tasks are left out in the end.
func beyond(tasks []schemas.Task, profile *plan.Profile) (cautions []string) {
	if limit := profile.StepLimit(); limit > 0 && len(tasks) > limit {
		cautions = append(cautions, fmt.Sprintf("the plan has %d tasks, and a run takes %d steps, with what plans, judges and mends (profiles.%s.execution.steps): what comes last is skipped", len(tasks), limit, profile.Name))
	}
	if profile.Budget == nil {
		return cautions
	}
	var all schemas.Usage
	limit, alone := profile.Budget.Run, false
	for i := range tasks {
		task := &tasks[i]
		need := budget.Need(profile.Budget, task.AssignedTo, &schemas.PlannedTask{Tokens: task.EstimatedTokens, Seconds: task.EstimatedTimeSeconds})
		if short := shortOf(limit, need); short != "" {
			cautions = append(cautions, fmt.Sprintf("task %q needs %s (profiles.%s.budget.run): it does not begin", task.TaskID, short, profile.Name))
			alone = true
		}
		all = all.Plus(need)
	}
	if short := shortOf(limit, all); short != "" && !alone {
		cautions = append(cautions, fmt.Sprintf("by what they are estimated, and budget.reserve, the tasks need %s (profiles.%s.budget.run): what comes last is left out if no less is used", short, profile.Name))
	}
	return cautions
}

// shortOf says how much is needed of what there is less of; empty when it fits.
func shortOf(limit, need schemas.Usage) string {
	var parts []string
	if limit.Tokens > 0 && need.Tokens > limit.Tokens {
		parts = append(parts, fmt.Sprintf("%d tokens, and a run may use %d", need.Tokens, limit.Tokens))
	}
	if limit.Milliseconds > 0 && need.Milliseconds > limit.Milliseconds {
		parts = append(parts, fmt.Sprintf("%s of work, and a run may use %s", time.Duration(need.Milliseconds)*time.Millisecond, time.Duration(limit.Milliseconds)*time.Millisecond))
	}
	if limit.CostMicros > 0 && need.CostMicros > limit.CostMicros {
		parts = append(parts, fmt.Sprintf("a cost of %s, and a run may have one of %s", budget.Money(need.CostMicros, "."), budget.Money(limit.CostMicros, ".")))
	}
	return strings.Join(parts, "; ")
}
