package session

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// A judgement is what a judge is told about a run, beside its results.
type judgement struct {
	Occasion   schemas.Occasion      `json:"occasion"`
	Round      int                   `json:"round"` // the attempt at the request; 1 is the plan that the run has begun with
	RoundsLeft *int                  `json:"rounds_left,omitzero"`
	StepsLeft  int                   `json:"steps_left"`
	Conditions []plan.ConditionValue `json:"conditions,omitzero"`
	Tasks      []judgedTask          `json:"tasks"`
}

// A judgedTask is a task of the run as a judge sees it.
type judgedTask struct {
	Task        string             `json:"task"`
	Description string             `json:"description"`
	Arguments   jsontext.Value     `json:"arguments,omitzero"`
	Agent       string             `json:"agent,omitzero"`
	State       workflow.TaskState `json:"state"`
	Failure     *judgedFailure     `json:"failure,omitzero"`
}

type judgedFailure struct {
	Cause    schemas.FailureKind     `json:"cause"`
	Category schemas.FailureCategory `json:"category,omitzero"`
	Detail   string                  `json:"detail,omitzero"`
	Attempts int                     `json:"attempts"`
}

// judgement tells a judge how the run stands: what was done, what has failed and why, and what is still planned (C-08).
func (env *Env) judgement(run *workflow.Run, asked *workflow.Task) *judgement {
	told := &judgement{
		Occasion: schemas.OccasionOf(asked.ID), Round: run.Attempts(), StepsLeft: max(env.Pinned.StepLimit()-run.Steps(), 0),
		Conditions: env.Pinned.Conditions(run, env.Read), Tasks: []judgedTask{},
	}
	if most := env.Pinned.Replan.Attempts; most > 0 {
		left := max(most-run.Attempts(), 0)
		told.RoundsLeft = &left
	}
	for _, task := range run.Tasks {
		if task.Replaced && !task.Worked() {
			continue // it was never begun, and never will be
		}
		judged := judgedTask{
			Task: task.ID, Description: env.text(task.Plan.Description), Arguments: env.Pinned.Arguments(task, run.Inquiry(int(task.Approval))), Agent: cmp.Or(task.Agent, task.Plan.Agent), State: task.State,
		}
		if failure := task.LastFailure; failure != nil && task.State != workflow.TaskCompleted {
			judged.Failure = &judgedFailure{Cause: failure.Cause, Category: failure.Category, Detail: failure.Detail, Attempts: task.Attempt}
		}
		told.Tasks = append(told.Tasks, judged)
	}
	return told
}

// everyResult are the results of a run, those of what has failed by a verdict among them. Where there is too little room the oldest are cut.
func (env *Env) everyResult(run *workflow.Run) map[string]schemas.TaskInput {
	scope := contextBudget{room: cmp.Or(env.Pinned.Execution.ContextLimit, schemas.DefaultContextLimit)}
	for _, task := range slices.Backward(run.Tasks) {
		status := schemas.ResponseStatus("")
		switch {
		case task.State == workflow.TaskFailed && task.Failure().Cause == schemas.FailureVerdict:
			status = schemas.StatusFailed
		case task.State != workflow.TaskCompleted:
			continue
		case task.Partial:
			status = schemas.StatusPartial
		}
		scope.add(task.ID, func() schemas.TaskInput {
			return schemas.TaskInput{Result: env.content(task.Result), Status: status}
		})
	}
	return scope.inputs
}

// planOf is the plan that a task is a step of, for its agent (C-04); nil where no judge may change it. An agent whose answers may be used
// again is not told it: they would be answers to that.
func (env *Env) planOf(run *workflow.Run, asked *workflow.Task) *schemas.PlanContext {
	replan := env.Pinned.Replan
	if replan == nil || replan.After != schemas.OccasionStep || env.Pinned.Reuses(asked.Agent) {
		return nil
	}
	told := &schemas.PlanContext{}
	for _, task := range run.Tasks {
		if task.Replaced {
			continue
		}
		told.Steps = append(told.Steps, env.text(task.Plan.Description))
		if task.ID == asked.ID {
			told.Current = len(told.Steps)
		}
	}
	return told
}
