package session

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// A judgement is what a judge is told about a run, beside its results.
type judgement struct {
	Occasion   schemas.Occasion      `json:"occasion"`
	Round      int                   `json:"round"` // the attempt at the request; 1 is the plan that the run has begun with
	RoundsLeft *int                  `json:"rounds_left,omitzero"`
	StepsLeft  int                   `json:"steps_left"`
	Conditions []plan.ConditionValue `json:"conditions,omitzero"`
	Tasks      []judgedTask          `json:"tasks"`
	// Issues are what the review has found that nobody is responsible for. Deliverables are what the run has made, one of a path, and Merges
	// the paths of which there are several.
	Issues       []schemas.ReviewIssue `json:"issues,omitzero"`
	Deliverables []schemas.Deliverable `json:"deliverables,omitzero"`
	Merges       []mergedPath          `json:"merges,omitzero"`
}

// A mergedPath is a path of which there are several versions, as whoever merges them is told it. The bytes are in the attachments.
type mergedPath struct {
	Path     string                `json:"path"`
	Base     string                `json:"base,omitzero"` // SHA-256 of what all of them were made from
	Versions []schemas.Deliverable `json:"versions"`
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
		Occasion: asked.Occasion(), Round: run.Attempts(), StepsLeft: max(env.Pinned.StepLimit()-run.Steps(), 0),
		Conditions: env.Pinned.Conditions(run, env.Read), Tasks: []judgedTask{},
	}
	env.tellReview(told, run)
	if replan := env.Pinned.Replan; replan != nil && replan.Attempts > 0 && told.RoundsLeft == nil {
		left := max(replan.Attempts-run.Attempts(), 0)
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
			judged.Failure = &judgedFailure{Cause: failure.Cause, Category: failure.Category, Detail: say.Failure(say.English(), failure), Attempts: task.Attempt}
		}
		told.Tasks = append(told.Tasks, judged)
	}
	return told
}

// tellReview tells whoever is asked for a review, or after it, what there is to look at.
func (env *Env) tellReview(told *judgement, run *workflow.Run) {
	switch told.Occasion {
	case schemas.OccasionReview:
		left := 0
		if !run.Review.Forced {
			left = max(env.Pinned.Review.Rounds+1-run.Review.Round, 0)
		}
		told.Round, told.RoundsLeft, told.Deliverables = run.Review.Round, &left, env.standingDeliverables(run)
	case schemas.OccasionSummary:
		told.Deliverables = env.standingDeliverables(run)
	case schemas.OccasionMerge:
		told.Round = run.Review.Round
		for _, file := range review.Files(run) {
			if !file.Conflicts() {
				continue
			}
			merged := mergedPath{Path: file.Path, Base: file.Base}
			for i := range file.Heads {
				merged.Versions = append(merged.Versions, madeBy(&file.Heads[i]))
			}
			told.Merges = append(told.Merges, merged)
		}
	case schemas.OccasionFailure:
		if run.Phase == workflow.PhaseReviewing {
			told.Issues = say.Issues(say.English(), run.Review.Issues)
		}
	case schemas.OccasionStep, schemas.OccasionPerson, schemas.OccasionFix:
	}
}

func madeBy(version *review.Version) schemas.Deliverable {
	made := version.Deliverable
	made.TaskID, made.Agent = cmp.Or(made.TaskID, version.Task), cmp.Or(made.Agent, version.Agent)
	return made
}

// standingDeliverables are what a run has made: of each path the version that stands (M-38), and what has no path.
func (env *Env) standingDeliverables(run *workflow.Run) []schemas.Deliverable {
	var made []schemas.Deliverable
	files := review.Files(run)
	for i := range files {
		for j := range files[i].Heads {
			made = append(made, madeBy(&files[i].Heads[j]))
		}
	}
	for _, task := range run.Tasks {
		if !review.Counts(task) || !review.Stands(run, task) {
			continue
		}
		for i := range task.Deliverables {
			if other := &task.Deliverables[i]; review.Path(other) == "" {
				made = append(made, madeBy(&review.Version{Task: task.ID, Agent: task.Agent, Deliverable: *other}))
			}
		}
	}
	return made
}

// addReviewed lists the files that a question of a review is about: those that were made, or those that are to be merged with what they were made from.
func (l *attachmentList) addReviewed(run *workflow.Run, occasion schemas.Occasion) {
	add := func(task string, made *schemas.Deliverable) {
		if file, is := plan.DeliverableFile(made); is {
			l.add(task, file.Name, file.MediaType, file.Artifact)
		}
	}
	files := review.Files(run)
	for i := range files {
		if occasion == schemas.OccasionMerge && !files[i].Conflicts() {
			continue
		}
		for j := range files[i].Heads {
			add(files[i].Heads[j].Task, &files[i].Heads[j].Deliverable)
		}
		if base := files[i].Base; base != "" && files[i].Conflicts() {
			for task, made := range versions(run) {
				if file, is := plan.DeliverableFile(made); is && file.Artifact.SHA256 == base {
					add(task, made)
				}
			}
		}
	}
	if occasion == schemas.OccasionReview {
		for _, task := range run.Tasks {
			if review.Counts(task) && review.Stands(run, task) {
				l.addNamed(task)
			}
		}
	}
}

// versions are all deliverables of a run, those that were merged last.
func versions(run *workflow.Run) iter.Seq2[string, *schemas.Deliverable] {
	return func(yield func(string, *schemas.Deliverable) bool) {
		for _, task := range run.Tasks {
			for i := range task.Deliverables {
				if !yield(task.ID, &task.Deliverables[i]) {
					return
				}
			}
		}
		for i := range run.Merged {
			if !yield(run.Merged[i].Question, &run.Merged[i].Deliverable) {
				return
			}
		}
	}
}

// toMend are what a review has found that a task is to mend; nil where it mends nothing.
func toMend(run *workflow.Run, asked *workflow.Task) []schemas.ReviewIssue {
	if run.Review == nil || !review.IsFix(asked) || asked.Recovers() != "" {
		return nil
	}
	return say.Issues(say.English(), review.Of(run.Review.Issues, review.Root(asked)))
}

// failureOf is the failed task that has found what another one mends; nil where that mends nothing of the kind.
func failureOf(run *workflow.Run, asked *workflow.Task) *workflow.Task {
	if asked.Recovers() == "" {
		return nil
	}
	return run.Task(asked.Recovers())
}

// findingsOf is what a failed task has found: why it has failed, and what its agent has said beside that.
func findingsOf(failed *workflow.Task) string {
	failure := failed.Failure()
	said := cmp.Or(say.Failure(say.English(), &failure), string(failure.Cause))
	if failure.Findings != nil {
		said += "\n\n" + review.Lines(say.English(), review.Issues(failed.Agent, failure.Findings.ValidationResults))
	}
	return strings.TrimSpace(said)
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

// judges is what a judge is asked to do.
func judges(occasion schemas.Occasion) string {
	asks := "asks_evaluation"
	switch occasion {
	case schemas.OccasionReview:
		asks = "asks_review"
	case schemas.OccasionMerge:
		asks = "asks_merge"
	case schemas.OccasionSummary:
		asks = "asks_summary"
	case schemas.OccasionStep, schemas.OccasionFailure, schemas.OccasionPerson, schemas.OccasionFix:
	}
	return say.Sentence(say.English(), asks)
}
