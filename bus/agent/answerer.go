package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
)

// A Ticket is all that an answer has to know of its request when the work has gone on elsewhere. It is kept by
// whoever does the work, who may neither read nor change it: seal it.
type Ticket struct {
	Request      string           `json:"request"` // its id
	From         string           `json:"from"`
	Plan         string           `json:"plan"`
	Task         string           `json:"task"`
	Kind         schemas.TaskKind `json:"kind,omitzero"`
	Subject      string           `json:"subject,omitzero"`
	PartitionKey string           `json:"partitionkey,omitzero"` // of the session
	Run          string           `json:"run,omitzero"`
	Attempt      int              `json:"attempt,omitzero"`
	Effect       string           `json:"effect,omitzero"`
	ReplyTo      string           `json:"replyto,omitzero"` // names the shard
	TraceParent  string           `json:"traceparent,omitzero"`
	Started      time.Time        `json:"started"`
	Ends         time.Time        `json:"ends"` // from then on nobody waits for the answer
}

// Ticket returns what an Answerer needs to answer the request later.
func (r *Request) Ticket() Ticket {
	e := r.event
	if e == nil {
		e = &schemas.Event{ID: r.MessageID, EffectID: r.EffectID, CorrelationID: r.Run, Attempt: r.Attempt, Expires: r.Expires}
	}
	started := time.Now().UTC()
	return Ticket{
		Request: e.ID, From: r.From, Plan: r.Payload.PlanID, Task: r.Task().TaskID, Kind: r.Task().Context.Kind,
		Subject: e.Subject, PartitionKey: e.PartitionKey, Run: e.CorrelationID, Attempt: e.Attempt, Effect: e.EffectID,
		ReplyTo: e.ReplyTo, TraceParent: e.TraceParent, Started: started, Ends: endOf(e, started).UTC(),
	}
}

// open returns the request as far as an answer needs it.
func (t *Ticket) open() (*schemas.Event, *Request) {
	e := &schemas.Event{
		ID: t.Request, Subject: t.Subject, PartitionKey: t.PartitionKey, CorrelationID: t.Run, Attempt: t.Attempt, EffectID: t.Effect,
		ReplyTo: t.ReplyTo, TraceParent: t.TraceParent, Expires: t.Ends,
	}
	request := &Request{Attempt: max(t.Attempt, 1), EffectID: t.Effect, Expires: t.Ends, Run: t.Run, event: e}
	request.MessageID, request.From = t.Request, t.From
	request.Payload.PlanID = t.Plan
	request.Payload.Tasks = []schemas.Task{{TaskID: t.Task}}
	request.Payload.Tasks[0].Context.Kind = t.Kind
	return e, request
}

// An Answerer answers requests whose handler has returned ErrElsewhere: with the very response that Serve would
// have given, by the same id, so that a repeat of it is known as one. It is safe for use by several goroutines at once.
type Answerer struct {
	server   *server
	maxFiles int64
}

// NewAnswerer returns the Answerer of an agent, for the same configuration that Serve has. Files in answers may have
// maxFiles bytes together. It fails on what is no JSON Schema.
func NewAnswerer(worker bus.Worker, config ServeConfig, maxFiles int64) (*Answerer, error) {
	s := newServer(worker, config)
	return &Answerer{server: s, maxFiles: maxFiles}, s.compileSchemas()
}

// Answer publishes the response that a body of a media type is to a request (see ReadBody), and returns once it is stored.
// Files that stand in its deliverables are kept before that. The same answer may be given again, also after an error.
//
// Errors: ErrUnreadable, when what was said is no answer; bus.ErrTooLarge, when it holds too much; else those
// of the bus, which says by bus.ErrFull that it takes no more.
func (a *Answerer) Answer(ctx context.Context, ticket *Ticket, said []byte, mediaType string) error {
	s := a.server
	e, request := ticket.open()
	request.Artifacts = s.worker.Artifacts(e.ID)
	log := s.log.With().Str("request", e.ID).Str("run", e.CorrelationID).Int("attempt", request.Attempt).Logger()
	if isCall(said) {
		return unreadable("the body is that of a call")
	}
	outcome, err := ReadBody(said, mediaType, request)
	if errors.Is(err, ErrUnreadable) {
		return err
	}
	if err == nil {
		if fault := outcome.check(); fault != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, fault)
		}
	}
	if lost := request.KeepFiles(ctx, &outcome, a.maxFiles); lost != nil {
		return lost
	}
	_, question := request.Undeclared(schemas.KindWork)
	acted := !question && s.config.Agent.SideEffects == schemas.SideEffectsExternal
	if err == nil && !question && !acted { // what was done outside is not repeated for a better result
		err = s.resultFault(&outcome)
	}
	var given outgoingResponse
	if err != nil {
		s.logFailure(log, err, nil)
		given = s.failed(e, request, ticket.Started, &outcome, err)
	} else {
		given = s.respond(e, request, ticket.Started, &outcome, acted)
	}
	err = s.publishOnce(ctx, &given)
	if errors.Is(err, bus.ErrTooLarge) {
		given = s.tooLarge(e, request, given.acted)
		err = s.publishOnce(ctx, &given)
	}
	return err
}

// isCall reports whether what was said is a call: its signature is one of the secret that answers are signed with, so that anybody who has
// seen the call could post it as its own answer.
func isCall(said []byte) bool {
	var names struct {
		Type string `json:"type"`
	}
	return schemas.Unmarshal(said, &names) == nil && names.Type == schemas.EnvelopeTypeExecutionRequest
}
