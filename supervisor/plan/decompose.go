package plan

import (
	"strconv"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/route"
)

// Ids of what deciding itself asks agents for, outside of the plan.
const planTask = "plan"

// decompose makes the plan of a run, or asks for it (settlement 1). The
// complexity check comes before all routing (O-21).
func (t *Decision) decompose(content schemas.Result) {
	if upstream := t.Run.Message.Upstream; upstream != nil && upstream.Planned {
		tasks, err := ReadPlan(schemas.Result{Data: content.Data})
		if err != nil {
			t.refuse(schemas.PlannerExternal, []string{err.Error()})
			t.unplanned()
			return
		}
		for i := range tasks {
			if tasks[i].Agent == upstream.To {
				tasks[i].Agent = "" // assigned to the supervisor itself: it finds an agent
			}
		}
		t.adopt(schemas.PlannerExternal, "", tasks)
		return
	}
	words := content.Text
	kind := t.Profile.planner()
	complexity := t.assess(words, kind)
	switch kind {
	case schemas.PlannerTemplate:
		if t.fromTemplate(words) {
			return
		}
	case schemas.PlannerRules:
		if complexity {
			if steps := t.Profile.router.Steps(words); len(steps) > 0 {
				t.adopt(kind, "", t.stepsOf(words, steps, t.requestOptions(content)))
				return
			}
		}
	case schemas.PlannerAgent:
		if complexity {
			t.ask(planTask, schemas.KindPlan, t.Profile.Planner.Agent)
			return
		}
	case schemas.PlannerNone, schemas.PlannerExternal:
	}
	t.single("t1", content)
}

// assess says whether a plan is called for: always when there is no check.
func (t *Decision) assess(words string, kind schemas.PlannerKind) bool {
	if t.Profile.Complexity == nil || kind != schemas.PlannerRules && kind != schemas.PlannerAgent {
		return kind == schemas.PlannerAgent
	}
	complexity := t.Profile.router.Assess(words)
	t.Emit(&schemas.ComplexityAssessed{Run: t.Run.Number, Complexity: complexity})
	return complexity.Complex
}

// single is the plan of one task, which is what was asked for.
func (t *Decision) single(id string, content schemas.Result) {
	task := schemas.PlannedTask{Task: id, Description: t.Run.Message.Text, TaskOptions: t.requestOptions(content)}
	if len(t.Run.Message.MergedTexts) > 0 {
		task.Description = text(short(t.words()))
	}
	t.create(schemas.PlannerNone, "", []schemas.PlannedTask{task})
}

func (t *Decision) fromTemplate(words string) bool {
	for _, candidate := range t.Profile.templates {
		values, fits := candidate.fits(words)
		if !fits {
			continue
		}
		tasks, err := candidate.fill(values)
		if err != nil {
			continue // Compile has filled it once, so that this cannot be
		}
		t.adopt(schemas.PlannerTemplate, candidate.Name, tasks)
		return true
	}
	return false
}

// stepsOf are the tasks that some words fall into. What was given to work with is
// given to each; what the whole has to yield is no single one's to yield.
func (t *Decision) stepsOf(words string, steps []route.Step, given *schemas.TaskOptions) []schemas.PlannedTask {
	if given != nil {
		given = someOptions(schemas.TaskOptions{
			Arguments: given.Arguments, Constraints: given.Constraints, FilesToModify: given.FilesToModify, References: given.References,
		})
	}
	tasks := make([]schemas.PlannedTask, len(steps))
	for i, s := range steps {
		tasks[i] = schemas.PlannedTask{Task: "t" + strconv.Itoa(i+1), Description: t.describe(words, s), TaskOptions: given}
		if i > 0 {
			tasks[i].Dependencies = []string{tasks[i-1].Task}
		}
	}
	return tasks
}

// short is what a description holds of words that stand in the request as a whole.
func short(words string) string {
	if len(words) <= schemas.InlineLimit {
		return words
	}
	return head(words, schemas.InlineLimit) + "…"
}

// describe keeps a step's words in place when they are small, else points at
// them in the message. Merged messages have no place in common: there the
// context of the request says all of it.
func (t *Decision) describe(words string, s route.Step) schemas.Body {
	switch {
	case s.End-s.Start == len(words):
		return t.Run.Message.Text
	case len(s.Text) <= schemas.InlineLimit:
		return text(s.Text)
	case len(t.Run.Message.MergedTexts) > 0:
		return text(short(s.Text))
	}
	return schemas.Body{Sequence: t.Run.Message.Sequence, Offset: s.Start, Size: s.End - s.Start}
}

// adopt carries out a plan, or refuses it with every fault named (M-16).
func (t *Decision) adopt(source schemas.PlannerKind, template string, tasks []schemas.PlannedTask) {
	if faults := t.Profile.check(tasks); len(faults) > 0 {
		t.refuse(source, faults)
		t.unplanned()
		return
	}
	t.create(source, template, tasks)
}

func (t *Decision) create(source schemas.PlannerKind, template string, tasks []schemas.PlannedTask) {
	for i := range tasks {
		tasks[i].Routed = t.Profile.assigns(tasks[i].Agent)
		tasks[i].HasInputs = tasks[i].HasInputs && source == schemas.PlannerExternal
		if source == schemas.PlannerTemplate {
			tasks[i].Description.Text = short(tasks[i].Description.Text) // it may repeat the request
		}
	}
	if source == schemas.PlannerNone {
		source = ""
	}
	t.Emit(&schemas.PlanCreated{Run: t.Run.Number, Source: source, Template: template, Tasks: tasks})
	t.routing()
}

// maxFaults bounds the faults of a plan that are told.
const maxFaults = 50

func (t *Decision) refuse(source schemas.PlannerKind, faults []string) {
	if len(faults) > maxFaults {
		faults = append(faults[:maxFaults:maxFaults], "and "+strconv.Itoa(len(faults)-maxFaults)+" more")
	}
	for i := range faults {
		faults[i] = head(faults[i], maxFault)
	}
	t.Emit(&schemas.PlanRefused{Run: t.Run.Number, Source: source, Faults: faults})
}

const maxFault = 512

// unplanned goes on without a plan, as the profile says.
func (t *Decision) unplanned() {
	if t.Profile.Planner != nil && t.Profile.Planner.Otherwise == schemas.FallbackSingle {
		t.single("t0", schemas.Result{})
		return
	}
	t.conclude(schemas.RunFailed, schemas.StopInvalidPlan, t.planFailure())
}

// planAnswered takes the answer of a planner agent: a plan, or what is wrong with it.
func (t *Decision) planAnswered(task *workflow.Task, answer *Answer) {
	tasks, err := ReadPlan(answer.Whole)
	var faults []string
	if err != nil {
		faults = []string{err.Error()}
	} else {
		faults = t.Profile.check(tasks)
	}
	if len(faults) > 0 {
		t.refuse(schemas.PlannerAgent, faults)
		t.fail(task, schemas.FailureInvalidResult, feedback(faults))
		return
	}
	t.completed(task, answer)
	t.create(schemas.PlannerAgent, "", tasks)
}

// feedback tells a planner what to mend.
func feedback(faults []string) string {
	all := "The plan cannot be carried out:"
	for _, fault := range faults {
		if len(all)+len(fault) > maxFeedback {
			return all + "\n- …"
		}
		all += "\n- " + fault
	}
	return all
}

const maxFeedback = 2 << 10
