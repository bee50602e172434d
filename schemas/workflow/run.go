package workflow

import (
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// Phase is how far a run is (P-12).
type Phase string

// The phases.
const (
	PhaseDecomposing Phase = "decomposing" // no plan yet
	PhaseRouting     Phase = "routing"     // a plan, not every task has an agent
	PhaseExecuting   Phase = "executing"   // tasks are under way
	PhaseReviewing   Phase = "reviewing"   // all is done, and is looked at
	PhaseAssembling  Phase = "assembling"  // the outcome is fixed, the answer is being delivered
	PhaseComplete    Phase = "complete"
)

// A Run is all that is known about one piece of work: the fold of its facts.
type Run struct {
	Number        int                  `json:"number"`
	Profile       string               `json:"profile"`
	ProfileHash   string               `json:"profile_hash"`
	Message       schemas.Incoming     `json:"message"`
	Expires       time.Time            `json:"expires,omitzero"`
	Entities      map[string]string    `json:"entities,omitzero"`
	Phase         Phase                `json:"phase"`
	Source        schemas.PlannerKind  `json:"source,omitzero"`
	Planned       time.Time            `json:"planned,omitzero"`
	Changes       int                  `json:"changes,omitzero"`        // the number of the newest change of the plan
	Replans       int                  `json:"replans,omitzero"`        // how often the plan was changed, but by reviews
	Review        *Review              `json:"review,omitzero"`         // the newest; replaced, never changed in place
	Merged        []Merged             `json:"merged,omitzero"`         // oldest first; never changed in place
	PlanFaults    []schemas.Reason     `json:"plan_faults,omitzero"`    // of the newest plan that was refused
	Tasks         []*Task              `json:"tasks,omitzero"`          // replaced, never changed in place
	DecisionTasks []*Task              `json:"decision_tasks,omitzero"` // what deciding itself asks agents: for plans, routes and assessments
	Delivery      *Task                `json:"delivery,omitzero"`
	Resting       time.Time            `json:"resting,omitzero"`   // since when a person has been asked; its own end does not count meanwhile
	Inquiries     []*Inquiry           `json:"inquiries,omitzero"` // all of the run, in the order of their numbers; replaced, never changed in place
	Account       *Account             `json:"account,omitzero"`   // nil where the profile has no budget
	Status        schemas.RunStatus    `json:"status,omitzero"`
	Reason        schemas.StopReason   `json:"reason,omitzero"`
	Answer        []schemas.AnswerPart `json:"answer,omitzero"`
	Notes         string               `json:"notes,omitzero"`   // what is told below the answer
	Summary       string               `json:"summary,omitzero"` // what is told instead of the words of the answer's parts
	Error         *schemas.Error       `json:"error,omitzero"`
	Reopened      bool                 `json:"reopened,omitzero"` // it had ended, and its answer is delivered after all

	index map[string]int // of a large plan's tasks; nil when it has not been made
}

// Task returns the task with that id, those outside of the plan included, or nil.
func (r *Run) Task(id string) *Task {
	if id == schemas.DeliveryTask {
		return r.Delivery
	}
	if place := placeOf(r, id); place != nil {
		return *place
	}
	return nil
}

// placeOf returns where a task of the plan or of deciding stands, or nil.
func placeOf(r *Run, id string) **Task {
	if i, known := r.index[id]; known {
		return &r.Tasks[i]
	}
	for _, tasks := range [...][]*Task{r.Tasks, r.DecisionTasks} {
		for i := range tasks {
			if tasks[i].ID == id {
				return &tasks[i]
			}
		}
	}
	return nil
}

// changeTask returns the task of that id to be changed, as changeAt does; nil when there is none.
func changeTask(r *Run, id string) *Task {
	place := &r.Delivery
	if id != schemas.DeliveryTask {
		place = placeOf(r, id)
	}
	if place == nil || *place == nil {
		return nil
	}
	return changeAt(place)
}

// changeAt returns a copy of a task that has taken its place, so that the run may share its
// tasks with its clones.
func changeAt(place **Task) *Task {
	changed := **place
	*place = &changed
	return &changed
}

// After returns the task as it is once an event about it has been applied at now. The task itself is left as it is.
func (t *Task) After(f schemas.Fact, now time.Time) *Task {
	changed := *t
	changed.apply(f, now)
	return &changed
}

// TaskCount counts every task: those of the plan, and the others. No run has none.
func (r *Run) TaskCount() int {
	if r == nil {
		return 0
	}
	count := len(r.Tasks) + len(r.DecisionTasks)
	if r.Delivery != nil {
		count++
	}
	return count
}

// TaskAt returns a task: those of the plan in order are first, then come the others, and the delivery is last.
func (r *Run) TaskAt(i int) *Task {
	switch planned := len(r.Tasks); {
	case i < planned:
		return r.Tasks[i]
	case i < planned+len(r.DecisionTasks):
		return r.DecisionTasks[i-planned]
	}
	return r.Delivery
}

// All yields every task, in the order of TaskAt.
func (r *Run) All(yield func(*Task) bool) {
	for i := range r.TaskCount() {
		if !yield(r.TaskAt(i)) {
			return
		}
	}
}

// Settled reports whether the outcome of the work is fixed.
func (r *Run) Settled() bool { return r.Phase == PhaseAssembling || r.Phase == PhaseComplete }

// Progress is int(completed ÷ total × 100) of the tasks of the plan, 0 without any (M-33). Those that another plan has
// replaced are none of them.
func (r *Run) Progress() int {
	completed, total := 0, 0
	for _, task := range r.Tasks {
		if task.Replaced {
			continue
		}
		total++
		if task.State == TaskCompleted {
			completed++
		}
	}
	if total == 0 {
		return 0
	}
	return completed * 100 / total
}

// Attempts counts the attempts at the request: the plan that the run has begun with is the first, and each change is one more (C-12).
func (r *Run) Attempts() int {
	return 1 + r.Replans
}

// Iteration counts how often the work of the run has begun: each change of the plan and each round of review is one more.
func (r *Run) Iteration() int {
	iteration := r.Attempts()
	if r.Review != nil {
		iteration += r.Review.Round
	}
	return iteration
}

// Steps counts the steps of the run, begun or over: plans, tasks and judgements that agents were asked for, retries not counted (C-11).
func (r *Run) Steps() int {
	steps := 0
	if fault.Is("steps begin anew with each change") && r.Replans > 0 {
		return 0
	}
	for _, question := range r.DecisionTasks {
		if question.Kind == schemas.TaskKindPlan || question.Kind.AsksEvaluator() {
			steps++
		}
	}
	for _, task := range r.Tasks {
		if task.Worked() && !task.endedByRouting() || !task.State.Ended() && task.State != TaskPending {
			steps++
		}
	}
	return steps
}

// Judge returns the judge that is being asked, or nil.
func (r *Run) Judge() *Task {
	for _, question := range r.DecisionTasks {
		if question.Kind.AsksEvaluator() && !question.State.Ended() {
			return question
		}
	}
	return nil
}

// HoldsBack reports whether a task waits for a judge, and neither a grant nor its next attempt is for it now: the judge may have something
// else done in its place.
func (r *Run) HoldsBack(task *Task) bool { return task.Plan != nil && r.Judge() != nil }

// Judges counts the judges of an occasion that were asked.
func (r *Run) Judges(occasion schemas.Occasion) int {
	asked := 0
	for _, question := range r.DecisionTasks {
		if question.Occasion() == occasion {
			asked++
		}
	}
	return asked
}

// Clone returns a copy that shares nothing which Apply changes.
func (r *Run) Clone() *Run {
	clone := *r
	clone.Tasks = append([]*Task(nil), r.Tasks...)
	clone.DecisionTasks = append([]*Task(nil), r.DecisionTasks...)
	clone.Inquiries = append([]*Inquiry(nil), r.Inquiries...)
	return &clone
}

// Deadlines returns what the run waits for: its own end, which of several at one
// moment comes first, and what its tasks wait for, in their order.
func (r *Run) Deadlines() []schemas.Deadline {
	var deadlines []schemas.Deadline
	if !r.Expires.IsZero() && !r.Settled() && !r.Rests() {
		deadlines = append(deadlines, schemas.Deadline{Run: r.Number, Kind: schemas.DeadlineRun, At: r.Expires})
	}
	judged := r.Judge() != nil && !fault.Is("a retry does not wait for the judge")
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		if judged && task.Plan != nil && task.State == TaskWaiting {
			continue // see HoldsBack
		}
		deadlines = task.deadlines(deadlines, r.Number)
	}
	for _, inquiry := range r.Inquiries {
		deadlines = inquiry.deadlines(deadlines, r.Number)
	}
	return deadlines
}
