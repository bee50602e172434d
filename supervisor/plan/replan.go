package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/pointer"
	"podium/schemas/workflow"
)

// A planChange is what a judge wants done instead of what was not begun.
type planChange struct {
	number   int
	added    []schemas.PlannedTask
	kept     []string // that were not begun, and stay
	repeated []string // that are done, and are left out
	same     bool     // the plan stays as it is
	replaces []string // the tasks that somebody has it done instead of
}

// change reads a plan of a judge as a change of the run's, or names all of its faults.
func change(v *View, said *Verdict) (*planChange, []schemas.Reason) {
	c := changing{v: v, planChange: planChange{number: nextChange(v, namesIn(said))}, stands: map[string]string{}, said: map[string]string{}}
	if said.Steps {
		c.steps(said.Tasks)
	} else {
		c.tasks(said.Tasks)
	}
	if len(c.faults) == 0 && !c.same && len(c.added)+len(c.kept) == 0 && !slices.ContainsFunc(v.Run.Tasks, begun) {
		c.fault(schemas.PlanAlreadyDone)
	}
	if len(c.faults) == 0 && !c.same {
		c.check()
	}
	return &c.planChange, c.faults
}

// adoptChange carries out a change of the plan: it skips the tasks that have not begun and are not kept. A task that waits for people has begun, and stays.
func adoptChange(v *View, source schemas.Occasion, c *planChange) events {
	if c.same {
		return nil
	}
	var done events
	for _, task := range v.Run.Tasks {
		if unbegun(task) && (!slices.Contains(c.kept, task.ID) || fault.Is("a change takes what it keeps")) {
			done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: task.ID, Reason: schemas.SkippedReplanned})
			done = append(done, cancelAgentQuestions(v, task.ID)...)
		}
	}
	changed := schemas.PlanChanged{Run: v.Run.Number, Change: c.number, Source: source, Tasks: c.added, Kept: c.kept, Replaces: failuresTold(v)}
	changed.Replaces = append(changed.Replaces, c.replaces...)
	for i := range changed.Tasks {
		changed.Tasks[i].Routed = v.Profile.assigns(changed.Tasks[i].Agent)
	}
	return append(done, &changed)
}

// cancelAgentQuestions takes back what agents are asked about a task that is not done any more: a run settles only when nothing is under way.
func cancelAgentQuestions(v *View, about string) events {
	var done events
	for _, question := range v.Run.DecisionTasks {
		if question.Kind != schemas.TaskKindPlan && question.Subject().Task == about && question.Kind != schemas.TaskKindNotify && !question.State.Ended() {
			done = append(done, &schemas.TaskCancelled{Run: v.Run.Number, Task: question.ID, Attempt: question.Attempt})
		}
	}
	return done
}

// failuresTold are the tasks that the judge knows to have failed, unless another plan has replaced them.
func failuresTold(v *View) []string {
	var failed []string
	for _, task := range v.Run.Tasks {
		if task.State == workflow.TaskFailed && (task.Judged || fault.Is("a change replaces what no judge was told")) && !task.Replaced {
			failed = append(failed, task.ID)
		}
	}
	return failed
}

// nextChange is the number of the next change, in which tasks of these names have ids that no task of the run has: a plan from outside may have
// such ids.
func nextChange(v *View, names []string) int {
	for n := v.Run.Changes + 1; ; n++ {
		if !slices.ContainsFunc(names, func(name string) bool { return v.Run.Task(schemas.ChangeTask(n, name)) != nil }) {
			return n
		}
	}
}

// namesIn are the names that the tasks of a plan have in a change: those of steps are made from their numbers.
func namesIn(said *Verdict) []string {
	names := make([]string, len(said.Tasks))
	for i := range said.Tasks {
		if names[i] = said.Tasks[i].Task; said.Steps {
			names[i] = stepName(i)
		}
	}
	return names
}

func stepName(i int) string { return "t" + strconv.Itoa(i+1) }

func unbegun(task *workflow.Task) bool {
	return !task.State.Ended() && (!begun(task) || fault.Is("a change takes what was begun") && task.State == workflow.TaskWaiting)
}

// changing makes a planChange.
type changing struct {
	planChange
	v      *View
	stands map[string]string // by id in the judge's plan: the id in the run
	said   map[string]string // by id in the run of a new task: the id in the judge's plan
	faults []schemas.Reason
}

func (c *changing) fault(code schemas.ReasonCode, values ...string) {
	c.faults = append(c.faults, schemas.Because(code, values...))
}

// steps takes a plan of sentences, each of which follows the one before; the first one builds on the newest result.
func (c *changing) steps(steps []schemas.PlannedTask) {
	v, last := c.v, ""
	for _, task := range v.Run.Tasks {
		if task.State == workflow.TaskCompleted || begun(task) {
			last = task.ID
		}
	}
	var left []schemas.PlannedTask
	for i := range steps {
		if repeats(v, &steps[i]) != nil {
			c.repeated = append(c.repeated, truncate(steps[i].Description.Text, maxRepeatedWords))
			continue
		}
		left = append(left, steps[i])
	}
	if len(failuresTold(v)) == 0 && len(left) > 0 && isPlanned(v, left) {
		c.same = true
		return
	}
	for i := range left {
		step := left[i]
		step.Task, step.Dependencies = schemas.ChangeTask(fault.Either("ids are used again", 1, c.number), stepName(i)), nil
		c.said[step.Task] = stepName(i)
		if last != "" {
			step.Dependencies = []string{last}
		}
		last = step.Task
		c.added = append(c.added, step)
	}
}

// isPlanned reports whether steps are those of the plan that were not begun.
func isPlanned(v *View, steps []schemas.PlannedTask) bool {
	var waiting []string
	for _, task := range v.Run.Tasks {
		if unbegun(task) {
			waiting = append(waiting, folded(v, task.Plan))
		}
	}
	return slices.EqualFunc(steps, waiting, func(step schemas.PlannedTask, known string) bool { return folded(v, &step) == known })
}

// tasks takes a plan of tasks. One that the run has stays, or is done, if nothing else is said of it; the others are new.
func (c *changing) tasks(tasks []schemas.PlannedTask) {
	for i := range tasks {
		c.place(&tasks[i])
	}
	for i := range c.added {
		task := &c.added[i]
		dependencies := make([]string, len(task.Dependencies))
		for j, id := range task.Dependencies {
			dependencies[j] = id
			if stands, known := c.stands[id]; known {
				dependencies[j] = stands
			}
		}
		task.Dependencies = nilIfEmpty(dependencies)
	}
}

func (c *changing) place(said *schemas.PlannedTask) {
	v, id := c.v, said.Task
	_, twice := c.stands[id]
	existing := v.Run.Task(id)
	switch {
	case twice:
		c.fault(schemas.TaskIDTaken, "task", id)
		return
	case existing != nil && (existing.Plan == nil || !sameTask(v, existing, said)):
		c.fault(schemas.TaskIDOfAnother, "task", id)
		return
	case existing == nil:
		if done := repeats(v, said); done != nil {
			c.stands[id] = done.ID
			c.repeated = append(c.repeated, id)
			return
		}
		c.stands[id] = schemas.ChangeTask(c.number, id)
		c.said[c.stands[id]] = id
		task := *said
		task.Task, task.HasInputs = c.stands[id], false
		c.added = append(c.added, task)
		c.faults = append(c.faults, v.Profile.checkChosen([]schemas.PlannedTask{*said})...)
		return
	}
	c.stands[id] = id
	switch {
	case unbegun(existing):
		c.kept = append(c.kept, id)
	case existing.State == workflow.TaskCompleted:
		c.repeated = append(c.repeated, id)
	case existing.State.Ended():
		c.fault(schemas.TaskHasEnded, "task", id, "state", string(existing.State))
	}
}

// sameTask reports whether nothing is said of a task that the plan does not say.
func sameTask(v *View, existing *workflow.Task, said *schemas.PlannedTask) bool {
	planned, options, more := existing.Plan, existing.Plan.Options(), said.Options()
	return (said.Description.Text == "" || folded(v, planned) == folded(v, said)) &&
		(said.Agent == "" || said.Agent == existing.Agent || said.Agent == planned.Agent) &&
		(len(said.Dependencies) == 0 || slices.Equal(said.Dependencies, planned.Dependencies)) &&
		(len(more.Arguments) == 0 || sameArguments(v, existing.Agent, more.Arguments, options.Arguments))
}

// repeats returns the task that has done, or is doing, what is said to be done again; nil when there is none, or when something
// has failed since, so that it may well be done again.
func repeats(v *View, said *schemas.PlannedTask) *workflow.Task {
	if v.Run.Phase == workflow.PhaseReviewing {
		return nil // it is known to be done, and not to be right
	}
	words, arguments := folded(v, said), said.Options().Arguments
	for i, task := range v.Run.Tasks {
		if task.State != workflow.TaskCompleted && !begun(task) || folded(v, task.Plan) != words ||
			len(arguments) > 0 && !sameArguments(v, task.Agent, arguments, task.Plan.Options().Arguments) || said.Agent != "" && said.Agent != task.Agent {
			continue
		}
		failedSince := slices.ContainsFunc(v.Run.Tasks[i+1:], func(other *workflow.Task) bool {
			return other.State == workflow.TaskFailed && !other.Ended.Before(task.Ended)
		}) ||
			slices.ContainsFunc(v.Run.Tasks[:i], func(other *workflow.Task) bool {
				return other.State == workflow.TaskFailed && other.Ended.After(task.Ended)
			})
		if begun(task) || !failedSince {
			return task
		}
	}
	return nil
}

// folded are the words of a task without its number, so that what a model writes twice is the same.
func folded(v *View, task *schemas.PlannedTask) string {
	words := strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(v.content(task.Description).Text))), " ")
	rest := strings.TrimLeft(strings.TrimPrefix(words, "step "), "0123456789")
	if bare := strings.TrimLeft(rest, ".):-*# "); rest != words && bare != rest || strings.HasPrefix(words, "- ") || strings.HasPrefix(words, "* ") {
		words = bare
	}
	return strings.TrimRightFunc(words, func(c rune) bool { return c == '.' || unicode.IsSpace(c) })
}

// check holds the whole graph to what every plan is held to: what is done, what is under way, what stays and what is new.
func (c *changing) check() {
	v := c.v
	var graph []schemas.PlannedTask
	known := map[string]bool{}
	for _, task := range v.Run.Tasks {
		if begun(task) || task.Worked() || slices.Contains(c.kept, task.ID) {
			graph = append(graph, *task.Plan)
			known[task.ID] = true
		}
	}
	for i := range graph {
		if !slices.Contains(c.kept, graph[i].Task) { // it has begun, whatever has become of what it depended on
			graph[i].Dependencies = slices.DeleteFunc(slices.Clone(graph[i].Dependencies), func(id string) bool { return !known[id] })
		}
	}
	old := len(graph)
	graph = append(graph, c.added...)
	for _, fault := range v.Profile.check(graph) {
		c.faults = append(c.faults, c.inPlan(fault))
	}
	for i := range graph {
		if i < old && !slices.Contains(c.kept, graph[i].Task) {
			continue
		}
		for _, id := range graph[i].Dependencies {
			if task := v.Run.Task(id); task != nil && task.State == workflow.TaskFailed && missingNow(v, task) {
				c.fault(schemas.TaskDependencyFailed, "task", cmp.Or(c.said[graph[i].Task], graph[i].Task), "dependency", id)
			}
		}
	}
}

// inPlan returns a fault with the ids that tasks have in the plan of the evaluator.
func (c *changing) inPlan(fault schemas.Reason) schemas.Reason {
	return fault.MapValues(func(name, value string) string {
		if said, is := c.said[value]; is && name != "agent" {
			return said
		}
		if fault.Code == schemas.PlanHasCycle { // ids in quotation marks
			for i := range c.added {
				value = strings.ReplaceAll(value, strconv.Quote(c.added[i].Task), strconv.Quote(c.said[c.added[i].Task]))
			}
		}
		return value
	})
}

func missingNow(v *View, task *workflow.Task) bool {
	return v.Profile.Execution.OnFailure != schemas.FailureContinues && !task.Optional()
}

// A ConditionValue is a condition as judges are told it.
type ConditionValue struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// Conditions are those of the profile, with the values that they have now. What no result says is null.
func (p *Profile) Conditions(run *workflow.Run, read func(schemas.Content) schemas.Result) []ConditionValue {
	if p.Replan == nil {
		return nil
	}
	values := make([]ConditionValue, len(p.Replan.Conditions))
	for i := range p.Replan.Conditions {
		condition := &p.Replan.Conditions[i]
		values[i] = ConditionValue{Name: condition.Name, Value: condition.Constant}
		if len(condition.Constant) > 0 {
			continue
		}
		values[i].Value = jsontext.Value("null")
		for _, task := range slices.Backward(run.Tasks) {
			if !task.Worked() {
				continue
			}
			if value, found := valueIn(ResolveContent(task.Result, read), condition.Pointer); found {
				values[i].Value = value
				break
			}
		}
	}
	return values
}

// verdict says what is wrong with what an agent has looked at, as it says itself; false is nothing.
func (p *Profile) verdict(agent string, result schemas.Result) (detail string, wrong bool) {
	use := p.agentUse(agent)
	if use == nil || use.Verdict == nil {
		return "", false
	}
	if value, found := valueIn(result, use.Verdict.Pointer); !found || string(value) != "false" {
		return "", false
	}
	said, found := valueIn(result, use.Verdict.Detail)
	switch {
	case use.Verdict.Detail == "" || !found:
		return strings.TrimSpace(result.Text), true
	case said.Kind() == '"':
		text, err := jsontext.AppendUnquote(nil, said)
		if err == nil {
			return string(text), true
		}
	}
	return string(said), true
}

// valueIn returns what stands at a JSON Pointer in the data of a result, or else in the JSON of its text.
func valueIn(result schemas.Result, at string) (jsontext.Value, bool) {
	candidates := [][]byte{result.Data}
	if len(result.Data) == 0 {
		candidates = jsonIn(result.Text)
	}
	for _, candidate := range candidates {
		if value, found := pointer.Value(candidate, jsontext.Pointer(at)); found {
			return value, true
		}
	}
	return nil, false
}
