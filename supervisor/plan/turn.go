package plan

import (
	"strconv"
	"time"

	"podium/schemas"
	"podium/supervisor/route"
)

// A Turn is one decision about a run. Every fact goes through Emit, which
// applies it to the run before it returns.
type Turn struct {
	Session string
	Shard   int
	Run     *Run
	Profile *Profile
	Now     time.Time
	Emit    func(schemas.Fact)
}

// Begin plans the run from the person's words, routes every task and
// dispatches what is ready (O-21: complexity before routing).
func (t *Turn) Begin(text string) {
	steps := t.decompose(text)
	t.Emit(schemas.Fact{PlanCreated: &schemas.PlanCreated{Run: t.Run.Number, Tasks: t.planned(text, steps)}})
	for i, step := range steps {
		t.route(t.Run.Tasks[i].ID, step.Text)
	}
	t.advance()
}

func (t *Turn) decompose(text string) []route.Step {
	whole := []route.Step{{Text: text, End: len(text)}}
	if t.Profile.Complexity == nil || t.Profile.Execution.Mode != schemas.ExecutionSequence {
		return whole
	}
	complexity := t.Profile.router.Assess(text)
	t.Emit(schemas.Fact{ComplexityAssessed: &schemas.ComplexityAssessed{Run: t.Run.Number, Complexity: complexity}})
	if !complexity.Complex {
		return whole
	}
	if steps := t.Profile.router.Steps(text); len(steps) > 0 {
		return steps
	}
	return whole
}

func (t *Turn) planned(text string, steps []route.Step) []schemas.PlannedTask {
	tasks := make([]schemas.PlannedTask, len(steps))
	for i, s := range steps {
		tasks[i] = schemas.PlannedTask{Task: "t" + strconv.Itoa(i+1), Description: t.describe(text, s)}
		if i > 0 {
			tasks[i].Dependencies = []string{tasks[i-1].Task}
		}
	}
	return tasks
}

// describe keeps a step's words in place when they are small, else points at
// them in the message.
func (t *Turn) describe(text string, s route.Step) schemas.Body {
	if s.End-s.Start == len(text) {
		return t.Run.Message.Words
	}
	if len(s.Text) <= schemas.InlineLimit {
		return schemas.Body{Result: schemas.Result{Text: s.Text}}
	}
	return schemas.Body{Sequence: t.Run.Message.Sequence, Offset: s.Start, Size: s.End - s.Start}
}

func (t *Turn) route(task, text string) {
	decision, decided := t.Profile.router.Decide(text, t.Run.Task(task).Agent)
	if !decided {
		decision.NextAgent = ""
	}
	t.Emit(schemas.Fact{TaskRouted: &schemas.TaskRouted{Run: t.Run.Number, Task: task, Decision: decision}})
	if !decided {
		t.Emit(schemas.Fact{TaskFailed: &schemas.TaskFailed{Run: t.Run.Number, Task: task, Cause: schemas.FailureNoRoute}})
	}
}

// advance does what has become possible: skip what can never begin, dispatch
// what is ready, settle when nothing is left.
func (t *Turn) advance() {
	if t.Run.Phase == PhaseAssembling || t.Run.Phase == PhaseComplete {
		return
	}
	left := false
	for i := range t.Run.Tasks {
		task := &t.Run.Tasks[i]
		if task.State == TaskPending {
			t.begin(task)
		}
		left = left || !task.State.Ended()
	}
	if !left {
		t.settle()
	}
}

func (t *Turn) begin(task *Task) {
	for _, id := range task.Dependencies {
		dependency := t.Run.Task(id)
		if dependency == nil || !dependency.State.Ended() {
			return
		}
		if dependency.State != TaskCompleted {
			t.Emit(schemas.Fact{TaskSkipped: &schemas.TaskSkipped{
				Run: t.Run.Number, Task: task.ID, Reason: "dependency " + string(dependency.State),
			}})
			return
		}
	}
	t.dispatch(task.ID, task.Agent, task.Attempt+1)
}

func (t *Turn) dispatch(task, agent string, attempt int) {
	run := schemas.RunID(t.Session, t.Run.Number)
	queue := t.Now.Add(time.Duration(t.Profile.Deadlines.Queue))
	t.Emit(schemas.Fact{TaskDispatched: &schemas.TaskDispatched{
		Run: t.Run.Number, Task: task, Agent: agent, Attempt: attempt,
		Request: schemas.RequestID(t.Shard, run, task, attempt),
		Effect:  schemas.EffectID(run, task),
		Queue:   queue,
		Expires: queue.Add(t.Profile.workDeadline(agent)),
	}})
}
