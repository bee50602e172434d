package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"podium/schemas"
)

// judge is the agent that judges how runs go on, in worlds with judges.
const judge = "judge"

// judges are what a world has whose profiles have the plan judged.
type judges struct {
	rand  *rand.Rand
	asked int
}

func newJudges(seed uint64) *judges {
	return &judges{rand: source(seed, judgeStream)}
}

// declare says in profiles who judges, when and how often, and who checks what others have made.
func (j *judges) declare(sources []schemas.Profile) {
	if j == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		if once(j.rand, 6) {
			continue
		}
		p.Replan = &schemas.Replan{Agent: judge, After: pick(j.rand, schemas.OccasionStep, schemas.OccasionFailure, schemas.OccasionFailure), Attempts: pick(j.rand, 0, 0, 2, 4)}
		if p.Replan.After == schemas.OccasionStep || p.Execution.Mode == schemas.ExecutionSingle {
			p.Execution.Mode = schemas.ExecutionSequence
		}
		p.Execution.Steps = pick(j.rand, 0, 0, 6, 12)
		if once(j.rand, 4) {
			p.Replan.Conditions = []schemas.Condition{
				{Name: "known", Pointer: "/account_id"}, {Name: "enough", Pointer: "/enough", End: true}, {Name: "low", Constant: []byte(`true`)},
			}
		}
		for n := range p.Agents {
			if use := &p.Agents[n]; slices.Contains(workers[:], use.Name) && once(j.rand, 2) {
				use.Verdict = &schemas.Verdict{Pointer: "/valid", Detail: pick(j.rand, "", "/why")}
			}
		}
	}
}

// wrong has some results say that what their agent has looked at is not right, or that a condition holds.
func (j *judges) wrong(data []byte) []byte {
	if j == nil {
		return data
	}
	more := pick(j.rand, "", "", "", `,"valid":true`, `,"valid":false,"why":"it is not right"`, `,"valid":false`, `,"enough":true`)
	if strings.Contains(more, "enough") && !once(j.rand, 4) {
		more = ""
	}
	return fmt.Appendf(data[:len(data)-1], "%s}", more)
}

// toldTask is a task of the run as the judge is told it.
type toldTask struct {
	Task        string `json:"task"`
	Description string `json:"description"`
	Agent       string `json:"agent"`
	State       string `json:"state"`
}

// judgement is what a judge says. It may end the run, let it go on, change its plan, or be of no use.
func (j *judges) judgement(pr *pendingRequest) schemas.ResponsePayload {
	var told struct {
		StepsLeft *int       `json:"steps_left"`
		Tasks     []toldTask `json:"tasks"`
	}
	w := pr.agent.world
	w.must(schemas.Unmarshal(pr.task.Context.Arguments, &told))
	if told.StepsLeft == nil || len(told.Tasks) == 0 {
		w.violate(RequestsAreProper, "request %s: a judge is told %s", pr.event.ID, pr.task.Context.Arguments)
	}
	j.asked++
	payload := schemas.ResponsePayload{Status: schemas.StatusCompleted, PlanID: pr.request.Payload.PlanID, Result: &schemas.Result{}}
	checks := func(status string) {
		payload.ValidationResults = []schemas.ValidationResult{{Validator: judge, Status: status}}
		payload.Result = pick(j.rand, nil, &schemas.Result{Text: "see the checks"})
	}
	says := func(format string, arguments ...any) {
		payload.Result = &schemas.Result{Data: fmt.Appendf(nil, format, arguments...)}
		if once(j.rand, 3) {
			payload.Result = &schemas.Result{Text: "So:\n```json\n" + string(payload.Result.Data) + "\n```\n"}
		}
	}
	switch j.rand.IntN(16) {
	case 0, 1:
		says(`{"response":"that is all, no %d"}`, j.asked)
	case 2:
		checks(schemas.ValidationPassed)
	case 3:
		checks(pick(j.rand, schemas.ValidationFailed, schemas.ValidationPassed, schemas.ValidationPassed))
	case 4:
		says(`{"response":"both","steps":["look at alpha"]}`)
	case 5:
		payload.Result = j.nonsense()
	case 6: // all of it once more, and something new
		says(`{"steps":%s}`, j.steps(told.Tasks, func(toldTask) bool { return true }, pick(j.rand, "", "look at beta again")))
	case 7, 8: // what is not done
		says(`{"steps":%s}`, j.steps(told.Tasks, func(t toldTask) bool { return t.State != "completed" }, ""))
	case 9: // the id of a task for something else
		says(`{"tasks":[{"task_id":%q,"description":"another alpha","assigned_to":"alpha"}]}`, pick(j.rand, told.Tasks...).Task)
	case 10: // what cannot be carried out
		says(`{"tasks":[{"task_id":"a","description":"alpha","dependencies":[%q]}]}`, pick(j.rand, "nothing", "a", "judge:step:1"))
	default:
		says(`{"tasks":%s}`, j.tasks(told.Tasks))
	}
	return payload
}

// nonsenseOfJudges is what is of no use as a judgement, in worlds with judges and with those who look at what was made.
func (w *World) nonsenseOfJudges() *schemas.Result {
	if w.judges == nil {
		return w.reviews.nonsense()
	}
	return w.judges.nonsense()
}

func (j *judges) nonsense() *schemas.Result {
	return pick(j.rand, nil, &schemas.Result{Text: "hm"}, &schemas.Result{Data: []byte(`{"steps":[7]}`)}, &schemas.Result{Data: []byte(`[]`)}, &schemas.Result{Text: `{"response":`})
}

func (j *judges) steps(told []toldTask, takes func(toldTask) bool, more string) []byte {
	steps := []string{}
	for i, t := range told {
		if takes(t) {
			steps = append(steps, pick(j.rand, t.Description, fmt.Sprintf("%d. %s", i+1, t.Description)))
		}
	}
	if more != "" {
		steps = append(steps, more)
	}
	body, err := schemas.Marshal(steps)
	if err != nil {
		panic(err) // a list of words can be written
	}
	return body
}

// tasks are some that the run has, and one or two that are new, by ids that an earlier change may have used.
func (j *judges) tasks(told []toldTask) []byte {
	var tasks []schemas.Task
	add := func(task schemas.Task) {
		task.Priority = schemas.PriorityMedium
		tasks = append(tasks, task)
	}
	for _, t := range told {
		if t.State == "pending" && once(j.rand, 2) || once(j.rand, 6) {
			add(schemas.Task{TaskID: t.Task, Description: t.Description})
		}
	}
	for n := range 1 + j.rand.IntN(2) {
		task := schemas.Task{TaskID: string(rune('a' + n)), Description: fmt.Sprintf("once more %d with alpha", j.rand.IntN(3)), AssignedTo: pick(j.rand, alpha, beta, gamma, "")}
		if len(tasks) > 0 && once(j.rand, 2) {
			task.Dependencies = []string{pick(j.rand, tasks...).TaskID}
		}
		add(task)
	}
	body, err := schemas.Marshal(tasks)
	if err != nil {
		panic(err) // tasks can be written
	}
	return body
}

// The invariants of judges, and of plans that change.
const (
	IdsOnce        = "no id of a task or of a question is used twice in a run, and no effect is that of two"
	JudgesHoldBack = "while a judge is asked, neither a grant nor a retry sends a task of the plan to its agent"
)

// judged reports whether a judge is being asked.
func (r *run) judged() bool {
	return slices.ContainsFunc(r.aside, func(t *task) bool { return occasionOf(t.id) != "" && !t.state.ended() })
}

func (t *task) waitsForJudge() bool { return t.planned != nil && t.run.judged() }

func judgesHoldBack(o *oracle, m *moment) {
	f := schemas.As[*schemas.TaskDispatched](m.fact)
	retried := m.cause.Deadline != nil && m.cause.Deadline.Kind == schemas.DeadlineRetry
	if f == nil || m.task == nil || !m.task.waitsForJudge() || m.cause.Grant == nil && !retried {
		return
	}
	o.world.violate(JudgesHoldBack, "%s: attempt %d while a judge is asked", m.id, f.Attempt)
}

func idsComeOnce(o *oracle, m *moment) {
	once := func(tasks []schemas.PlannedTask) {
		for i := range tasks {
			if m.run.ids[tasks[i].Task] || m.run.task(tasks[i].Task) != nil {
				o.world.violate(IdsOnce, "%s: %s names task %s, which there is", m.id, m.fact.Name(), tasks[i].Task)
			}
		}
	}
	switch f := m.fact.(type) {
	case *schemas.PlanCreated:
		once(f.Tasks)
	case *schemas.PlanChanged:
		once(f.Tasks)
	case *schemas.TaskDispatched:
		if other, known := m.run.effects[f.Effect]; known && other != f.Task {
			o.world.violate(IdsOnce, "%s: effect %s is that of %s", m.id, f.Effect, other)
		}
		if m.task != nil && occasionOf(f.Task) != "" && m.task.state.ended() {
			o.world.violate(IdsOnce, "%s: the question was answered", m.id)
		}
	default:
	}
}

// asksJudge has those stand in line again who are ready when a judge has answered.
func (o *oracle) asksJudge(m *moment) {
	if m.task == nil || occasionOf(m.task.id) == "" || !m.task.state.ended() {
		return
	}
	for _, t := range m.run.tasks {
		if t.state == taskReady {
			t.ready = m.at
		}
	}
}
