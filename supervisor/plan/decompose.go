package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
	"podium/supervisor/route"
)

// Begin makes the plan of the run and goes on with it, or asks for one (settlement 1).
// The complexity check comes before all routing (O-21).
func (d *Decision) Begin(content schemas.Result) {
	v := &d.View
	if upstream := d.Run.Message.Upstream; upstream != nil && upstream.Planned {
		d.apply(beginPlanned(v, content, upstream.To))
		return
	}
	words := content.Text
	kind := d.Profile.planner()
	complexity := kind == schemas.PlannerAgent // a plan is always called for when there is no check
	if d.Profile.Complexity != nil && (kind == schemas.PlannerRules || kind == schemas.PlannerAgent) {
		assessed := d.Profile.router.AssessComplexity(words)
		d.emit(&schemas.ComplexityAssessed{Run: d.Run.Number, Complexity: assessed})
		complexity = assessed.Complex
	}
	switch kind {
	case schemas.PlannerTemplate:
		if name, tasks, fits := templateFor(v, words); fits {
			d.apply(adopt(v, schemas.PlannerTemplate, name, tasks))
			return
		}
	case schemas.PlannerRules:
		if complexity {
			if steps := d.Profile.router.Steps(words); len(steps) > 0 {
				d.apply(adopt(v, kind, "", tasksOfSteps(v, words, steps, requestOptions(v, content))))
				return
			}
		}
	case schemas.PlannerAgent:
		if complexity {
			d.apply(ask(v, workflow.NewPlanner(d.Profile.Planner.Agent)))
			return
		}
	case schemas.PlannerNone, schemas.PlannerExternal:
	}
	d.emit(singleTask(v, "t1", content))
}

// beginPlanned begins the plan that a supervisor upstream has made.
func beginPlanned(v *View, content schemas.Result, supervisor string) events {
	tasks, err := ReadPlan(schemas.Result{Data: content.Data})
	if err != nil {
		return append(events{refuse(v, schemas.PlannerExternal, []schemas.Reason{reasonOf(err)})}, withoutPlan(v)...)
	}
	for i := range tasks {
		if tasks[i].Agent == supervisor {
			tasks[i].Agent = "" // assigned to the supervisor itself: it finds an agent
		}
	}
	return adopt(v, schemas.PlannerExternal, "", tasks)
}

// singleTask is the plan of one task, which is what was asked for.
func singleTask(v *View, id string, content schemas.Result) *schemas.PlanCreated {
	task := schemas.PlannedTask{Task: id, Description: v.Run.Message.Text, TaskOptions: requestOptions(v, content)}
	if len(v.Run.Message.MergedTexts) > 0 {
		task.Description = inlineBody(shortened(requestText(v), schemas.RecordInlineLimit))
	}
	return create(v, schemas.PlannerNone, "", []schemas.PlannedTask{task})
}

// templateFor returns the first template that fits the words of a request, filled with them.
func templateFor(v *View, words string) (name string, tasks []schemas.PlannedTask, fits bool) {
	for _, candidate := range v.Profile.templates {
		values, fits := candidate.fits(words, v.Found)
		if !fits {
			continue
		}
		tasks, err := candidate.fill(values)
		if err != nil {
			continue // Compile has filled it once, so that this cannot be
		}
		return candidate.Name, tasks, true
	}
	return "", nil, false
}

// tasksOfSteps are the tasks that some words fall into. What was given to work with is
// given to each; what the whole has to yield is no single one's to yield.
func tasksOfSteps(v *View, words string, steps []route.Step, given *schemas.TaskOptions) []schemas.PlannedTask {
	if given != nil {
		given = nilIfNoOptions(schemas.TaskOptions{
			Arguments: given.Arguments, Constraints: given.Constraints, FilesToModify: given.FilesToModify, References: given.References,
		})
	}
	tasks := make([]schemas.PlannedTask, len(steps))
	for i, s := range steps {
		tasks[i] = schemas.PlannedTask{Task: "t" + strconv.Itoa(i+1), Description: describe(v, words, s), TaskOptions: given}
		if i > 0 {
			tasks[i].Dependencies = []string{tasks[i-1].Task}
		}
	}
	return tasks
}

// shortened returns at most so many bytes of a text, with a mark where it was cut.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return truncate(text, most) + "…"
}

// describe keeps a step's words in place when they are small, else points at
// them in the message. Merged messages have no place in common: there the
// context of the request says all of it.
func describe(v *View, words string, s route.Step) schemas.Content {
	switch {
	case s.End-s.Start == len(words):
		return v.Run.Message.Text
	case len(s.Text) <= schemas.RecordInlineLimit:
		return inlineBody(s.Text)
	case len(v.Run.Message.MergedTexts) > 0:
		return inlineBody(shortened(s.Text, schemas.RecordInlineLimit))
	}
	return schemas.Content{Sequence: v.Run.Message.Sequence, Offset: s.Start, Size: s.End - s.Start}
}

// adopt carries out a plan, or refuses it with every fault named (M-16).
func adopt(v *View, source schemas.PlannerKind, template string, tasks []schemas.PlannedTask) events {
	if faults := v.Profile.check(tasks); len(faults) > 0 {
		return append(events{refuse(v, source, faults)}, withoutPlan(v)...)
	}
	return events{create(v, source, template, tasks)}
}

func create(v *View, source schemas.PlannerKind, template string, tasks []schemas.PlannedTask) *schemas.PlanCreated {
	for i := range tasks {
		tasks[i].Routed = v.Profile.assigns(tasks[i].Agent)
		tasks[i].HasInputs = tasks[i].HasInputs && source == schemas.PlannerExternal
		if source == schemas.PlannerTemplate {
			tasks[i].Description = describeByTemplate(v, tasks[i].Description.Text)
		}
	}
	if source == schemas.PlannerNone {
		source = ""
	}
	return &schemas.PlanCreated{Run: v.Run.Number, Source: source, Template: template, Tasks: tasks}
}

// describeByTemplate points at the message where a description is all of it and too long for the record.
func describeByTemplate(v *View, text string) schemas.Content {
	whole := len(v.Run.Message.MergedTexts) == 0 && len(text) > schemas.RecordInlineLimit
	if whole && text == requestText(v) {
		return v.Run.Message.Text
	}
	return inlineBody(shortened(text, schemas.RecordInlineLimit)) // it may repeat the request
}

// Retry goes on with the plan of a run that has ended. What is brought of it is not done again; who does the rest is found anew.
func (d *Decision) Retry(former *workflow.Run, retry *recovery.Retry) {
	for i := range retry.Tasks {
		task := &retry.Tasks[i]
		if slices.Contains(retry.Brought, task.Task) {
			continue
		}
		if d.Profile.agentUse(task.Agent) == nil {
			task.Agent = "" // it is none of the profile any more
		}
		task.Routed = d.Profile.assigns(task.Agent)
	}
	d.emit(&schemas.PlanCreated{Run: d.Run.Number, Source: former.Source, Tasks: retry.Tasks})
	for _, id := range retry.Brought {
		d.emit(recovery.Brings(d.Run.Number, former, id))
	}
}

func refuse(v *View, source schemas.PlannerKind, faults []schemas.Reason) *schemas.PlanRefused {
	return &schemas.PlanRefused{Run: v.Run.Number, Source: source, Faults: boundReasons(faults, maxPlanValue, maxPlanFaults)}
}

// handleMissingPlan goes on without a plan once the question for one has ended without.
func handleMissingPlan(v *View) events {
	if question := v.Run.Task(schemas.PlanTask); question != nil && question.State.Ended() {
		return withoutPlan(v)
	}
	return nil
}

// withoutPlan goes on without a plan, as the profile says.
func withoutPlan(v *View) events {
	if v.Profile.Planner != nil && v.Profile.Planner.Otherwise == schemas.FallbackSingle && !wordless(v) {
		return events{singleTask(v, "t0", schemas.Result{})}
	}
	sentence := strings.NewReplacer("{detail}", "", "{task}", schemas.PlanTask, "{agent}", "").Replace(v.texts().TaskFailed)
	return append(closeBudgetTask(v), conclude(v, schemas.RunFailed, schemas.StopInvalidPlan,
		runFailure(v, schemas.ErrorValidation, schemas.ActionManualIntervention, sentence, schemas.Because(schemas.PlanMissing))))
}

// wordless reports whether a run is asked for by a plan alone, without the words of a person: once that is refused there is nothing to ask anybody.
func wordless(v *View) bool {
	upstream := v.Run.Message.Upstream
	return upstream != nil && upstream.Planned && strings.TrimSpace(v.content(v.Run.Message.Text).Text) == ""
}

// planAnswered takes the answer of a planner agent: a plan, or what is wrong with it.
func planAnswered(d *Decision, task *workflow.Task, answer *Response) {
	tasks, err := ReadPlan(answer.WholeResult)
	var faults []schemas.Reason
	if err != nil {
		faults = []schemas.Reason{reasonOf(err)}
	} else {
		faults = append(d.Profile.check(tasks), d.Profile.checkChosen(tasks)...)
	}
	if len(faults) > 0 {
		d.emit(refuse(&d.View, schemas.PlannerAgent, faults))
		d.fail(task, schemas.FailureInvalidResult, feedback(faults)...)
		return
	}
	completed(d, task, answer)
	d.emit(create(&d.View, schemas.PlannerAgent, "", tasks))
}

// feedback tells a planner what to mend.
func feedback(faults []schemas.Reason) []schemas.Reason {
	return append([]schemas.Reason{schemas.Because(schemas.PlanHasFaults)}, boundReasons(faults, maxPlanValue, maxPlanFaults)...)
}

// maxFeedback bounds what is told of a failure, in bytes.
const maxFeedback = 2 << 10

// A template is a schemas.Template made ready.
type template struct {
	*schemas.Template
	keywords   *route.Keywords // nil: it fits every text
	parameters []*regexp.Regexp
}

// requestParameter stands for the words as they came.
const requestParameter = "request"

func compileTemplate(source *schemas.Template) (*template, error) {
	ready := &template{Template: source}
	if len(source.Keywords) > 0 {
		var err error
		if ready.keywords, err = route.CompileKeywords(source.Keywords); err != nil {
			return nil, err
		}
	}
	known := map[string]bool{requestParameter: true}
	for i := range source.Parameters {
		parameter := &source.Parameters[i]
		if parameter.Name == "" || known[parameter.Name] {
			return nil, fmt.Errorf("parameter %q is there twice, or its name is taken", parameter.Name)
		}
		known[parameter.Name] = true
		expression, err := regexp.Compile(parameter.Pattern)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", parameter.Name, err)
		}
		ready.parameters = append(ready.parameters, expression)
	}
	return ready, nil
}

// fits returns the values of the template's parameters, or false when it is not
// for this text.
func (t *template) fits(words string, found *route.Found) ([]string, bool) {
	if t.keywords != nil && !t.keywords.HitAgain(words, found) {
		return nil, false
	}
	values := []string{"{" + requestParameter + "}", words}
	read := route.Excerpt(words)
	for i, expression := range t.parameters {
		parameter := &t.Parameters[i]
		value, found := capture(expression, read)
		if !found {
			value = parameter.Default
		}
		if value == "" && parameter.Required {
			return nil, false
		}
		values = append(values, "{"+parameter.Name+"}", value)
	}
	return values, true
}

// capture returns the first group of an expression in a text, or the match when
// it has no group.
func capture(expression *regexp.Regexp, words string) (string, bool) {
	match := expression.FindStringSubmatch(words)
	switch {
	case match == nil:
		return "", false
	case len(match) > 1:
		return strings.TrimSpace(match[1]), true
	}
	return strings.TrimSpace(match[0]), true
}

// fill makes the plan of a template with the values of its parameters. A value
// stands for itself: what looks like a parameter inside it is not replaced.
func (t *template) fill(values []string) ([]schemas.PlannedTask, error) {
	replacer := strings.NewReplacer(values...)
	tasks := make([]schemas.PlannedTask, len(t.Tasks))
	for i := range t.Tasks {
		source := &t.Tasks[i]
		arguments, err := replace(source.Arguments, replacer)
		if err != nil {
			return nil, fmt.Errorf("template %q: task %q: %w", t.Name, source.Task, err)
		}
		tasks[i] = schemas.PlannedTask{
			Task: source.Task, Description: inlineBody(replacer.Replace(source.Description)), Dependencies: source.Dependencies,
			Agent: source.Agent, Priority: source.Priority, Optional: source.Optional,
			Seconds: source.Seconds, Tokens: source.Tokens,
			TaskOptions: nilIfNoOptions(schemas.TaskOptions{Resources: source.Resources, Arguments: arguments}),
		}
	}
	return tasks, nil
}

// replace puts values into every string of a JSON value; names of members stay.
func replace(value jsontext.Value, replacer *strings.Replacer) (jsontext.Value, error) {
	if len(value) == 0 {
		return nil, nil
	}
	var into strings.Builder
	encoder, decoder := jsontext.NewEncoder(&into), jsontext.NewDecoder(strings.NewReader(string(value)))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		if kind, length := decoder.StackIndex(decoder.StackDepth()); token.Kind() == '"' && (kind != '{' || length%2 == 0) {
			token = jsontext.String(replacer.Replace(token.String()))
		}
		if err = encoder.WriteToken(token); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		if decoder.StackDepth() == 0 {
			return jsontext.Value(strings.TrimSpace(into.String())), nil
		}
	}
}
