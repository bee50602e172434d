package plan

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/budget"
)

// A Response is what an agent said to the current attempt of a task.
type Response struct {
	Status        schemas.ResponseStatus
	Result        schemas.Content         // as the session keeps it
	WholeResult   schemas.Result          // as the agent said it
	Delivered     string                  // mail's Message-ID or chat's reply id, from a delivery
	Detail        string                  // what went wrong, as the agent says
	Permanent     bool                    // the agent says that no attempt can help
	EffectUnknown bool                    // the agent says that its effect may have happened all the same
	Crashed       bool                    // the agent says that its process has ended over it, more than once
	Category      schemas.FailureCategory // of what went wrong, as the agent says
	Deliverables  []schemas.Deliverable   // of work
	PutArtifacts  []string                // artifacts that it names and that the agent has put
	Tokens        int
	Request       string            // that it answers
	Said          budget.Said       // what that has used
	Sequence      uint64            // of the answer
	Findings      *schemas.Findings // nil when the agent has said none
	Needs         []schemas.Need
	Operation     *schemas.Operation
}

// HandleResponse takes an agent's answer to the current attempt of a task.
func (d *Decision) HandleResponse(task *workflow.Task, answer Response) {
	spend(d, task, &answer)
	if undone := answer.Status == schemas.StatusBlocked || answer.Status == schemas.StatusFailed; undone && task.Unapproved {
		failed := answer.failed(schemas.FailureUnapproved)
		// Another process of the agent may have the permit, and this may be the answer of the one that was refused.
		unsure := task.Permit != ""
		failed.EffectUnknown = unsure
		switch {
		case !unsure:
			failed.Detail, failed.Reasons = "", []schemas.Reason{schemas.Because(schemas.EffectUnapproved)}
		case asksOnUnknown(&d.View, task.Agent):
			failed.Cause = schemas.FailureUnknownEffect
		}
		d.failWith(task, failed)
		return
	}
	switch answer.Status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		accept(d, task, &answer)
	case schemas.StatusBlocked:
		failed := answer.failed(schemas.FailureBlocked)
		if answer.Category == schemas.CategoryInput && d.Profile.Waiting != nil {
			failed.Category = schemas.CategoryInput
		}
		if failed.Detail == "" && failed.Operation != nil && d.Profile.Waiting != nil {
			failed.Detail = truncate(failed.Operation.Summary, maxFeedback)
		}
		failed.EffectUnknown = answer.EffectUnknown && task.Permit != ""
		if failed.EffectUnknown && asksOnUnknown(&d.View, task.Agent) {
			failed.Cause = schemas.FailureUnknownEffect
		}
		d.failWith(task, failed)
	case schemas.StatusFailed:
		if task.Kind == schemas.TaskKindCheck && answer.Findings != nil && len(answer.Findings.ValidationResults) > 0 {
			accept(d, task, &answer) // it has looked, and says what is wrong
			return
		}
		agentFailed(d, task, &answer)
	}
}

// Malformed ends the attempt of a task by an answer that cannot be read.
func (d *Decision) Malformed(task *workflow.Task, answer *schemas.Malformed) {
	spend(d, task, &Response{Request: task.Request})
	d.failWith(task, schemas.TaskFailed{
		Cause: schemas.FailureMalformed, Detail: answer.Detail, Quarantine: answer.Quarantine,
	})
}

// agentFailed takes a failure that the agent tells. Whether there is another attempt
// when its effect was permitted and may have happened, is for the profile to say.
func agentFailed(d *Decision, task *workflow.Task, answer *Response) {
	failed := answer.failed(schemas.FailureAgent)
	failed.EffectUnknown = answer.EffectUnknown && task.Permit != ""
	switch {
	case failed.EffectUnknown && asksOnUnknown(&d.View, task.Agent):
		failed.Cause = schemas.FailureUnknownEffect
	case answer.Permanent:
		failed.Cause = schemas.FailurePermanent
	case answer.Crashed:
		failed.Cause = schemas.FailureCrashed
	case answer.Category == schemas.CategoryValidation:
		failed.Cause = schemas.FailureInvalidResult // its own process has found that
	case answer.Category == schemas.CategoryResource && !failed.EffectUnknown:
		failed.Category = schemas.CategoryResource
	}
	if answer.Category == schemas.CategoryDependency {
		failed.Category = schemas.CategoryDependency
	}
	d.failWith(task, failed)
}

// failed is the failure of an attempt, with all that its agent has said.
func (answer *Response) failed(cause schemas.FailureKind) schemas.TaskFailed {
	return schemas.TaskFailed{
		Cause: cause, Detail: answer.Detail, Tokens: answer.Tokens, Needs: answer.Needs, Operation: answer.Operation, Findings: answer.Findings,
	}
}

func accept(d *Decision, task *workflow.Task, answer *Response) {
	switch {
	case task.Kind == schemas.TaskKindPlan:
		planAnswered(d, task, answer)
		return
	case task.Kind.AsksEvaluator():
		judgeAnswered(d, task, answer)
		return
	case task.Kind == schemas.TaskKindNotify:
		completed(d, task, answer)
		return
	case task.Kind == schemas.TaskKindDeliver:
		completed(d, task, answer)
		d.emit(end(&d.View, d.Run.Reason, answer.Delivered))
		return
	case task.Kind != schemas.TaskKindWork:
		completed(d, task, answer)
		return
	}
	partial := answer.Status == schemas.StatusPartial
	if check := d.Profile.outputs[task.Agent]; check != nil && !partial { // a part need not be the whole
		if err := checkSchema(answer.WholeResult.Data, check); err != nil {
			failed := answer.failed(schemas.FailureInvalidResult)
			failed.Detail, failed.Reasons = "", []schemas.Reason{schemaFault(schemas.ResultInvalid, err)}
			d.failWith(task, failed)
			return
		}
	}
	if detail, wrong := d.Profile.verdict(task.Agent, answer.WholeResult); wrong {
		failed := answer.failed(schemas.FailureVerdict)
		failed.Detail, failed.Result = truncate(detail, maxFeedback), answer.Result
		var proves schemas.TaskCompleted
		(&provenance{view: &d.View, task: task, put: answer.PutArtifacts}).result(answer.WholeResult, &proves)
		failed.Proven = proves.Proven
		d.failWith(task, failed)
		return
	}
	if fault := languageFault(&d.View, task, answer.WholeResult); len(fault) > 0 {
		failed := answer.failed(schemas.FailureInvalidResult)
		failed.Detail, failed.Reasons = "", fault
		d.failWith(task, failed)
		return
	}
	flagMismatches(d, task, answer.WholeResult)
	completed(d, task, answer)
}

// fail ends the attempt that is answered.
func (d *Decision) fail(task *workflow.Task, cause schemas.FailureKind, reasons ...schemas.Reason) {
	d.failWith(task, schemas.TaskFailed{Cause: cause, Reasons: reasons})
}

func (d *Decision) failWith(task *workflow.Task, failed schemas.TaskFailed) {
	failed.Usage = takeSpent(d, task)
	d.apply(failWith(&d.View, task, failed))
}

func completed(d *Decision, task *workflow.Task, answer *Response) {
	completed := schemas.TaskCompleted{
		Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Result: answer.Result, Tokens: answer.Tokens,
		Sequence: answer.Sequence, Findings: answer.Findings, Usage: takeSpent(d, task),
		Partial: answer.Status == schemas.StatusPartial && task.Kind == schemas.TaskKindWork,
	}
	provenance := provenance{view: &d.View, task: task, put: answer.PutArtifacts}
	switch {
	case task.Kind == schemas.TaskKindWork:
		completed.Recovered, completed.Told = task.Failure().Action, toldHash(&d.View, task)
		provenance.answer(answer, &completed)
	case task.Kind == schemas.TaskKindPlan || task.Kind.AsksEvaluator(): // its tasks may be given what it was given
		provenance.result(answer.WholeResult, &completed)
		completed.Unproven = nil
	}
	d.emit(&completed)
}

// flagMismatches flags an answer about another entity than the session's (G-30).
func flagMismatches(d *Decision, task *workflow.Task, result schemas.Result) {
	if len(d.Run.Entities) == 0 || len(result.Data) == 0 {
		return
	}
	var said map[string]jsontext.Value
	if schemas.Unmarshal(result.Data, &said) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Run.Entities)) {
		if found, ok := scalar(said[name]); ok && found != d.Run.Entities[name] {
			d.emit(&schemas.EntityMismatched{
				Run: d.Run.Number, Task: task.ID, Entity: name, Found: found,
			})
		}
	}
}

// scalar returns the characters of a JSON string, or a number as it is written,
// as an entity is kept.
func scalar(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		return entity(string(text)), err == nil
	case '0':
		return entity(string(value)), true
	}
	return "", false
}
