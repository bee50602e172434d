package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// stopByCondition stops a run of which a condition that ends it is true (C-09).
func stopByCondition(v *View) events {
	for i, known := range v.Profile.Conditions(v.Run, v.Read) {
		if !v.Profile.Replan.Conditions[i].End || string(known.Value) != "true" {
			continue
		}
		if allEnded(v) {
			return finish(v) // there is nothing left that it could keep from being done
		}
		return incomplete(v, schemas.StopCondition, schemas.Because(schemas.RunCondition, "condition", known.Name))
	}
	return nil
}

// askEvaluator asks an evaluator what the profile asks one about now. Without a step left for that the run ends, or what there is of it is reviewed.
func askEvaluator(v *View) events {
	occasion, agent, due := occasion(v)
	switch {
	case !due:
		return nil
	case v.Run.Steps() < v.Profile.StepLimit():
		return ask(v, v.Run.NewEvaluation(schemas.EvaluationTrigger(occasion), agent))
	case reviewed(v):
		return forceReview(v)
	}
	return stepLimit(v)
}

// awaitsEvaluator reports whether nothing else begins until an evaluator has answered, or until the evaluation that is due is made.
func awaitsEvaluator(v *View) bool {
	_, _, due := occasion(v)
	return due || v.Run.Judge() != nil
}

// stepwise reports whether a judge is asked after each step.
func (p *Profile) stepwise() bool { return p.Replan != nil && p.Replan.After == schemas.OccasionStep }

// occasion is what a judge is to be asked for now, and who; false is nothing, or that the attempts at the request are used up.
func occasion(v *View) (occasion schemas.Occasion, agent string, due bool) {
	if v.Profile.Replan == nil && recovery.Judge(&v.Profile.Profile) == "" {
		return "", "", false
	}
	if slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool { return awaitsFailureEvaluation(v, task) }) {
		return schemas.OccasionFailure, recovery.Judge(&v.Profile.Profile), true
	}
	replan := v.Profile.Replan
	if !changes(v) {
		return "", "", false
	}
	untold := func(task *workflow.Task) bool {
		return !task.Judged && task.Worked() && (replan.After == schemas.OccasionStep || task.State == workflow.TaskFailed)
	}
	if replan.After == schemas.OccasionStep && slices.ContainsFunc(v.Run.Tasks, begun) {
		return "", "", false
	}
	return replan.After, replan.Agent, slices.ContainsFunc(v.Run.Tasks, untold)
}

// awaitsFailureEvaluation reports whether a task has failed, and the agent of Escalation.Planner has not been told so that decides about it.
func awaitsFailureEvaluation(v *View, task *workflow.Task) bool {
	failed := task.LastFailure
	return task.State == workflow.TaskFailed && !task.Judged && !task.Replaced && failed != nil && failed.Action == schemas.RecoveryEscalateToPlanner && failed.Unrecovered == "" &&
		recovery.Judged(&v.Profile.Profile, failed.Category, failed.Cause)
}

// changes reports whether the plan may still be changed.
func changes(v *View) bool {
	replan := v.Profile.Replan
	return replan != nil && (replan.Attempts == 0 || v.Run.Attempts() < replan.Attempts)
}

// begun reports whether a changed plan keeps a task: an agent or a person was asked, or a reply has released it.
func begun(task *workflow.Task) bool {
	switch task.State {
	case workflow.TaskPending, workflow.TaskCompleted, workflow.TaskFailed, workflow.TaskSkipped, workflow.TaskCancelled:
		return false
	case workflow.TaskReady:
		return task.Attempt > 0 || task.Released
	case workflow.TaskDue, workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskWaiting, workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked:
	}
	return true
}

// leftPending reports whether a task is no longer pending and has not ended.
func leftPending(task *workflow.Task) bool {
	return !task.State.Ended() && task.State != workflow.TaskPending
}

// mayBegin reports whether one more task may begin: with a judge after each step one at a time, and never more than the steps allow.
func mayBegin(v *View) bool {
	if v.Profile.StepLimit() == 0 {
		return true
	}
	if v.Profile.stepwise() && slices.ContainsFunc(v.Run.Tasks, leftPending) {
		return false
	}
	return v.Run.Judge() == nil && v.Run.Steps() < v.Profile.StepLimit()
}

// stopOutOfSteps ends a run that has nothing under way and no step left for what is still to be done.
func stopOutOfSteps(v *View) events {
	switch {
	case v.Profile.StepLimit() == 0 || v.Run.Steps() < v.Profile.StepLimit() || slices.ContainsFunc(v.Run.Tasks, leftPending):
		return nil
	case reviewed(v):
		return forceReview(v)
	}
	return stepLimit(v)
}

// stepLimit stops the run, with what is there (C-11, C-13).
func stepLimit(v *View) events {
	return incomplete(v, schemas.StopStepLimit, stepsTaken(v))
}

func stepsTaken(v *View) schemas.Reason {
	return schemas.Because(schemas.RunOutOfSteps, "limit", strconv.Itoa(v.Profile.StepLimit()))
}

// incomplete stops a run before its work is done, and keeps the results that it has. They are told unless a review has not passed them.
func incomplete(v *View, reason schemas.StopReason, why schemas.Reason) events {
	return unfinished(v, reason, schemas.ActionEscalate, without(v.texts().TaskFailed), why)
}

// unfinished stops a run before its work is done. Its results are told, or else what a review has found wrong with them.
func unfinished(v *View, reason schemas.StopReason, action schemas.SuggestedAction, sentence string, why ...schemas.Reason) events {
	status := schemas.RunFailed
	switch {
	case tellsResults(v):
		status, sentence = schemas.RunPartial, sentence+"\n\n"+v.texts().Partial
	case withheldByReview(v):
		if found, errorsFound := reviewErrors(v); errorsFound > 0 {
			sentence += "\n\n" + reviewFault(v, found)
		}
	}
	return stop(v, status, reason, schemas.InquiryWithdrawn, runFailure(v, schemas.ErrorSystem, action, sentence, why...))
}

// without is a sentence that is about nothing in particular.
func without(sentence string) string {
	return strings.TrimSpace(strings.NewReplacer("{detail}", "", "{task}", "", "{agent}", "").Replace(sentence))
}

// judgeAnswered takes the answer of a judge, or says what is wrong with it.
func judgeAnswered(d *Decision, question *workflow.Task, answer *Response) {
	switch question.Occasion() {
	case schemas.OccasionReview:
		checkAnswered(d, question, answer)
		return
	case schemas.OccasionMerge:
		mergeAnswered(d, question, answer)
		return
	case schemas.OccasionSummary:
		summaryAnswered(d, question, answer)
		return
	case schemas.OccasionStep, schemas.OccasionFailure, schemas.OccasionPerson, schemas.OccasionFix:
	}
	judged := schemas.Judged{
		Run: d.Run.Number, Question: question.ID, Occasion: question.Occasion(), Round: d.Run.Attempts(), Outcome: schemas.OutcomePlan,
	}
	said, err := ReadVerdict(answer.WholeResult)
	refuse := func(why ...schemas.Reason) { d.fail(question, schemas.FailureInvalidResult, why...) }
	if outcome, says := checked(answer.Findings); says && saysNothing(err) {
		judged.Outcome = outcome
		completed(d, question, answer)
		d.emit(&judged)
		d.apply(follow(&d.View, &judged))
		return
	}
	if err != nil {
		refuse(reasonOf(err))
		return
	}
	if said.Response != "" {
		if found := otherLanguage(&d.View, said.Response); found != "" {
			refuse(wrongLanguage(&d.View, found)...)
			return
		}
		judged.Outcome = schemas.OutcomeResponse
		completed(d, question, answer)
		d.emit(&judged)
		if said.NoAnswer {
			why := runFailure(&d.View, schemas.ErrorToolFailure, schemas.ActionEscalate, said.Response, schemas.Because(schemas.RunWithoutAnswer))
			d.apply(cancelTasks(&d.View, schemas.InquiryWithdrawn))
			d.emit(concludeWith(&d.View, schemas.RunFailed, schemas.StopTaskFailed, why, nil))
			return
		}
		d.apply(respond(&d.View, question, said.Response, answer.Status == schemas.StatusPartial))
		return
	}
	change, faults := change(&d.View, &said)
	if len(faults) > 0 {
		refuse(feedback(faults)...)
		return
	}
	judged.Repeated = change.repeated
	completed(d, question, answer)
	d.emit(&judged)
	d.apply(adoptChange(&d.View, judged.Occasion, change))
}

// checked is what a judge has found by checks: they have passed when each has, and found nothing that is an error (M-10, M-41).
func checked(findings *schemas.Findings) (schemas.Outcome, bool) {
	if findings == nil || len(findings.ValidationResults) == 0 {
		return "", false
	}
	for i := range findings.ValidationResults {
		result := &findings.ValidationResults[i]
		wrong := func(issue schemas.ValidationIssue) bool { return issue.Severity == schemas.ValidationError }
		if result.Status != schemas.ValidationPassed || slices.ContainsFunc(result.Issues, wrong) {
			return schemas.OutcomeFailed, true
		}
	}
	return schemas.OutcomePassed, true
}

// follow goes on as checks say: what has passed lets the run go on by its plan, without what the judge was told to have failed. A step that has
// not passed ends the run, because nothing is said of what else is to be done; a failure that has not stays one.
func follow(v *View, judged *schemas.Judged) events {
	switch {
	case judged.Outcome == schemas.OutcomePassed:
		var done events
		for _, id := range failuresTold(v) {
			done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: id, Reason: schemas.SkippedForgone})
		}
		return done
	case judged.Occasion == schemas.OccasionStep:
		return incomplete(v, schemas.StopTaskFailed, schemas.Because(schemas.RunResultWrong))
	}
	return nil
}

// respond ends the run by the words of an evaluator. What is under way is not waited for any more. A partial response says itself what it lacks.
func respond(v *View, question *workflow.Task, words string, partly bool) events {
	answer := []schemas.AnswerPart{{Task: question.ID, Body: inlineBody(words)}}
	status, reason, lacks := schemas.RunCompleted, schemas.StopCompleted, (*schemas.Error)(nil)
	if partly {
		status, reason, lacks = schemas.RunPartial, schemas.StopPartial, partialResult(v, question)
	}
	return append(cancelTasks(v, schemas.InquiryWithdrawn), concludeWith(v, status, reason, lacks, answer))
}

func (p *Profile) replanFaults() []error {
	var faults []error
	replan := p.Replan
	if replan == nil {
		return nil
	}
	if !schemas.ValidAgentName(replan.Agent) {
		faults = append(faults, errors.New("replan: it names no agent"))
	}
	switch {
	case replan.After == schemas.OccasionStep && p.Execution.Mode != schemas.ExecutionSequence:
		faults = append(faults, errors.New("replan: after a step needs the execution mode sequence"))
	case replan.After != schemas.OccasionStep && replan.After != schemas.OccasionFailure:
		faults = append(faults, fmt.Errorf("replan: unknown occasion %q", replan.After))
	case p.Execution.Mode == schemas.ExecutionSingle:
		faults = append(faults, errors.New("replan: the execution mode single has no plan that may change"))
	}
	if replan.Attempts < 0 || p.Execution.Steps < 0 {
		faults = append(faults, errors.New("replan: attempts and execution.steps are not negative"))
	}
	for i := range replan.Conditions {
		condition := &replan.Conditions[i]
		if condition.Name == "" || (condition.Pointer == "") == (len(condition.Constant) == 0) || condition.Pointer != "" && !jsontext.Pointer(condition.Pointer).IsValid() {
			faults = append(faults, fmt.Errorf("replan.conditions[%d] %q: it needs a name, and a JSON Pointer or a constant", i, condition.Name))
		}
	}
	return faults
}
