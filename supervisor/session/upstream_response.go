package session

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// handleResponse is the execution_response to whoever asked for the run (M-07…M-12).
func (env *Env) response(run *workflow.Run, now time.Time) (Output, error) {
	upstream := run.Message.Upstream
	payload := schemas.ResponsePayload{
		Status: responseStatus(run.Status), PlanID: upstream.PlanID,
		ExecutionSummary: summary(run), Deliverables: env.deliverables(run),
		ResourceUsage: usage(run, now), IssuesEncountered: issues(run, upstream), Result: env.result(run),
	}
	env.handOn(&payload, run)
	response := schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(upstream.Request), From: upstream.To, To: upstream.From,
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: now, InReplyTo: upstream.Request,
		},
		Payload: payload,
	}
	body, err := schemas.Marshal(response)
	if len(body) > schemas.MaxBody { // a failure, after which nothing is done again without being asked for
		response.Payload.Status, response.Payload.Result = schemas.StatusFailed, nil
		response.Payload.IssuesEncountered = append(response.Payload.IssuesEncountered, schemas.Issue{
			IssueID: schemas.ResponseID(upstream.Request), TaskID: upstream.Task, Agent: upstream.To, Severity: "high",
			Description: say.Sentence(say.English(), "result_too_large"), Resolution: schemas.ResolutionEscalated, EffectUnknown: true,
		})
		body, err = schemas.Marshal(response)
	}
	return Output{Kind: OutputResponse, Agent: upstream.To, Event: replyEvent(&run.Message, &response.Envelope, body)}, err
}

// Refuse returns the response to a request that has come under the message_id of an earlier one and asks for something else; false when it
// asks for the same. A supervisor that tries again is never refused: what it says follows from its record.
func Refuse(again, earlier *Input) (Output, bool) {
	if again.Event.EffectID != "" || again.Message == nil || again.Message.Upstream == nil {
		return Output{}, false
	}
	asked, err := schemas.DecodeExecutionRequest(again.Event.Data)
	if err != nil {
		return Output{}, false
	}
	before, err := schemas.DecodeExecutionRequest(earlier.Event.Data)
	takeFromTasks(asked.Payload.Tasks) // grants may be made anew
	takeFromTasks(before.Payload.Tasks)
	if err != nil || before.AsksTheSame(&asked) {
		return Output{}, false
	}
	id, upstream := schemas.RefusalID(asked.MessageID, again.Event.Data), again.Message.Upstream
	response := schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: id, From: upstream.To, To: upstream.From, Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: again.Event.Time, InReplyTo: upstream.Request,
		},
		Payload: schemas.ResponsePayload{Status: schemas.StatusFailed, PlanID: upstream.PlanID, IssuesEncountered: []schemas.Issue{{
			IssueID: id, TaskID: cmp.Or(upstream.Task, asked.Payload.Tasks[0].TaskID), Agent: upstream.To, Severity: "high",
			Description: say.Sentence(say.English(), "request_id_taken"),
			Resolution:  schemas.ResolutionEscalated, ResolutionDetails: say.Sentence(say.English(), "request_id_needed"),
		}}},
	}
	body, err := schemas.Marshal(response)
	if err != nil {
		return Output{}, false
	}
	incoming := schemas.Incoming{Upstream: upstream, TraceParent: schemas.TraceParent(again.Event.TraceParent)}
	return Output{Kind: OutputResponse, Agent: upstream.To, Event: replyEvent(&incoming, &response.Envelope, body)}, true
}

// replyEvent returns the event of a message to whoever asked.
func replyEvent(asked *schemas.Incoming, envelope *schemas.Envelope, body []byte) schemas.Event {
	upstream := asked.Upstream
	return schemas.Event{
		ID: envelope.MessageID, Source: "/podium/" + envelope.From, Type: "podium." + envelope.Type + ".v1",
		Subject: upstream.Subject, Time: envelope.Timestamp, DataContentType: schemas.MediaTypeJSON,
		DataSchema: schemas.SchemaID(envelope.Type), PartitionKey: upstream.Partition, CorrelationID: upstream.Correlation,
		CausationID: upstream.Request, Attempt: upstream.Attempt, EffectID: upstream.Effect,
		ReplyTo: upstream.ReplyTo, TraceParent: asked.TraceParent, Data: body,
	}
}

func responseStatus(status schemas.RunStatus) schemas.ResponseStatus {
	switch status {
	case schemas.RunCompleted:
		return schemas.StatusCompleted
	case schemas.RunPartial:
		return schemas.StatusPartial
	case schemas.RunBlocked:
		return schemas.StatusBlocked
	case schemas.RunFailed, schemas.RunCancelled:
	}
	return schemas.StatusFailed
}

// result assembles what the run was asked for: its text, and the data of the
// answerOf when it has one part.
func (env *Env) result(run *workflow.Run) *schemas.Result {
	if len(run.Answer) == 0 {
		return nil
	}
	parts := make([]string, len(run.Answer))
	var result schemas.Result
	all := map[string]jsontext.Value{}
	for i := range run.Answer {
		content := env.content(run.Answer[i].Body)
		parts[i] = content.Text
		task := run.Task(run.Answer[i].Task)
		if len(run.Answer) > 1 {
			parts[i] = cmp.Or(run.Answer[i].Told, content.Text)
			if len(content.Data) > 0 && task != nil {
				all[task.ID] = env.proveForUpstream(run, content.Data, task.Proven)
			}
		}
		if len(run.Answer) == 1 {
			result = content
			if task != nil {
				result.Data = env.proveForUpstream(run, content.Data, task.Proven)
			}
		}
	}
	result.Text = cut(workflow.AnswerText(parts, nil, run.Message.Language, "", run.Summary), maxAnswer)
	if len(all) > 0 { // of several parts, each under its task
		if body, err := schemas.Marshal(all); err == nil {
			result.Data = body
		}
	}
	return &result
}

// summary counts the tasks of a run (M-08).
func summary(run *workflow.Run) *schemas.ExecutionSummary {
	counted := schemas.ExecutionSummary{TotalTasks: len(run.Tasks), CompletionPercentage: run.Progress()}
	for i := range run.Tasks {
		if run.Tasks[i].Replaced {
			counted.TotalTasks--
			continue
		}
		switch run.Tasks[i].State {
		case workflow.TaskCompleted:
			counted.TasksCompleted++
		case workflow.TaskFailed:
			counted.TasksFailed++
		case workflow.TaskSkipped, workflow.TaskCancelled, workflow.TaskPending, workflow.TaskReady, workflow.TaskDue,
			workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskWaiting, workflow.TaskWaitingInput, workflow.TaskWaitingApproval,
			workflow.TaskBlocked:
			counted.TasksSkipped++
		}
	}
	return &counted
}

// deliverables are what the tasks have made, in the order of the plan (M-09).
func (env *Env) deliverables(run *workflow.Run) []schemas.Deliverable {
	var made []schemas.Deliverable
	if run.Review != nil && !fault.Is("all versions are handed on") { // of each path one version
		for _, deliverable := range env.standingDeliverables(run) {
			if file, names := plan.DeliverableFile(&deliverable); names {
				deliverable.Metadata = env.proveForUpstream(run, deliverable.Metadata, []string{file.Artifact.SHA256})
			}
			deliverable.ValidationStatus = cmp.Or(deliverable.ValidationStatus, validated(run, &deliverable))
			made = append(made, deliverable)
		}
		return made
	}
	for i := range run.Tasks {
		if run.Standing(run.Tasks[i].ID) != run.Tasks[i] {
			continue // another one has mended it
		}
		for _, deliverable := range run.Tasks[i].Deliverables {
			deliverable.TaskID = cmp.Or(deliverable.TaskID, run.Tasks[i].ID)
			deliverable.Agent = cmp.Or(deliverable.Agent, run.Tasks[i].Agent)
			if file, names := plan.DeliverableFile(&deliverable); names {
				deliverable.Metadata = env.proveForUpstream(run, deliverable.Metadata, []string{file.Artifact.SHA256})
			}
			made = append(made, deliverable)
		}
	}
	return made
}

// validated is what the newest review says of a deliverable (M-09).
func validated(run *workflow.Run, made *schemas.Deliverable) string {
	wrong := slices.ContainsFunc(run.Review.Issues, func(issue schemas.ReviewIssue) bool {
		return issue.Severity == schemas.ValidationError && (issue.File == "" || issue.File == made.Path || issue.File == review.Path(made))
	})
	switch {
	case run.Review.Outcome == schemas.OutcomePassed:
		return schemas.ValidationPassed
	case wrong:
		return schemas.ValidationFailed
	}
	return ""
}

// usage is what the run has cost (M-11).
func usage(run *workflow.Run, now time.Time) *schemas.ResourceUsage {
	used, tokens := schemas.ResourceUsage{}, 0
	if !run.Planned.IsZero() {
		used.TimeElapsedSeconds = max(now.Sub(run.Planned), 0).Seconds()
	}
	for _, task := range run.Tasks {
		tokens += task.Tokens
		if task.Started.IsZero() || task.Ended.IsZero() {
			continue
		}
		if used.AgentExecutionTimes == nil {
			used.AgentExecutionTimes = map[string]float64{}
		}
		used.AgentExecutionTimes[task.Agent] += max(task.Ended.Sub(task.Started), 0).Seconds()
	}
	if run.Account != nil {
		total := run.Account.Taken("")
		used.CostMicros, tokens = total.CostMicros, max(tokens, int(total.Tokens))
	}
	if tokens > 0 || run.Account != nil { // else none of its agents has said any
		used.TokensUsed = &tokens
	}
	return &used
}

// handOn adds what the agents of a run have said beside their results to the response for whoever
// asked: nothing of it is lost on the way through a tier.
func (env *Env) handOn(payload *schemas.ResponsePayload, run *workflow.Run) {
	for _, task := range run.Tasks {
		if task.Replaced {
			continue
		}
		said := task.Said()
		for _, issue := range said.Issues {
			issue.TaskID, issue.Agent = cmp.Or(issue.TaskID, task.ID), cmp.Or(issue.Agent, task.Agent)
			if task.State == workflow.TaskCompleted && issue.Resolution == schemas.ResolutionEscalated {
				issue.Resolution = schemas.ResolutionDeferred // the task is done all the same
			}
			told := slices.ContainsFunc(payload.IssuesEncountered, func(other schemas.Issue) bool {
				return other.TaskID == issue.TaskID && other.Description == issue.Description
			})
			if !told {
				payload.IssuesEncountered = append(payload.IssuesEncountered, issue)
			}
		}
		payload.ValidationResults = append(payload.ValidationResults, said.ValidationResults...)
		for _, advice := range said.Recommendations {
			if !slices.Contains(payload.Recommendations, advice) {
				payload.Recommendations = append(payload.Recommendations, advice)
			}
		}
		if failure := task.Failure(); task.State == workflow.TaskFailed && (failure.Cause == schemas.FailureBlocked || failure.Cause == schemas.FailureUnapproved) {
			payload.Needs = append(payload.Needs, failure.Needs...)
			if payload.Operation == nil {
				payload.Operation = failure.Operation
			}
		}
	}
	payload.ValidationResults = append(payload.ValidationResults, env.reviewed(run)...)
	payload.Needs = payload.Needs[:min(len(payload.Needs), schemas.MaxNeeds)]
}

// reviewed is what the newest review has found: by the checks in their own words, by rule, and that a check could not be made (M-42).
func (env *Env) reviewed(run *workflow.Run) []schemas.ValidationResult {
	if run.Review == nil || run.Review.Outcome == "" {
		return nil
	}
	var results []schemas.ValidationResult
	for _, question := range run.Asked(schemas.OccasionReview) {
		found, err := plan.CheckResults(question, env.content(question.Result))
		if err == nil {
			results = append(results, review.Told(question.Agent, found)...)
		}
	}
	ruled := schemas.ValidationResult{Validator: Supervisor, Status: schemas.ValidationPassed}
	for _, issue := range run.Review.Issues {
		unmade := issue.Check != "" && slices.ContainsFunc(run.Asked(schemas.OccasionReview), func(question *workflow.Task) bool {
			return question.Agent == issue.Check && question.State != workflow.TaskCompleted
		})
		if issue.Check != "" && !unmade {
			continue
		}
		ruled.Issues = append(ruled.Issues, schemas.ValidationIssue{Severity: issue.Severity, Message: say.Issue(say.English(), &issue), File: issue.File, Line: issue.Line})
		if issue.Severity == schemas.ValidationError {
			ruled.Status = schemas.ValidationFailed
		}
	}
	return append(results, ruled)
}

// issues are what went wrong and what became of it (M-12).
func issues(run *workflow.Run, upstream *schemas.Upstream) []schemas.Issue {
	var told []schemas.Issue
	add := func(task, agent, description string, resolution schemas.Resolution, details string) {
		told = append(told, schemas.Issue{
			IssueID: schemas.EffectID(upstream.Request, "issue:"+task), TaskID: task, Agent: agent, Severity: "high",
			Description: description, Resolution: resolution, ResolutionDetails: details,
		})
	}
	for _, task := range run.Tasks {
		failure := task.LastFailure
		if failure == nil || task.Replaced || task.State != workflow.TaskCompleted && task.State != workflow.TaskFailed && task.State != workflow.TaskSkipped {
			continue
		}
		resolved := resolution(failure.Cause)
		if task.State == workflow.TaskCompleted {
			resolved = schemas.ResolutionResolved
		}
		add(task.ID, task.Agent, cmp.Or(say.Failure(say.English(), failure), say.Sentence(say.English(), "task_without_result", "{cause}", string(failure.Cause))), resolved, string(failure.Action))
		if task.State == workflow.TaskFailed {
			told[len(told)-1].AttemptsUsed = failure.AttemptsUsed
		}
	}
	if len(run.Tasks) == 0 { // else there was another plan
		for i, fault := range run.PlanFaults {
			add(cmp.Or(upstream.Task, upstream.PlanID), upstream.To, say.Reason(say.English(), fault), schemas.ResolutionEscalated, string(run.Reason))
			told[len(told)-1].IssueID = schemas.EffectID(upstream.Request, "issue:fault:"+strconv.Itoa(i))
		}
	}
	withheld := run.Review != nil && run.Review.Outcome == schemas.OutcomeFailed && run.Status == schemas.RunFailed
	if run.Reason == schemas.StopReviewFailed || withheld {
		for i := range run.Review.Issues {
			issue := &run.Review.Issues[i]
			if issue.Severity != schemas.ValidationError {
				continue
			}
			agent := upstream.To
			if task := run.Task(issue.Task); task != nil {
				agent = task.Agent
			}
			add(cmp.Or(issue.Task, upstream.Task, upstream.PlanID), agent, say.Issue(say.English(), issue), schemas.ResolutionEscalated, string(run.Reason))
			told[len(told)-1].IssueID = schemas.EffectID(upstream.Request, "issue:review:"+strconv.Itoa(i))
		}
	}
	if run.Error != nil && (len(told) == 0 || withheld && run.Reason != schemas.StopReviewFailed) {
		add(cmp.Or(upstream.Task, upstream.PlanID), upstream.To, say.Reasons(say.English(), run.Error.Reasons), schemas.ResolutionEscalated, string(run.Reason))
	}
	return append(told, unprovenFiles(run, upstream)...)
}

// unprovenFiles are the files that agents have named and may not pass on.
func unprovenFiles(run *workflow.Run, upstream *schemas.Upstream) []schemas.Issue {
	var told []schemas.Issue
	for _, task := range run.Tasks {
		for n, name := range task.Unproven {
			told = append(told, schemas.Issue{
				IssueID: schemas.EffectID(upstream.Request, "issue:file:"+task.ID+":"+strconv.Itoa(n)), TaskID: task.ID, Agent: task.Agent, Severity: "medium",
				Description: say.Sentence(say.English(), "file_unproven", "{file}", name),
				Resolution:  schemas.ResolutionResolved, ResolutionDetails: "left_out",
			})
		}
	}
	return told
}

// resolution says whether asking the supervisor again can help.
func resolution(kind schemas.FailureKind) schemas.Resolution {
	switch kind {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureCrashed, schemas.FailureUnavailable,
		schemas.FailureMalformed:
		return schemas.ResolutionDeferred
	case schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureInvalidResult, schemas.FailureBlocked,
		schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return schemas.ResolutionEscalated
}
