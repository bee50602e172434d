package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// Bounds of what a plan may say of a task. An agent may have written it, so that
// no schema has seen it.
const (
	maxTaskID    = 128 // bytes, also of a resource
	maxResources = 32
	maxTokens    = 1_000_000_000_000
)

// check names everything that keeps a plan from being carried out (M-16, P-02).
func (p *Profile) check(tasks []schemas.PlannedTask) []string {
	limit := p.MaxTasks()
	switch {
	case len(tasks) == 0:
		return []string{"the plan has no tasks"}
	case len(tasks) > limit:
		return []string{fmt.Sprintf("the plan has %d tasks, more than the %d that are allowed", len(tasks), limit)}
	}
	index := workflow.IndexOf(tasks)
	var faults []string
	for i := range tasks {
		faults = append(faults, p.checkTask(tasks, index, i)...)
	}
	if order := workflow.Topological(tasks, index); len(order) < len(tasks) {
		faults = append(faults, "tasks depend on each other in a circle: "+strings.Join(circle(tasks, index, order), ", "))
	} else {
		faults = append(faults, p.checkBudget(tasks, index, order)...)
	}
	return faults
}

// Faults names everything that would keep a run from carrying out the tasks of a
// request, in the words of PlanRefused; none is nil.
func (p *Profile) Faults(tasks []schemas.Task) []string { return p.check(planned(tasks)) }

func (p *Profile) checkTask(tasks []schemas.PlannedTask, index map[string]int, i int) []string {
	task := &tasks[i]
	var faults []string
	fault := func(format string, arguments ...any) {
		faults = append(faults, fmt.Sprintf("task %q: ", task.Task)+fmt.Sprintf(format, arguments...))
	}
	switch {
	case task.Task == "" || len(task.Task) > maxTaskID:
		fault("an id has 1 to %d bytes", maxTaskID)
	case p.reserved(task.Task):
		fault("the id is reserved")
	case index[task.Task] != i:
		fault("another task has this id")
	}
	for at, id := range task.Dependencies {
		if _, known := index[id]; !known {
			fault("it depends on %q, which is no task of the plan", id)
		} else if slices.Contains(task.Dependencies[:at], id) {
			fault("it depends on %q twice", id)
		}
	}
	if task.Agent != "" && p.agentUse(task.Agent) == nil {
		fault("%q is not one of the agents that may be asked", task.Agent)
	}
	checkValues(task, fault)
	return faults
}

// checkValues holds a task to what a request can say of it.
func checkValues(task *schemas.PlannedTask, fault func(format string, arguments ...any)) {
	switch task.Priority {
	case "", schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave:
	default:
		fault("%q is no priority", task.Priority)
	}
	if most := int(maxEstimate / time.Second); task.Seconds < 0 || task.Seconds > most {
		fault("an estimate of %d seconds is not between 0 and %d", task.Seconds, most)
	}
	if task.Tokens < 0 || task.Tokens > maxTokens {
		fault("an estimate of %d tokens is not between 0 and %d", task.Tokens, maxTokens)
	}
	more := task.Options()
	if len(more.Resources) > maxResources {
		fault("it needs %d resources, more than the %d that are allowed", len(more.Resources), maxResources)
	}
	for _, resource := range more.Resources {
		if resource == "" || len(resource) > maxTaskID {
			fault("a resource has a name of 1 to %d bytes", maxTaskID)
		}
	}
	if len(more.Arguments) > 0 && more.Arguments.Kind() != '{' {
		fault("its arguments are no object")
	}
	if len(more.Constraints) > 0 && more.Constraints.Kind() != '{' {
		fault("its constraints are no object")
	}
	if schemas.Deep(more.Arguments) || schemas.Deep(more.Constraints) {
		fault("its arguments or constraints are nested deeper than %d", schemas.MaxDepth)
	}
}

// circle lists the tasks that are in a cycle or behind one.
func circle(tasks []schemas.PlannedTask, index map[string]int, order []int) []string {
	var names []string
	for i := range tasks {
		if index[tasks[i].Task] == i && !slices.Contains(order, i) {
			names = append(names, fmt.Sprintf("%q", tasks[i].Task))
		}
	}
	return names
}

// checkBudget compares the estimates with what the profile allows (M-16).
func (p *Profile) checkBudget(tasks []schemas.PlannedTask, index map[string]int, order []int) []string {
	if p.Planner == nil {
		return nil
	}
	tokens := 0
	ends := make([]time.Duration, len(tasks))
	var longest time.Duration
	for _, i := range order {
		tokens += tasks[i].Tokens
		for _, id := range tasks[i].Dependencies {
			ends[i] = max(ends[i], ends[index[id]])
		}
		ends[i] += time.Duration(tasks[i].Seconds) * time.Second
		longest = max(longest, ends[i])
	}
	var faults []string
	if limit := p.Planner.MaxTokens; limit > 0 && tokens > limit {
		faults = append(faults, fmt.Sprintf("the tasks need an estimated %d tokens, more than the %d that are allowed", tokens, limit))
	}
	if limit := time.Duration(p.Planner.MaxSeconds) * time.Second; limit > 0 && longest > limit {
		faults = append(faults, fmt.Sprintf("the longest path takes an estimated %s, more than the %s that are allowed", longest, limit))
	}
	return faults
}

// A ScheduledTask is the place of one task in the order of work (M-22).
type ScheduledTask struct {
	Task         string   `json:"task"`
	Level        int      `json:"level"`
	ParallelWith []string `json:"parallel_with"`
}

// ByLevel lists the tasks of a graph by level, in the order of the plan inside
// a level, each with those that may be done at the same time (M-22).
func ByLevel(tasks []schemas.PlannedTask) []ScheduledTask {
	placed := workflow.Levels(tasks)
	deepest := 0
	for _, level := range placed {
		deepest = max(deepest, level)
	}
	entries := make([]ScheduledTask, 0, len(tasks))
	for level := 0; level <= deepest; level++ {
		for i := range tasks {
			if placed[i] != level {
				continue
			}
			entry := ScheduledTask{Task: tasks[i].Task, Level: level, ParallelWith: []string{}}
			for j := range tasks {
				if j != i && placed[j] == level {
					entry.ParallelWith = append(entry.ParallelWith, tasks[j].Task)
				}
			}
			entries = append(entries, entry)
		}
	}
	return entries
}

// checkChosen names what an agent may not have chosen in its plan: ids that changes make, and agents that are not asked now.
func (p *Profile) checkChosen(tasks []schemas.PlannedTask) []string {
	var faults []string
	for i := range tasks {
		task := &tasks[i]
		if (p.Replan != nil || p.Review != nil || recovery.Changes(&p.Profile)) && schemas.HasChangeID(task.Task) {
			faults = append(faults, fmt.Sprintf("task %q: the id is reserved", task.Task))
		}
		if use := p.agentUse(task.Agent); use != nil && use.Unavailable != "" {
			faults = append(faults, fmt.Sprintf("task %q: %q is not available: %s", task.Task, task.Agent, use.Unavailable))
		}
	}
	return faults
}
