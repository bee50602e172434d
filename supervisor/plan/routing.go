package plan

import (
	"cmp"
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

// unrouted lists the tasks that no agent was found for yet.
func unrouted(v *View) []*workflow.Task {
	var tasks []*workflow.Task
	for _, task := range v.Run.Tasks {
		if !task.Routed && !task.State.Ended() {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// routeTask routes a task if its routers know enough, or else asks the agents that they need to know of.
func routeTask(v *View, task *workflow.Task) events {
	if task.Routed || task.State.Ended() || awaitsQuestion(v, task.ID) {
		return nil
	}
	words := v.content(task.Plan.Description).Text
	evidence := evidence(v, task.ID)
	need := v.Profile.router.Need(words, task.Plan.Agent, evidence)
	if !need.Empty() {
		return askRouters(v, task, &need)
	}
	decision, decided := v.Profile.router.DecideWith(words, task.Plan.Agent, evidence)
	if !decided {
		decision.NextAgent = ""
	}
	decision.Response = truncate(decision.Response, schemas.RecordInlineLimit)
	routed := &schemas.TaskRouted{Run: v.Run.Number, Task: task.ID, Decision: decision}
	switch decision.NextAgent {
	case schemas.RouteRespond, schemas.RouteFinish: // answered without an agent (O-13)
		if found := otherLanguage(v, decision.Response); found != "" { // nobody is asked twice who is responsible
			return events{routed, &schemas.TaskFailed{
				Run: v.Run.Number, Task: task.ID, Cause: schemas.FailureInvalidResult, Reasons: wrongLanguage(v, found),
				Category: schemas.CategoryExecution, Action: giveUp(v, task, schemas.FailureInvalidResult),
			}}
		}
		said := decision.Response
		if decision.NextAgent == schemas.RouteFinish {
			said = cmp.Or(strings.TrimSpace(said), v.texts().Farewell)
		}
		return events{routed, &schemas.TaskCompleted{Run: v.Run.Number, Task: task.ID, Result: inlineBody(said)}}
	case "":
		if mayRefuse(v) {
			return events{routed, &schemas.TaskFailed{
				Run: v.Run.Number, Task: task.ID, Cause: schemas.FailureNoRoute,
				Category: schemas.CategoryCoordination, Action: giveUp(v, task, schemas.FailureNoRoute),
			}}
		}
		done := events{routed}
		v = v.after(done)
		return append(done, fail(v, v.Run.Task(task.ID), schemas.FailureNoRoute)...)
	}
	return events{routed}
}

// askRouters asks the agents by whose answers a task is routed.
func askRouters(v *View, task *workflow.Task, need *route.Need) events {
	questions := make([]*workflow.Task, 0, len(need.Assess)+1)
	for _, agent := range need.Assess {
		questions = append(questions, workflow.NewAssessment(task.ID, agent))
	}
	if need.Choose != "" {
		questions = append(questions, workflow.NewRouting(task.ID, need.Choose))
	}
	return askAll(v, questions)
}

// askAll asks agents several things that a decision needs.
func askAll(v *View, questions []*workflow.Task) events {
	var done events
	for i, question := range questions {
		asked := ask(v, question)
		done = append(done, asked...)
		if i < len(questions)-1 {
			v = v.after(asked)
		}
	}
	return done
}

// awaitsQuestion reports whether an answer that a task's routers need is still awaited.
func awaitsQuestion(v *View, task string) bool {
	return slices.ContainsFunc(v.Run.DecisionTasks, func(question *workflow.Task) bool {
		return question.Subject().Task == task && !question.State.Ended()
	})
}

// interrupted reports whether a router's question went unanswered because the process that had asked it is gone: whoever worked on it may have gone with
// it. It is asked anew, since what an agent could not say is nothing that it has said.
func interrupted(v *View, question *workflow.Task, cause schemas.FailureKind) bool {
	late := cause == schemas.FailureNotStarted || cause == schemas.FailureTimeout || cause == schemas.FailureCrashed
	switch {
	case !late || !ofRouter(question.Kind):
		return false
	case question.State.UnderWay():
		return ofEarlierEpoch(v, question, question.Request, question.Attempt)
	}
	// It never went out. What kept the places of its agent may be what went out before the process ended.
	return question.Rejections == 0 && slices.ContainsFunc(v.Run.DecisionTasks, func(other *workflow.Task) bool {
		return other.Agent == question.Agent &&
			(ofEarlierEpoch(v, other, other.Request, other.Attempt) || ofEarlierEpoch(v, other, other.PreviousRequest, other.Attempt-1))
	})
}

func ofEarlierEpoch(v *View, question *workflow.Task, request string, attempt int) bool {
	return request != "" && request != schemas.RequestID(v.Shard, v.Epoch, schemas.RunID(v.Session, v.Run.Number), question.ID, attempt)
}

func ofRouter(kind schemas.TaskKind) bool {
	return kind == schemas.TaskKindAssess || kind == schemas.TaskKindRoute
}

// waitFor is how long the answer to a question is waited for; 0 leaves it to the deadlines of work. One that is asked anew waits as well until
// the bus gives up those who had it before, and keep the places of its agent.
func waitFor(v *View, task *workflow.Task) time.Duration {
	wait := v.Profile.questionTimeout(task.Kind, task.Agent)
	if question := v.Run.Task(task.ID); wait > 0 && ofRouter(task.Kind) && question != nil && question.LastFailure != nil {
		wait += schemas.Redelivery
	}
	return wait
}

// evidence gathers what agents have said about a task. One that has not answered
// in time counts as silent (P-09).
func evidence(v *View, task string) route.Evidence {
	evidence := route.Evidence{Source: v.Run.Message.Channel, Found: v.Found}
	for i := range v.Run.DecisionTasks {
		question := v.Run.DecisionTasks[i]
		if question.Subject().Task != task || !question.State.Ended() {
			continue
		}
		answered := question.State == workflow.TaskCompleted
		var result schemas.Result
		if answered {
			result = v.content(question.Result)
		}
		switch question.Kind {
		case schemas.TaskKindAssess:
			evidence.Assessments = append(evidence.Assessments, assessment(question.Agent, result, answered))
		case schemas.TaskKindRoute:
			evidence.Choices = append(evidence.Choices, choice(question, result, answered))
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

// choice is what an agent that was asked to route has said, or why it has said nothing. An answer that names nobody is
// of no use.
func choice(question *workflow.Task, result schemas.Result, answered bool) route.Choice {
	made := route.Choice{Agent: question.Agent, Answered: answered}
	if !answered {
		failed := question.Failure()
		made.Failure, made.Category = failed.Cause, failed.Category
		return made
	}
	if said, err := route.ParseDecision(result); err == nil {
		made.Said = said
	}
	return made
}

// undecided reports whether nobody is responsible for a task because an agent that was to say who is has said nothing.
func undecided(v *View, task string) bool {
	return slices.ContainsFunc(v.Run.DecisionTasks, func(question *workflow.Task) bool {
		return question.Kind == schemas.TaskKindRoute && question.Subject().Task == task && question.State == workflow.TaskFailed
	})
}

// ask asks an agent something that a decision needs, once.
func ask(v *View, question *workflow.Task) events {
	if v.Run.Task(question.ID) != nil {
		return nil
	}
	if unapprovedQuestion(v, question.Agent) {
		return failUnasked(v, question, schemas.TaskFailed{Cause: schemas.FailureUnapproved})
	}
	return pose(v, question)
}

// pose asks an agent, once there is room and it fits the budget.
func pose(v *View, question *workflow.Task) events {
	if exceedsBudget(v, question) {
		return hold(v, question)
	}
	switch admit(v, question) {
	case Admitted:
		return dispatch(v, question)
	case Unavailable:
		return failUnasked(v, question, unavailable(v, question))
	case Full:
	}
	return ready(v, question)
}

// failUnasked fails a question that its agent is not asked.
func failUnasked(v *View, question *workflow.Task, failed schemas.TaskFailed) events {
	done := events{taskReady(v, question)}
	v = v.after(done)
	return append(done, failWith(v, v.Run.Task(question.ID), failed)...)
}

// refuseChain holds mode single to one agent, or to a chain that the profile allows
// (G-04); a plan that does more is refused, and its words are one task.
func refuseChain(v *View) events {
	if !mayRefuse(v) {
		return nil
	}
	if v.Run.Changes > 0 || slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool { return task.Attempt > 0 || task.PreviousAgent != "" }) {
		return nil // it has begun: an agent in the place of another makes it no other plan
	}
	chain := make([]string, len(v.Run.Tasks))
	for i, task := range v.Run.Tasks {
		chain[i] = task.Agent
	}
	if slices.ContainsFunc(v.Profile.Execution.AllowedChains, func(allowed []string) bool { return slices.Equal(allowed, chain) }) {
		return nil
	}
	refused := refuse(v, v.Run.Source, []schemas.Reason{schemas.Because(schemas.PlanChain, "chain", strings.Join(chain, " → "))})
	return events{refused, singleTask(v, "t0", schemas.Result{})}
}

// mayRefuse reports whether a chain of agents has to be one of those that the profile allows.
func mayRefuse(v *View) bool {
	given := v.Run.Source == schemas.PlannerExternal || v.Run.Source == schemas.PlannerTemplate
	return v.Profile.Execution.Mode == schemas.ExecutionSingle && len(v.Run.Tasks) > 1 && !given
}
