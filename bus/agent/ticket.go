package agent

import (
	"context"
	"time"

	"podium/bus/keyring"
	"podium/schemas"
)

// A Ticket is all that an answer has to know of its request when the work has gone on elsewhere. It is kept by
// whoever does the work, who may neither read nor change it: see Seal.
type Ticket struct {
	Request      string              `json:"request"` // its id
	From         string              `json:"from"`
	Plan         string              `json:"plan"`
	Task         string              `json:"task"`
	Kind         schemas.RequestKind `json:"kind,omitzero"`
	Subject      string              `json:"subject,omitzero"`
	PartitionKey string              `json:"partitionkey,omitzero"` // of the session
	Run          string              `json:"run,omitzero"`
	Attempt      int                 `json:"attempt,omitzero"`
	Effect       string              `json:"effect,omitzero"`
	ReplyTo      string              `json:"replyto,omitzero"` // names the shard
	TraceParent  string              `json:"traceparent,omitzero"`
	Started      time.Time           `json:"started"`
	Expires      time.Time           `json:"ends"` // from then on nobody waits for the answer; tokens that are out name it so
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
		ReplyTo: e.ReplyTo, TraceParent: e.TraceParent, Started: started, Expires: endOf(e, started).UTC(),
	}
}

// sealedTicket is what the tokens of tickets are sealed for.
const sealedTicket keyring.Use = "callback"

// Seal returns the token of a ticket, which is handed to whoever does the work of an agent.
func (t *Ticket) Seal(ring *keyring.Ring, agent string) (string, error) {
	return ring.Seal(sealedTicket, agent, t)
}

// OpenTicket returns the ticket whose token was sealed for an agent, however old it is. Errors: those of keyring.Ring.Unseal.
func OpenTicket(ctx context.Context, ring *keyring.Ring, agent, token string) (ticket Ticket, err error) {
	err = ring.Unseal(ctx, sealedTicket, agent, token, &ticket)
	return ticket, err
}

// open returns the request as far as an answer needs it.
func (t *Ticket) open() (*schemas.Event, *Request) {
	e := &schemas.Event{
		ID: t.Request, Subject: t.Subject, PartitionKey: t.PartitionKey, CorrelationID: t.Run, Attempt: t.Attempt, EffectID: t.Effect,
		ReplyTo: t.ReplyTo, TraceParent: t.TraceParent, Expires: t.Expires,
	}
	request := &Request{Attempt: max(t.Attempt, 1), EffectID: t.Effect, Expires: t.Expires, Run: t.Run, event: e}
	request.MessageID, request.From = t.Request, t.From
	request.Payload.PlanID = t.Plan
	request.Payload.Tasks = []schemas.Task{{TaskID: t.Task}}
	request.Payload.Tasks[0].Context.Kind = t.Kind
	return e, request
}
