package plan

import (
	"slices"
	"strconv"
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
	mostNamed    = 8 // tasks of a cycle
)

// check names everything that keeps a plan from being carried out (M-16, P-02).
func (p *Profile) check(tasks []schemas.PlannedTask) []schemas.Reason {
	limit := p.MaxTasks()
	switch {
	case len(tasks) == 0:
		return []schemas.Reason{schemas.Because(schemas.PlanEmpty)}
	case len(tasks) > limit:
		return []schemas.Reason{schemas.Because(schemas.PlanTooLarge, "tasks", strconv.Itoa(len(tasks)), "limit", strconv.Itoa(limit))}
	}
	index := workflow.IndexOf(tasks)
	var faults []schemas.Reason
	for i := range tasks {
		faults = append(faults, p.checkTask(tasks, index, i)...)
	}
	if order := workflow.Topological(tasks, index); len(order) < len(tasks) {
		faults = append(faults, schemas.Because(schemas.PlanHasCycle, "tasks", strings.Join(circle(tasks, index, order), ", ")))
	} else {
		faults = append(faults, p.checkBudget(tasks, index, order)...)
	}
	return faults
}

// Faults returns everything that would keep a run from carrying out the tasks of a
// request, as PlanRefused has it; none is nil.
func (p *Profile) Faults(tasks []schemas.Task) []schemas.Reason { return p.check(planned(tasks)) }

func (p *Profile) checkTask(tasks []schemas.PlannedTask, index map[string]int, i int) []schemas.Reason {
	task := &tasks[i]
	var faults []schemas.Reason
	fault := func(code schemas.ReasonCode, values ...string) {
		faults = append(faults, schemas.Because(code, append(values, "task", task.Task)...))
	}
	switch {
	case task.Task == "" || len(task.Task) > maxTaskID:
		fault(schemas.TaskIDLength, "limit", strconv.Itoa(maxTaskID))
	case p.reserved(task.Task):
		fault(schemas.TaskIDReserved)
	case index[task.Task] != i:
		fault(schemas.TaskIDTaken)
	}
	for at, id := range task.Dependencies {
		if _, known := index[id]; !known {
			fault(schemas.TaskDependencyUnknown, "dependency", id)
		} else if slices.Contains(task.Dependencies[:at], id) {
			fault(schemas.TaskDependencyRepeated, "dependency", id)
		}
	}
	if task.Agent != "" && p.agentUse(task.Agent) == nil {
		fault(schemas.TaskAgentUnknown, "agent", task.Agent)
	}
	checkValues(task, fault)
	return faults
}

// checkValues holds a task to what a request can say of it.
func checkValues(task *schemas.PlannedTask, fault func(code schemas.ReasonCode, values ...string)) {
	switch task.Priority {
	case "", schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave:
	default:
		fault(schemas.TaskPriorityUnknown, "priority", string(task.Priority))
	}
	if most := int(maxEstimate / time.Second); task.Seconds < 0 || task.Seconds > most {
		fault(schemas.TaskSecondsRange, "seconds", strconv.Itoa(task.Seconds), "limit", strconv.Itoa(most))
	}
	if task.Tokens < 0 || task.Tokens > maxTokens {
		fault(schemas.TaskTokensRange, "tokens", strconv.Itoa(task.Tokens), "limit", strconv.Itoa(maxTokens))
	}
	more := task.Options()
	if len(more.Resources) > maxResources {
		fault(schemas.TaskTooManyResources, "resources", strconv.Itoa(len(more.Resources)), "limit", strconv.Itoa(maxResources))
	}
	for _, resource := range more.Resources {
		if resource == "" || len(resource) > maxTaskID {
			fault(schemas.TaskResourceName, "limit", strconv.Itoa(maxTaskID))
		}
	}
	if len(more.Arguments) > 0 && more.Arguments.Kind() != '{' {
		fault(schemas.TaskArgumentsNoObject)
	}
	if len(more.Constraints) > 0 && more.Constraints.Kind() != '{' {
		fault(schemas.TaskConstraintsNoObject)
	}
	if schemas.Deep(more.Arguments) || schemas.Deep(more.Constraints) {
		fault(schemas.TaskValuesTooDeep, "limit", strconv.Itoa(schemas.MaxDepth))
	}
}

// circle lists the tasks that are in a cycle or behind one.
func circle(tasks []schemas.PlannedTask, index map[string]int, order []int) []string {
	var names []string
	for i := range tasks {
		if index[tasks[i].Task] == i && !slices.Contains(order, i) {
			names = append(names, strconv.Quote(tasks[i].Task))
		}
	}
	if len(names) > mostNamed {
		names = append(names[:mostNamed], "…")
	}
	return names
}

// checkBudget compares the estimates with what the profile allows (M-16).
func (p *Profile) checkBudget(tasks []schemas.PlannedTask, index map[string]int, order []int) []schemas.Reason {
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
	var faults []schemas.Reason
	if limit := p.Planner.MaxTokens; limit > 0 && tokens > limit {
		faults = append(faults, schemas.Because(schemas.PlanNeedsTokens, "tokens", strconv.Itoa(tokens), "limit", strconv.Itoa(limit)))
	}
	if limit := time.Duration(p.Planner.MaxSeconds) * time.Second; limit > 0 && longest > limit {
		faults = append(faults, schemas.Because(schemas.PlanTakesTime, "duration", longest.String(), "limit", limit.String()))
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
func (p *Profile) checkChosen(tasks []schemas.PlannedTask) []schemas.Reason {
	var faults []schemas.Reason
	for i := range tasks {
		task := &tasks[i]
		if (p.Replan != nil || p.Review != nil || recovery.Changes(&p.Profile)) && schemas.HasChangeID(task.Task) {
			faults = append(faults, schemas.Because(schemas.TaskIDReserved, "task", task.Task))
		}
		if use := p.agentUse(task.Agent); use != nil && use.Unavailable != "" {
			faults = append(faults, schemas.Because(schemas.TaskAgentUnavailable, "task", task.Task, "agent", task.Agent, "why", use.Unavailable))
		}
	}
	return faults
}
