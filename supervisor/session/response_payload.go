package session

import (
	"cmp"
	"strconv"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// summary counts the tasks of a run (M-08).
func summary(run *workflow.Run) *schemas.ExecutionSummary {
	counted := schemas.ExecutionSummary{TotalTasks: len(run.Tasks)}
	for i := range run.Tasks {
		switch run.Tasks[i].State {
		case workflow.TaskCompleted:
			counted.TasksCompleted++
		case workflow.TaskFailed:
			counted.TasksFailed++
		case workflow.TaskSkipped, workflow.TaskCancelled, workflow.TaskPending, workflow.TaskReady,
			workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskWaiting:
			counted.TasksSkipped++
		}
	}
	if counted.TotalTasks > 0 {
		counted.CompletionPercentage = counted.TasksCompleted * 100 / counted.TotalTasks
	}
	return &counted
}

// deliverables are what the tasks have made, in the order of the plan (M-09).
func (env *Env) deliverables(run *workflow.Run) []schemas.Deliverable {
	var made []schemas.Deliverable
	for i := range run.Tasks {
		for _, deliverable := range run.Tasks[i].Deliverables {
			deliverable.TaskID = cmp.Or(deliverable.TaskID, run.Tasks[i].ID)
			deliverable.Agent = cmp.Or(deliverable.Agent, run.Tasks[i].Agent)
			if file, names := plan.DeliverableFile(&deliverable); names {
				deliverable.Metadata = env.proveForUpstream(run, deliverable.Metadata, []string{file.Artifact.SHA256})
			}
			made = append(made, deliverable)
		}
	}
	return made
}

// usage is what the run has cost (M-11).
func usage(run *workflow.Run, now time.Time) *schemas.ResourceUsage {
	used := schemas.ResourceUsage{}
	if !run.Planned.IsZero() {
		used.TimeElapsedSeconds = max(now.Sub(run.Planned), 0).Seconds()
	}
	for i := range run.Tasks {
		task := run.Tasks[i]
		used.TokensUsed += task.Tokens
		if task.Started.IsZero() || task.Ended.IsZero() {
			continue
		}
		if used.AgentExecutionTimes == nil {
			used.AgentExecutionTimes = map[string]float64{}
		}
		used.AgentExecutionTimes[task.Agent] += max(task.Ended.Sub(task.Started), 0).Seconds()
	}
	return &used
}

// issues are what went wrong and what became of it (M-12).
func issues(run *workflow.Run, upstream *schemas.Upstream) []schemas.Issue {
	var told []schemas.Issue
	add := func(task, agent, description string, resolution schemas.Resolution, details string) {
		told = append(told, schemas.Issue{
			IssueID: schemas.EffectID(upstream.Request, "issue:"+task), TaskID: task, Agent: agent, Severity: "high",
			Description: description, Resolution: resolution, ResolutionDetails: details,
		})
	}
	for i := range run.Tasks {
		task := run.Tasks[i]
		switch {
		case task.Failure().Cause == "":
		case task.State == workflow.TaskCompleted:
			add(task.ID, task.Agent, cmp.Or(task.Failure().Detail, failureText(task.Failure().Cause)), schemas.ResolutionResolved, string(task.Failure().Action))
		case task.State == workflow.TaskFailed || task.State == workflow.TaskSkipped:
			add(task.ID, task.Agent, cmp.Or(task.Failure().Detail, failureText(task.Failure().Cause)), resolution(task.Failure().Cause), string(task.Failure().Action))
		}
	}
	if len(run.Tasks) == 0 { // else there was another plan
		for i, fault := range run.PlanFaults {
			add(cmp.Or(upstream.Task, upstream.PlanID), upstream.To, fault, schemas.ResolutionEscalated, string(run.Reason))
			told[len(told)-1].IssueID = schemas.EffectID(upstream.Request, "issue:fault:"+strconv.Itoa(i))
		}
	}
	if run.Error != nil && len(told) == 0 {
		add(cmp.Or(upstream.Task, upstream.PlanID), upstream.To, run.Error.InternalDetails, schemas.ResolutionEscalated, string(run.Reason))
	}
	return append(told, unprovenFiles(run, upstream)...)
}

// unprovenFiles are the files that agents have named and may not pass on.
func unprovenFiles(run *workflow.Run, upstream *schemas.Upstream) []schemas.Issue {
	var told []schemas.Issue
	for i := range run.Tasks {
		task := run.Tasks[i]
		for n, name := range task.Unproven {
			told = append(told, schemas.Issue{
				IssueID: schemas.EffectID(upstream.Request, "issue:file:"+task.ID+":"+strconv.Itoa(n)), TaskID: task.ID, Agent: task.Agent, Severity: "medium",
				Description: "The file " + strconv.Quote(name) + " is left out: its agent has not shown that it is its own or was given to it.",
				Resolution:  schemas.ResolutionResolved, ResolutionDetails: "left_out",
			})
		}
	}
	return told
}

// resolution says whether asking the supervisor again can help.
func resolution(kind schemas.FailureKind) schemas.Resolution {
	switch kind {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureCrashed, schemas.FailureUnavailable,
		schemas.FailureMalformed:
		return schemas.ResolutionDeferred
	case schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureInvalidResult, schemas.FailureBlocked,
		schemas.FailureArguments, schemas.FailureUnknownEffect:
	}
	return schemas.ResolutionEscalated
}
