package plan

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/route"
)

// What deciding asks agents for is named after what it is about.
const (
	assessTask = "assess:" // and the task and the agent
	routeTask  = "route:"  // and the task and the agent
	separator  = ":"

	maxAgentName = 63 // bytes, as schemas.ValidAgentName has it
)

// reserved reports whether an id may not be that of a plan's task.
func reserved(id string) bool {
	return id == schemas.DeliveryTask || id == planTask || strings.HasPrefix(id, assessTask) || strings.HasPrefix(id, routeTask)
}

// Attempted reports whether a run can have made such an attempt of such a task.
func Attempted(task string, attempt int) bool {
	const longest = maxTaskID + len(assessTask) + len(separator) + maxAgentName
	return task != "" && len(task) <= longest && attempt > 0
}

// routing routes every task that can be; for the others it asks what their
// routers need to know. When all are routed the work begins.
func (t *Decision) routing() {
	for _, task := range t.Run.Tasks { // another plan may take its place meanwhile, once all of these are routed
		t.route(task)
	}
	t.routed()
}

// heard routes the task that a question was about, once the answer is there or
// will not come.
func (t *Decision) heard(about string) {
	if task := t.Run.Task(about); task != nil {
		t.route(task)
	}
	t.routed()
}

// routed begins the work when every task has been routed.
func (t *Decision) routed() {
	if t.Run.Phase != workflow.PhaseExecuting || !t.allowed() {
		return
	}
	failed := func(task *workflow.Task) bool { return task.State == workflow.TaskFailed }
	if t.Profile.Execution.OnFailure == schemas.FailureAborts && slices.ContainsFunc(t.Run.Tasks, failed) {
		t.abort()
		return
	}
	t.advance()
}

func (t *Decision) route(task *workflow.Task) {
	if task.Routed || task.State.Ended() {
		return
	}
	words := t.content(task.Plan.Description).Text
	evidence := t.evidence(task.ID)
	need := t.Profile.router.Need(words, task.Plan.Agent, evidence)
	for _, agent := range need.Assess {
		t.ask(assessTask+task.ID+separator+agent, schemas.KindAssess, agent)
	}
	if need.Choose != "" {
		t.ask(routeTask+task.ID+separator+need.Choose, schemas.KindRoute, need.Choose)
	}
	if !need.Empty() || t.asking(task.ID) {
		return
	}
	decision, decided := t.Profile.router.DecideWith(words, task.Plan.Agent, evidence)
	if !decided {
		decision.NextAgent = ""
	}
	decision.Response = head(decision.Response, schemas.InlineLimit)
	t.Emit(&schemas.TaskRouted{Run: t.Run.Number, Task: task.ID, Decision: decision})
	switch decision.NextAgent {
	case schemas.RouteRespond, schemas.RouteFinish: // answered without an agent (O-13)
		t.Emit(&schemas.TaskCompleted{Run: t.Run.Number, Task: task.ID, Result: text(decision.Response)})
	case "":
		t.Emit(&schemas.TaskFailed{
			Run: t.Run.Number, Task: task.ID, Cause: schemas.FailureNoRoute,
			Category: schemas.CategoryCoordination, Action: t.giveUp(task, schemas.FailureNoRoute),
		})
	}
}

// asking reports whether an answer that a task's routers need is still awaited.
func (t *Decision) asking(task string) bool {
	for i := range t.Run.DecisionTasks {
		if About(t.Run.DecisionTasks[i]) == task && !t.Run.DecisionTasks[i].State.Ended() {
			return true
		}
	}
	return false
}

// About returns the task that a question is about; agents' names hold no colon.
func About(question *workflow.Task) string {
	_, rest, _ := strings.Cut(question.ID, separator)
	if at := strings.LastIndex(rest, separator); at >= 0 {
		return rest[:at]
	}
	return ""
}

// evidence gathers what agents have said about a task. One that has not answered
// in time counts as silent (P-09).
func (t *Decision) evidence(task string) route.Evidence {
	var evidence route.Evidence
	for i := range t.Run.DecisionTasks {
		question := t.Run.DecisionTasks[i]
		if About(question) != task || !question.State.Ended() {
			continue
		}
		answered := question.State == workflow.TaskCompleted
		var result schemas.Result
		if answered {
			result = t.content(question.Result)
		}
		switch question.Kind {
		case schemas.KindAssess:
			evidence.Assessments = append(evidence.Assessments, assessment(question.Agent, result, answered))
		case schemas.KindRoute:
			evidence.Choices = append(evidence.Choices, choice(question.Agent, result, answered))
		case schemas.KindPlan, schemas.KindWork:
		}
	}
	return evidence
}

func assessment(agent string, result schemas.Result, answered bool) schemas.Assessment {
	made := schemas.Assessment{Agent: agent, Answered: answered}
	if answered {
		score, err := route.ParseAssessment(result)
		made.Score, made.Answered = score, err == nil
	}
	return made
}

func choice(agent string, result schemas.Result, answered bool) route.Choice {
	made := route.Choice{Agent: agent, Answered: answered}
	if answered {
		decision, err := route.ParseDecision(result)
		made.Decision = decision
		if err != nil {
			made.Fault = err.Error()
		}
	}
	return made
}

// ask asks an agent something that a decision needs, once.
func (t *Decision) ask(id string, kind schemas.TaskKind, agent string) {
	if t.Run.Task(id) != nil {
		return
	}
	switch t.Admission.Admit(agent) {
	case Admitted:
		t.dispatch(id, kind, agent, 1)
	case Full:
		t.ready(id, kind, agent)
	case Unavailable:
		t.Emit(&schemas.TaskReady{Run: t.Run.Number, Task: id, Agent: agent, Kind: kind})
		t.fail(t.Run.Task(id), schemas.FailureUnavailable, "")
	}
}

// allowed holds mode single to one agent, or to a chain that the profile allows
// (G-04); a plan that does more is refused, and its words are one task.
func (t *Decision) allowed() bool {
	if t.Profile.Execution.Mode != schemas.ExecutionSingle || len(t.Run.Tasks) < 2 {
		return true
	}
	if t.Run.Source == schemas.PlannerExternal || t.Run.Source == schemas.PlannerTemplate {
		return true
	}
	chain := make([]string, len(t.Run.Tasks))
	for i := range t.Run.Tasks {
		chain[i] = t.Run.Tasks[i].Agent
	}
	if slices.ContainsFunc(t.Profile.Execution.AllowedChains, func(allowed []string) bool { return slices.Equal(allowed, chain) }) {
		return true
	}
	t.refuse(t.Run.Source, []string{"the chain " + strings.Join(chain, " → ") + " is not one of execution.allowed_chains"})
	t.single("t0", schemas.Result{})
	return false
}
