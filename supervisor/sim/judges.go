package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/sim/reviewers"
)

// judge is the agent that judges how runs go on, in worlds with judges.
const judge = "judge"

// judgeStream is a source of its own for judges, so that worlds without them are as they were.
const judgeStream = 0x6a7564676573

// judges are what a world has whose profiles have the plan judged.
type judges struct {
	rand  *rand.Rand
	asked int
}

func newJudges(seed uint64) *judges {
	return &judges{rand: rand.New(rand.NewPCG(seed, judgeStream))} //nolint:gosec // a simulation repeats
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
		return w.reviews.Nonsense()
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
	IdsOnce           = "no id of a task or of a question is used twice in a run, and no effect is that of two"
	PhasesLegal       = "a run has its plan first, then its agents, then its work, then its outcome, and then its end"
	ChangesSound      = "a change of the plan replaces what has not begun and nothing else, keeps what it names, and what it replaces counts nowhere"
	StepsAndRoundsEnd = "a run whose plan is judged takes no more steps, and changes its plan no more often, than its profile allows"
	JudgesHoldBack    = "while a judge is asked, neither a grant nor a retry sends a task of the plan to its agent"
)

type runPhase int

const (
	phaseDecomposing runPhase = iota
	phaseRouting
	phaseExecuting
	phaseReviewing
	phaseAssembling
	phaseComplete
)

// judging is what the oracle knows of how the plan of a run was judged.
type judging struct {
	phase     runPhase
	ids       map[string]bool
	effects   map[string]string // by effect: the task
	facts     int
	newest    *schemas.Judged
	judgedBy  *schemas.Cause // of newest
	changes   int
	changed   *schemas.Cause // of the newest change
	cancelled []string       // tasks, by the cause of that
	replaced  bool           // a task was skipped for another plan, which is not there yet
}

// judgedTask is what it knows of a task.
type judgedTask struct {
	routed   bool
	replaced bool
	unrouted bool // nobody was found to do it
	forgone  bool // a judge has said that the run goes on without it
	limited  bool // there was no step left for it
	verdict  bool // it has failed because what was looked at is not right, and has a result
	ended    int  // the fact of the run by which it has failed; 0 is none
	asked    int  // the fact by which a question was put the last time
}

// judged reports whether a judge is being asked.
func (r *run) judged() bool {
	return slices.ContainsFunc(r.aside, func(t *task) bool { return reviewers.OccasionOf(t.id) != "" && !t.state.ended() })
}

func (t *task) waitsForJudge() bool { return t.planned != nil && t.run.judged() }

// unbegun reports whether no agent and nobody else was asked to do a task of the plan.
func (t *task) unbegun() bool {
	return t.state == taskPending || t.state == taskReady && t.attempts == 0
}

func (r *run) stepwise() bool {
	return r.profile.Replan != nil && r.profile.Replan.After == schemas.OccasionStep
}

// responded reports whether the words of a judge are the answer that was settled.
func (r *run) responded(f *schemas.RunSettled) bool {
	newest := r.judging.newest
	return newest != nil && newest.Outcome == schemas.OutcomeResponse && newest.Occasion != schemas.OccasionSummary && f.Status == schemas.RunCompleted
}

// answerOf is of which tasks the answer is: of the judge that has ended the run, or of the last step where each is judged.
func (r *run) answerOf(f *schemas.RunSettled, completed []string) []string {
	switch {
	case r.responded(f):
		return []string{r.judging.newest.Question}
	case r.stepwise() && f.Status == schemas.RunCompleted && len(completed) > 1:
		return completed[len(completed)-1:]
	}
	return completed
}

func (o *oracle) phasesAreLegal(m *moment) {
	phase := m.run.judging.phase
	legal := true
	switch f := m.fact.(type) {
	case *schemas.PlanCreated:
		legal = phase == phaseDecomposing
	case *schemas.PlanRefused:
		legal = phase < phaseAssembling && !slices.ContainsFunc(m.run.tasks, func(t *task) bool { return t.attempts > 0 })
	case *schemas.PlanChanged:
		legal = phase == phaseExecuting || phase == phaseReviewing || phase == phaseRouting && f.Source == schemas.OccasionFix // others have begun
	case *schemas.ReviewBegan:
		legal = phase == phaseExecuting
	case *schemas.TaskReady, *schemas.TaskDispatched:
		legal = m.task == nil || m.task.planned == nil || m.task.state != taskPending || phase == phaseExecuting
	case *schemas.RunSettled:
		legal = phase < phaseAssembling
	case *schemas.RunEnded:
		legal = phase == phaseAssembling
	case *schemas.Judged:
		legal = phase == phaseRouting || phase == phaseExecuting || phase == phaseReviewing
	default:
		_ = f
	}
	if !legal {
		o.world.violate(PhasesLegal, "%s: %s in phase %d", m.id, m.fact.Name(), phase)
	}
}

func (o *oracle) idsComeOnce(m *moment) {
	j := &m.run.judging
	once := func(tasks []schemas.PlannedTask) {
		for i := range tasks {
			if j.ids[tasks[i].Task] || m.run.task(tasks[i].Task) != nil {
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
		if other, known := j.effects[f.Effect]; known && other != f.Task {
			o.world.violate(IdsOnce, "%s: effect %s is that of %s", m.id, f.Effect, other)
		}
		if m.task != nil && reviewers.OccasionOf(f.Task) != "" && m.task.state.ended() {
			o.world.violate(IdsOnce, "%s: the question was answered", m.id)
		}
	default:
	}
}

func (o *oracle) changesAreSound(m *moment) {
	j := &m.run.judging
	if m.cause != j.changed {
		for _, id := range j.cancelled {
			o.world.violate(ChangesSound, "%s: task %s was cancelled for another plan", m.id, id)
		}
		j.cancelled = nil
	}
	switch f := m.fact.(type) {
	case *schemas.TaskSkipped:
		if m.task != nil && f.Reason == schemas.SkippedReplanned && !m.task.unbegun() {
			o.world.violate(ChangesSound, "%s: it has begun, and another plan takes its place", m.id)
		}
		if m.task != nil && f.Reason == schemas.SkippedForgone && !m.forgone() && (m.task.state != taskFailed || j.judgedBy != m.cause || j.newest.Outcome != schemas.OutcomePassed) {
			o.world.violate(ChangesSound, "%s: no judge has let the run go on without it", m.id)
		}
	case *schemas.TaskCancelled:
		if m.task != nil && m.task.planned != nil && j.changed == m.cause {
			j.cancelled = append(j.cancelled, m.task.id)
		}
	case *schemas.PlanChanged:
		o.changeIsSound(m, f)
	case *schemas.RunSettled:
		j.cancelled = nil // with the run
		o.replacedIsNotTold(m, f)
	default:
	}
}

func (o *oracle) changeIsSound(m *moment, f *schemas.PlanChanged) {
	j := &m.run.judging
	if j.phase == phaseReviewing {
		o.returnsToWork(m, f)
	}
	if f.Source == schemas.OccasionReview {
		o.fixesAreSound(m, f)
		return
	}
	if f.Source == schemas.OccasionPerson {
		o.insteadIsSound(m, f)
		return
	}
	if f.Source == schemas.OccasionFix {
		o.mendsAreSound(m, f)
		return
	}
	if j.newest == nil || j.judgedBy != m.cause || j.newest.Outcome != schemas.OutcomePlan || j.newest.Occasion != f.Source {
		o.world.violate(ChangesSound, "%s: no judge has said so", m.id)
		return
	}
	var told []string
	question := m.run.task(j.newest.Question)
	for _, t := range m.run.tasks {
		switch {
		case t.state == taskFailed && !t.judged.replaced && question != nil && t.judged.ended < question.judged.asked:
			told = append(told, t.id)
		case t.unbegun() && !slices.Contains(f.Kept, t.id):
			o.world.violate(ChangesSound, "%s: task %s is neither kept nor replaced", m.id, t.id)
		}
	}
	if !slices.Equal(told, f.Replaces) {
		o.world.violate(ChangesSound, "%s: it replaces %v, and its judge was told of %v", m.id, f.Replaces, told)
	}
	for _, id := range f.Kept {
		if t := m.run.task(id); t == nil || t.planned == nil || !t.unbegun() {
			o.world.violate(ChangesSound, "%s: task %s is not kept", m.id, id)
		}
	}
}

// mendsAreSound: what a task has found by failing is mended by one task for each that is blamed for it, and nothing is replaced for that.
func (o *oracle) mendsAreSound(m *moment, f *schemas.PlanChanged) {
	at := slices.IndexFunc(m.run.tasks, func(t *task) bool {
		return t.recovering.by == m.cause && t.recovering.blocked && t.recovering.failed.Recovering == schemas.WayFix && len(f.Tasks) > 0 && f.Tasks[0].Options().Recovers == t.id
	})
	if at < 0 || len(f.Replaces) > 0 || len(f.Kept) > 0 {
		o.world.violate(ChangesSound, "%s: nothing has failed that is mended, or it replaces %v or keeps %v", m.id, f.Replaces, f.Kept)
		return
	}
	failed := m.run.tasks[at]
	var mended, roots []string
	for i := range f.Tasks {
		mended = append(mended, f.Tasks[i].Options().Fixes)
	}
	for _, t := range m.run.blamed(failed, failed.recovering.failed) {
		roots = append(roots, t.root())
	}
	if !slices.Equal(mended, roots) {
		o.world.violate(ChangesSound, "%s: %v are mended for %s, and it builds on %v", m.id, mended, failed.id, roots)
	}
}

// replacedIsNotTold: the outcome of a run is not told by what another plan has replaced.
func (o *oracle) replacedIsNotTold(m *moment, f *schemas.RunSettled) {
	if m.run.judging.replaced {
		o.world.violate(ChangesSound, "%s: tasks were skipped for another plan, and there is none", m.id)
	}
	if m.run.profile.Replan == nil && m.run.profile.Review == nil {
		return
	}
	byFailure := []schemas.StopReason{
		schemas.StopTaskFailed, schemas.StopTimeout, schemas.StopNoRoute, schemas.StopUnavailable, schemas.StopBlocked, schemas.StopRejected, schemas.StopUnapproved,
	}
	if !slices.Contains(byFailure, f.Reason) {
		return
	}
	counts := func(t *task) bool {
		return (t.state == taskFailed || t.state == taskSkipped) && !t.judged.replaced && !t.mends()
	}
	newest := m.run.judging.newest
	failed := newest != nil && newest.Outcome == schemas.OutcomeFailed && m.run.judging.judgedBy == m.cause
	if !failed && !slices.ContainsFunc(m.run.tasks, counts) {
		o.world.violate(ChangesSound, "%s: %s (%s), and all that has failed was replaced", m.id, f.Status, f.Reason)
	}
}

func (o *oracle) judgesHoldBack(m *moment) {
	f := schemas.As[*schemas.TaskDispatched](m.fact)
	retried := m.cause.Deadline != nil && m.cause.Deadline.Kind == schemas.DeadlineRetry
	if f == nil || m.task == nil || !m.task.waitsForJudge() || m.cause.Grant == nil && !retried {
		return
	}
	o.world.violate(JudgesHoldBack, "%s: attempt %d while a judge is asked", m.id, f.Attempt)
}

// judges folds what the invariants of judges go by, after a fact.
func (o *oracle) judges(m *moment) {
	j := &m.run.judging
	j.facts++
	switch f := m.fact.(type) {
	case *schemas.PlanCreated:
		j.phase, j.ids = phaseRouting, map[string]bool{}
		m.run.knows(f.Tasks)
	case *schemas.PlanRefused:
		j.phase, j.ids = phaseDecomposing, nil
	case *schemas.PlanChanged:
		o.change(m, f)
	case *schemas.Judged:
		j.newest, j.judgedBy = f, m.cause
	case *schemas.ReviewBegan:
		j.phase = phaseReviewing
	case *schemas.RunSettled:
		j.phase = phaseAssembling
	case *schemas.RunEnded:
		j.phase = phaseComplete
	case *schemas.DeliveryReopened:
		j.phase = phaseAssembling
	case *schemas.TaskRouted:
		if m.task != nil {
			m.task.judged.routed = true
		}
	case *schemas.TaskReady, *schemas.TaskDispatched:
		o.asksJudge(m)
	case *schemas.TaskFailed:
		if m.task != nil {
			m.task.judged.unrouted = f.Cause == schemas.FailureNoRoute
		}
		if m.task != nil && m.task.state == taskFailed {
			m.task.judged.ended, m.task.judged.verdict = j.facts, f.Cause == schemas.FailureVerdict
		}
	case *schemas.TaskSkipped:
		if m.task != nil && f.Reason == schemas.SkippedReplanned {
			m.task.judged.replaced, j.replaced = true, true
		}
		if m.task != nil && f.Reason == schemas.SkippedForgone {
			m.task.judged.forgone = true
		}
		if m.task != nil && f.Reason == schemas.SkippedStepLimit {
			m.task.judged.limited = true
		}
	default:
	}
	if j.phase == phaseRouting && !slices.ContainsFunc(m.run.tasks, func(t *task) bool { return !t.judged.routed }) {
		j.phase = phaseExecuting
	}
	if m.task != nil && reviewers.OccasionOf(m.task.id) != "" && m.task.state.ended() {
		for _, t := range m.run.tasks {
			if t.state == taskReady {
				t.ready = m.at // it stands in line again from here on
			}
		}
	}
}

func (o *oracle) asksJudge(m *moment) {
	j := &m.run.judging
	if m.task == nil {
		return
	}
	m.task.judged.asked = j.facts
	if f := schemas.As[*schemas.TaskDispatched](m.fact); f != nil {
		if j.effects == nil {
			j.effects = map[string]string{}
		}
		j.effects[f.Effect] = f.Task
	}
}

func (o *oracle) change(m *moment, f *schemas.PlanChanged) {
	r := m.run
	r.judging.phase, r.judging.changed, r.judging.replaced = phaseRouting, m.cause, false
	if f.Source != schemas.OccasionReview && f.Source != schemas.OccasionPerson && f.Source != schemas.OccasionFix {
		r.judging.changes++
	}
	r.reviewing.over = nil
	for _, id := range f.Replaces {
		if t := r.task(id); t != nil {
			t.judged.replaced = true
		}
	}
	for i := range f.Tasks {
		r.tasks = append(r.tasks, &task{run: r, id: f.Tasks[i].Task, planned: &f.Tasks[i], agent: f.Tasks[i].Agent})
	}
	r.levels()
	r.knows(f.Tasks)
}

// knows takes new tasks of the plan.
func (r *run) knows(tasks []schemas.PlannedTask) {
	for i := range tasks {
		r.judging.ids[tasks[i].Task] = true
		if t := r.task(tasks[i].Task); t != nil {
			t.judged.routed = tasks[i].Routed
		}
	}
}

// stepsEnd: a plan, a task and a judgement are a step each, retries not counted, from when they begin; the plan that a run begins with is the
// first attempt at its request, and each change one more. What is there is looked at and told all the same.
func (o *oracle) stepsEnd(m *moment) {
	if replan := m.run.profile.Replan; replan != nil && replan.Attempts > 0 && 1+m.run.judging.changes > replan.Attempts {
		o.world.violate(StepsAndRoundsEnd, "%s: %d changes of the plan, and %d attempts at the request", m.id, m.run.judging.changes, replan.Attempts)
	}
	limit := m.run.profile.StepLimit()
	if steps := m.run.steps(); limit > 0 && steps > limit && m.run.judging.phase < phaseReviewing {
		o.world.violate(StepsAndRoundsEnd, "%s: step %d of %d", m.id, steps, limit)
	}
}
