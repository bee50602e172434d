package plan

import (
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
	"podium/supervisor/route"
)

const maxAgentName = 63 // bytes, as schemas.ValidAgentName has it

// reserved reports whether an id may not be that of a plan's task. Those of questions to people and to extractors
// are, where any are asked.
func (p *Profile) reserved(id string) bool {
	asks := p.Waiting != nil || len(p.fillers) > 0 || p.Budget != nil && p.Budget.Exhausted == schemas.BudgetAsks
	if asks && schemas.HasHumanTaskID(id) {
		return true
	}
	if (p.Replan != nil || p.Review != nil || p.Summary != nil || recovery.Judge(&p.Profile) != "") && schemas.HasEvaluationID(id) {
		return true
	}
	if p.Review != nil && schemas.HasReviewInputID(id) {
		return true
	}
	return schemas.HasQuestionID(id)
}

// PossibleAttempt reports whether a run can have made such an attempt of such a task.
func PossibleAttempt(task string, attempt int) bool {
	const longest = maxTaskID + schemas.MaxTaskIDPrefix + len(":") + maxAgentName
	return task != "" && len(task) <= longest && attempt > 0
}

// routeTasks routes every task that can be, and asks what the routers of the others need to know.
func routeTasks(d *Decision) {
	for _, task := range d.Run.Tasks {
		routeTask(d, task)
	}
}

func routeTask(d *Decision, task *workflow.Task) {
	if task.Routed || task.State.Ended() || awaitsQuestion(d, task.ID) {
		return
	}
	words := d.content(task.Plan.Description).Text
	evidence := evidence(d, task.ID)
	need := d.Profile.router.Need(words, task.Plan.Agent, evidence)
	for _, agent := range need.Assess {
		ask(d, workflow.NewAssessment(task.ID, agent))
	}
	if need.Choose != "" {
		ask(d, workflow.NewRouting(task.ID, need.Choose))
	}
	if !need.Empty() || awaitsQuestion(d, task.ID) {
		return
	}
	decision, decided := d.Profile.router.DecideWith(words, task.Plan.Agent, evidence)
	if !decided {
		decision.NextAgent = ""
	}
	decision.Response = truncate(decision.Response, schemas.RecordInlineLimit)
	d.emit(&schemas.TaskRouted{Run: d.Run.Number, Task: task.ID, Decision: decision})
	switch decision.NextAgent {
	case schemas.RouteRespond, schemas.RouteFinish: // answered without an agent (O-13)
		if found := otherLanguage(d, decision.Response); found != "" { // nobody is asked twice who is responsible
			d.emit(&schemas.TaskFailed{
				Run: d.Run.Number, Task: task.ID, Cause: schemas.FailureInvalidResult, Detail: wrongLanguage(d, found),
				Category: schemas.CategoryExecution, Action: giveUp(d, task, schemas.FailureInvalidResult),
			})
			return
		}
		d.emit(&schemas.TaskCompleted{Run: d.Run.Number, Task: task.ID, Result: inlineBody(decision.Response)})
	case "":
		failed := schemas.TaskFailed{
			Run: d.Run.Number, Task: task.ID, Cause: schemas.FailureNoRoute,
			Category: schemas.CategoryCoordination, Action: giveUp(d, task, schemas.FailureNoRoute),
		}
		if mayRefuse(d) {
			d.emit(&failed)
			return
		}
		recoverTask(d, d.Run.Task(task.ID), &failed)
	}
}

// awaitsQuestion reports whether an answer that a task's routers need is still awaited.
func awaitsQuestion(d *Decision, task string) bool {
	return slices.ContainsFunc(d.Run.DecisionTasks, func(question *workflow.Task) bool {
		return question.Subject().Task == task && !question.State.Ended()
	})
}

// interrupted reports whether a router's question went unanswered because the process that had asked it is gone: whoever worked on it may have gone with
// it. It is asked anew, since what an agent could not say is nothing that it has said.
func interrupted(d *Decision, question *workflow.Task, cause schemas.FailureKind) bool {
	late := cause == schemas.FailureNotStarted || cause == schemas.FailureTimeout || cause == schemas.FailureCrashed
	switch {
	case !late || !ofRouter(question.Kind):
		return false
	case question.State.UnderWay():
		return ofEarlierEpoch(d, question, question.Request, question.Attempt)
	}
	// It never went out. What kept the places of its agent may be what went out before the process ended.
	return question.Rejections == 0 && slices.ContainsFunc(d.Run.DecisionTasks, func(other *workflow.Task) bool {
		return other.Agent == question.Agent &&
			(ofEarlierEpoch(d, other, other.Request, other.Attempt) || ofEarlierEpoch(d, other, other.PreviousRequest, other.Attempt-1))
	})
}

func ofEarlierEpoch(d *Decision, question *workflow.Task, request string, attempt int) bool {
	return request != "" && request != schemas.RequestID(d.Shard, d.Epoch, schemas.RunID(d.Session, d.Run.Number), question.ID, attempt)
}

func ofRouter(kind schemas.TaskKind) bool {
	return kind == schemas.TaskKindAssess || kind == schemas.TaskKindRoute
}

// waitFor is how long the answer to a question is waited for; 0 leaves it to the deadlines of work. One that is asked anew waits as well until
// the bus gives up those who had it before, and keep the places of its agent.
func waitFor(d *Decision, task *workflow.Task) time.Duration {
	wait := d.Profile.questionTimeout(task.Kind, task.Agent)
	if question := d.Run.Task(task.ID); wait > 0 && ofRouter(task.Kind) && question != nil && question.LastFailure != nil {
		wait += schemas.Redelivery
	}
	return wait
}

// evidence gathers what agents have said about a task. One that has not answered
// in time counts as silent (P-09).
func evidence(d *Decision, task string) route.Evidence {
	evidence := route.Evidence{Source: d.Run.Message.Channel, Found: d.Found}
	for i := range d.Run.DecisionTasks {
		question := d.Run.DecisionTasks[i]
		if question.Subject().Task != task || !question.State.Ended() {
			continue
		}
		answered := question.State == workflow.TaskCompleted
		var result schemas.Result
		if answered {
			result = d.content(question.Result)
		}
		switch question.Kind {
		case schemas.TaskKindAssess:
			evidence.Assessments = append(evidence.Assessments, assessment(question.Agent, result, answered))
		case schemas.TaskKindRoute:
			made := choice(question.Agent, result, answered)
			if !answered {
				made.Failure = choiceFailure(question)
			}
			evidence.Choices = append(evidence.Choices, made)
		case schemas.TaskKindPlan, schemas.TaskKindWork, schemas.TaskKindExtract, schemas.TaskKindEvaluate, schemas.TaskKindCheck, schemas.TaskKindMerge,
			schemas.TaskKindSummarize, schemas.TaskKindNotify, schemas.TaskKindDeliver:
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

// choiceFailure says why an agent that was asked to route has said nothing; empty is that it was late. It has no words of the agent: they
// stand with its failure.
func choiceFailure(question *workflow.Task) string {
	failed := question.Failure()
	switch failed.Cause {
	case schemas.FailureUnavailable:
		return "was not asked, since it has failed too often"
	case schemas.FailureNotStarted:
		return "did not begin in time"
	case schemas.FailureCrashed:
		return "has given no further sign of life"
	case schemas.FailureMalformed:
		return "gave an answer that cannot be read"
	case schemas.FailureInvalidResult:
		return "gave an answer that is not what was asked for"
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureNoRoute,
		schemas.FailureUnknownEffect, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
		return "has failed (" + string(failed.Cause) + ", " + string(failed.Category) + ")"
	case schemas.FailureTimeout:
	}
	return ""
}

// undecided reports whether nobody is responsible for a task because an agent that was to say who is has said nothing.
func undecided(d *Decision, task string) bool {
	return slices.ContainsFunc(d.Run.DecisionTasks, func(question *workflow.Task) bool {
		return question.Kind == schemas.TaskKindRoute && question.Subject().Task == task && question.State == workflow.TaskFailed
	})
}

// ask asks an agent something that a decision needs, once.
func ask(d *Decision, question *workflow.Task) {
	if d.Run.Task(question.ID) != nil {
		return
	}
	if unapprovedQuestion(d, question.Agent) {
		d.emit(taskReady(d, question))
		fail(d, d.Run.Task(question.ID), schemas.FailureUnapproved, "")
		return
	}
	pose(d, question)
}

// pose asks an agent, once there is room and it fits the budget.
func pose(d *Decision, question *workflow.Task) {
	if exceedsBudget(d, question) {
		hold(d, question)
		return
	}
	switch admit(d, question) {
	case Admitted:
		dispatch(d, question)
	case Full:
		ready(d, question)
	case Unavailable:
		d.emit(taskReady(d, question))
		known := d.Run.Task(question.ID)
		fail(d, known, schemas.FailureUnavailable, whyUnavailable(d, known))
	}
}

// refuseChain holds mode single to one agent, or to a chain that the profile allows
// (G-04); a plan that does more is refused, and its words are one task.
func refuseChain(d *Decision) {
	if !mayRefuse(d) {
		return
	}
	if d.Run.Changes > 0 || slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool { return task.Attempt > 0 || task.PreviousAgent != "" }) {
		return // it has begun: an agent in the place of another makes it no other plan
	}
	chain := make([]string, len(d.Run.Tasks))
	for i, task := range d.Run.Tasks {
		chain[i] = task.Agent
	}
	if slices.ContainsFunc(d.Profile.Execution.AllowedChains, func(allowed []string) bool { return slices.Equal(allowed, chain) }) {
		return
	}
	refuse(d, d.Run.Source, []string{"the chain " + strings.Join(chain, " → ") + " is not one of execution.allowed_chains"})
	singleTask(d, "t0", schemas.Result{})
}

// mayRefuse reports whether a chain of agents has to be one of those that the profile allows.
func mayRefuse(d *Decision) bool {
	given := d.Run.Source == schemas.PlannerExternal || d.Run.Source == schemas.PlannerTemplate
	return d.Profile.Execution.Mode == schemas.ExecutionSingle && len(d.Run.Tasks) > 1 && !given
}
