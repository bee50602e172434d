package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/backoff"
	"podium/bus/binding"
	"podium/schemas"
)

// neutralFailure is what a person reads of an error that is not a *Failure.
const neutralFailure = "The agent could not complete the task."

// An outgoingResponse is a response and where it goes.
type outgoingResponse struct {
	subject string
	event   schemas.Event
	acted   bool // what was permitted outside may have happened: it is never merely failed
	// refused: the agent was not permitted to act. It holds for this delivery alone: when the
	// request comes again, whoever made it may want its effect after all.
	refused bool
	// elsewhere: there is none, because the work goes on elsewhere.
	elsewhere bool
}

// ReplySubjects returns where the response to a request and its progress go: to
// the shard that the request names in replyto, else to the work stream. A
// replyto that is not this agent's own to write is ignored.
func ReplySubjects(agent string, e *schemas.Event) (response, progress string) {
	shard, named := shardOf(agent, e)
	if !named {
		return bus.ServiceSubject(agent, string(bus.KindResponse)), bus.ServiceSubject(agent, string(bus.KindProgress))
	}
	return bus.ResponseSubject(agent, shard), bus.ProgressSubject(agent, shard)
}

// shardOf returns the shard that a request to an agent names in replyto.
func shardOf(agent string, e *schemas.Event) (shard int, named bool) {
	parsed, err := bus.ParseSubject(e.ReplyTo)
	return parsed.Shard, err == nil && parsed.Kind == bus.KindResponse && parsed.Agent == agent && parsed.Shard >= 0
}

// about returns the event of a documented message of an agent about a request.
func about(agent string, e *schemas.Event, envelope *schemas.Envelope, body []byte) schemas.Event {
	return schemas.Event{
		ID:              envelope.MessageID,
		Source:          binding.SourceOf(agent),
		Type:            "podium." + envelope.Type + ".v1",
		Subject:         e.Subject,
		Time:            envelope.Timestamp,
		DataContentType: schemas.MediaTypeJSON,
		DataSchema:      schemas.SchemaID(envelope.Type),
		PartitionKey:    e.PartitionKey,
		CorrelationID:   e.CorrelationID,
		CausationID:     e.ID,
		Attempt:         e.Attempt,
		EffectID:        e.EffectID,
		TraceParent:     e.TraceParent,
		Data:            body,
	}
}

func (s *server) envelope(request *Request, kind, id string) schemas.Envelope {
	return schemas.Envelope{
		MessageID: id, From: s.worker.Name(), To: request.From, Type: kind,
		Timestamp: time.Now().UTC(), InReplyTo: request.MessageID,
	}
}

func (s *server) answer(e *schemas.Event, request *Request, payload *schemas.ResponsePayload) (outgoingResponse, error) {
	response := schemas.ExecutionResponse{
		Envelope: s.envelope(request, schemas.EnvelopeTypeExecutionResponse, schemas.ResponseID(e.ID)),
		Payload:  *payload,
	}
	body, err := schemas.Marshal(response)
	if err != nil {
		return outgoingResponse{}, err
	}
	subject, _ := ReplySubjects(s.worker.Name(), e)
	return outgoingResponse{subject: subject, event: about(s.worker.Name(), e, &response.Envelope, body)}, nil
}

// responseOf returns the response that stands for what has come of a request: an outcome, or an error with what is
// said beside it. The outcome is held to what the agent declares, but for the answer to a question and for what was done outside,
// which is not repeated for a better result. The error that is returned is why the response is a failed one.
func (s *server) responseOf(e *schemas.Event, request *Request, started time.Time, outcome *Outcome, err error, acted bool) (outgoingResponse, error) {
	if _, question := request.Undeclared(schemas.KindWork); err == nil && !question && !acted {
		err = s.resultFault(outcome)
	}
	if err == nil && schemas.CheckValues(outcome.Data) != nil {
		err = &Failure{Message: "The result is too large.", Permanent: true, Unknown: acted, Err: schemas.ErrTooManyValues}
	}
	if err != nil {
		return s.failed(e, request, started, outcome, err), err
	}
	return s.respond(e, request, started, outcome, acted), nil
}

// respond returns the response that an outcome is. acted is whether the handler may have done what it was
// permitted.
func (s *server) respond(e *schemas.Event, request *Request, started time.Time, outcome *Outcome, acted bool) outgoingResponse {
	err := outcome.check()
	var made outgoingResponse
	if err == nil {
		payload := s.payload(request, cmp.Or(outcome.Status, schemas.StatusCompleted), started)
		payload.Result = &outcome.Result
		s.addFindings(payload, e, request, outcome)
		made, err = s.answer(e, request, payload)
	}
	if err == nil && outcome.saysMore() { // a result alone cannot break the schema
		_, err = schemas.DecodeExecutionResponse(made.event.Data)
	}
	if err != nil {
		failure := &Failure{Unknown: acted, Err: fmt.Errorf("the handler's outcome is no response: %w", err)}
		s.logFailure(s.log.With().Str("request", e.ID).Logger(), failure, nil)
		return s.failed(e, request, started, &Outcome{Usage: outcome.Usage}, failure)
	}
	made.acted = acted
	return made
}

// failed returns the failed response of an error (see Handler), with what the handler says beside it.
func (s *server) failed(e *schemas.Event, request *Request, started time.Time, outcome *Outcome, err error) outgoingResponse {
	description, permanent, unknown, crashed := neutralFailure, false, false, false
	var category schemas.FailureCategory
	remedy, wait := "", 0
	if failure, ok := errors.AsType[*Failure](err); ok {
		permanent, unknown, crashed, category = failure.Permanent, failure.Unknown, failure.Crashed, failure.Category
		remedy, wait = failure.Remedy, waitable(int(math.Ceil(failure.RetryAfter.Seconds())))
		if failure.Message != "" {
			description = failure.Message
		}
	}
	if fault := faultIn(err); remedy == "" && fault != "" {
		remedy = "an answer of the documented form: " + fault
	}
	resolution, details := schemas.ResolutionDeferred, schemas.DetailsDeferred
	if permanent {
		resolution, details = schemas.ResolutionEscalated, schemas.DetailsEscalated
	}
	payload := s.payload(request, schemas.StatusFailed, started)
	payload.IssuesEncountered = []schemas.Issue{{
		IssueID: schemas.ResponseID(e.ID), TaskID: taskOf(e, request), Agent: s.worker.Name(), Severity: "high",
		Description: description, Resolution: resolution, ResolutionDetails: cmp.Or(remedy, details),
		EffectUnknown: unknown, Crashed: crashed, Category: category, RetryAfterSeconds: wait,
	}}
	bare, measured := *payload, *payload.ResourceUsage
	bare.ResourceUsage = &measured
	if outcome != nil {
		if len(outcome.Issues) > 0 && outcome.Issues[0].Description == description { // it says the failure itself
			told := slices.Clone(outcome.Issues)
			told[0].Resolution, told[0].EffectUnknown, told[0].Category = resolution, unknown, category
			said := *outcome
			said.Issues, payload.IssuesEncountered = told, nil
			outcome = &said
		}
		s.addFindings(payload, e, request, outcome)
	}
	made, err := s.answer(e, request, payload)
	if err == nil && outcome != nil && outcome.saysMore() {
		_, err = schemas.DecodeExecutionResponse(made.event.Data)
	}
	if err != nil { // what is said beside it breaks the schema, or is not UTF-8
		if made, err = s.answer(e, request, &bare); err != nil {
			bare.IssuesEncountered[0].Description = neutralFailure
			made, _ = s.answer(e, request, &bare)
		}
	}
	return made
}

// taskOf is the id of the task that a request is for, as far as it says.
func taskOf(e *schemas.Event, request *Request) string {
	task := e.Subject
	if tasks := request.Payload.Tasks; len(tasks) > 0 {
		task = tasks[0].TaskID
	}
	return cmp.Or(task, request.Payload.PlanID)
}

// addFindings adds to a response what a handler says beside its result, and fills in what it may leave out:
// ids, task and agent, and the times that were measured.
func (s *server) addFindings(payload *schemas.ResponsePayload, e *schemas.Event, request *Request, outcome *Outcome) {
	task, agent := taskOf(e, request), s.worker.Name()
	waiting := len(outcome.Issues)+len(outcome.Needs) > 0 || outcome.Operation != nil
	if outcome.Status == schemas.StatusBlocked && !waiting {
		payload.IssuesEncountered = append(payload.IssuesEncountered, schemas.Issue{
			IssueID: schemas.ResponseID(e.ID), TaskID: task, Agent: agent, Severity: "high", Description: neutralFailure,
		})
	}
	for i, issue := range outcome.Issues {
		issue.Severity = known(issue.Severity, "medium", "critical", "high", "medium", "low")
		issue.Resolution = known(issue.Resolution, "", schemas.ResolutionResolved, schemas.ResolutionEscalated, schemas.ResolutionDeferred)
		issue.Category = known(issue.Category, "", categories()...)
		issue.RetryAfterSeconds = waitable(issue.RetryAfterSeconds)
		issue.IssueID = cmp.Or(issue.IssueID, schemas.EffectID(e.ID, "issue:"+strconv.Itoa(i)))
		issue.TaskID, issue.Agent = cmp.Or(issue.TaskID, task), cmp.Or(issue.Agent, agent)
		payload.IssuesEncountered = append(payload.IssuesEncountered, issue)
	}
	for i, made := range outcome.Deliverables {
		made.DeliverableID = cmp.Or(made.DeliverableID, "d"+strconv.Itoa(i+1))
		made.Type = cmp.Or(made.Type, schemas.DeliverableDocumentation) // check has refused one that does not exist
		made.ValidationStatus = known(made.ValidationStatus, "", schemas.ValidationPassed, schemas.ValidationFailed, "skipped")
		made.TaskID, made.Agent = cmp.Or(made.TaskID, task), cmp.Or(made.Agent, agent)
		payload.Deliverables = append(payload.Deliverables, made)
	}
	for _, verdict := range outcome.ValidationResults {
		verdict.Validator = cmp.Or(verdict.Validator, agent)
		verdict.Status = known(verdict.Status, schemas.ValidationFailed, schemas.ValidationPassed)
		verdict.Issues = slices.Clone(verdict.Issues)
		for i := range verdict.Issues {
			verdict.Issues[i].Severity = known(verdict.Issues[i].Severity, schemas.ValidationWarning, schemas.ValidationError, "info")
		}
		payload.ValidationResults = append(payload.ValidationResults, verdict)
	}
	payload.Recommendations = outcome.Recommendations
	payload.Needs, payload.Operation = outcome.Needs, outcome.Operation
	if used := outcome.Usage; used != nil {
		payload.ResourceUsage.TokensUsed, payload.ResourceUsage.CostMicros = used.TokensUsed, used.CostMicros
		payload.ResourceUsage.TimeElapsedSeconds = cmp.Or(used.TimeElapsedSeconds, payload.ResourceUsage.TimeElapsedSeconds)
		if len(used.AgentExecutionTimes) > 0 {
			payload.ResourceUsage.AgentExecutionTimes = used.AgentExecutionTimes
		}
	}
}

// waitable bounds the seconds that another attempt had better wait.
func waitable(seconds int) int { return min(max(seconds, 0), schemas.MaxRetryAfter) }

// known returns a word if it is one of those that there are, else another one: no finished work comes to nothing for
// a word that nobody knows.
func known[Word ~string](word, instead Word, words ...Word) Word {
	if slices.Contains(words, word) {
		return word
	}
	return instead
}

func categories() []schemas.FailureCategory {
	return []schemas.FailureCategory{
		schemas.CategoryExecution, schemas.CategoryValidation, schemas.CategoryDependency, schemas.CategoryResource, schemas.CategoryCoordination, schemas.CategoryInput,
	}
}

// saysMore reports whether an outcome holds anything beside its result.
func (o *Outcome) saysMore() bool {
	return o.Status != "" || len(o.Issues) > 0 || len(o.ValidationResults) > 0 || len(o.Recommendations) > 0 || len(o.Deliverables) > 0 ||
		o.Usage != nil || len(o.Needs) > 0 || o.Operation != nil || o.MediaType != ""
}

func (s *server) payload(request *Request, status schemas.ResponseStatus, started time.Time) *schemas.ResponsePayload {
	summary := schemas.ExecutionSummary{TotalTasks: len(request.Payload.Tasks)}
	switch status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		summary.TasksCompleted, summary.CompletionPercentage = summary.TotalTasks, 100
	case schemas.StatusFailed, schemas.StatusBlocked:
		summary.TasksFailed = summary.TotalTasks
	}
	took := time.Since(started).Seconds()
	return &schemas.ResponsePayload{
		Status: status, PlanID: request.Payload.PlanID, ExecutionSummary: &summary,
		ResourceUsage: &schemas.ResourceUsage{
			TimeElapsedSeconds:  took,
			AgentExecutionTimes: map[string]float64{s.worker.Name(): took},
		},
	}
}

// workStreamAfter is after how many tries, about 20 seconds, every other one goes to
// the work stream instead of a shard: the shard may be one that is not there.
const workStreamAfter = 10

// publish puts an answer on the bus and tries again until it is there, the lease
// is lost, or the bus refuses for good. An answer that is too large becomes a
// failed one; a large body becomes a reference. One that its shard does not take
// is offered to the work stream in the end, from where it is forwarded: so a request
// that names a shard which is not there takes nobody's slot for ever.
func (s *server) publish(ctx context.Context, given *outgoingResponse, e *schemas.Event, request *Request, log zerolog.Logger) error {
	var trouble backoff.Backoff
	replaced, subject := false, given.subject
	for tries := 1; ; tries++ {
		if cause := context.Cause(ctx); errors.Is(cause, errLeaseLost) {
			return cause
		}
		err := s.publishOnce(ctx, given)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bus.ErrTooLarge) && !replaced:
			replaced = true
			*given = s.tooLarge(e, request, given.acted)
			continue
		case bus.IsAny(err, bus.ErrTooLarge, bus.ErrDenied, bus.ErrClosed, schemas.ErrInvalidEvent):
			log.Error().Err(err).Msg("a response cannot be published")
			return err
		}
		if s.draining.Load() && errors.Is(err, bus.ErrFull) {
			return err // there will be no room before the process ends
		}
		if errors.Is(err, bus.ErrFull) {
			log.Debug().Err(err).Msg("a response waits for room on the ledger")
		} else {
			log.Warn().Err(err).Msg("a response is not published yet; trying again")
		}
		if given.subject = subject; tries >= workStreamAfter && tries%2 == 1 {
			given.subject = bus.ServiceSubject(s.worker.Name(), string(bus.KindResponse))
		}
		if err := trouble.Wait(ctx); err != nil {
			return err
		}
	}
}

// tooLarge returns the failed response that stands for one that is too large.
func (s *server) tooLarge(e *schemas.Event, request *Request, acted bool) outgoingResponse {
	return s.failed(e, request, time.Now(), nil, &Failure{Message: "The result is too large.", Permanent: true, Unknown: acted})
}

// publishOnce tries even when ctx has ended: work that is done is worth one try.
func (s *server) publishOnce(ctx context.Context, given *outgoingResponse) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	if err := artifact.Offload(ctx, s.worker.Artifacts(given.event.CausationID), &given.event); err != nil {
		return err
	}
	message, err := binding.Encode(given.subject, &given.event)
	if err != nil {
		return err
	}
	_, err = s.worker.Publish(ctx, message)
	return err
}
