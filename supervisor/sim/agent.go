package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/session"
)

// An agent takes requests like a real one and answers as the seed wants it.
type agent struct {
	world  *World
	name   string
	worker *memory.Worker
	held   []held
	// effects counts what reached the outside, by effect: a delivery happens at
	// least once, under one id.
	effects map[string]int
}

// held is something an agent does later.
type held struct {
	at   time.Time
	what func()
}

func (a *agent) step() bool {
	for i := range a.held {
		if !a.held[i].at.After(a.world.now) {
			what := a.held[i].what
			a.held = append(a.held[:i], a.held[i+1:]...)
			what()
			return true
		}
	}
	deliveries := a.worker.TryFetch(1)
	for _, delivery := range deliveries {
		a.take(delivery)
	}
	return len(deliveries) > 0
}

func (a *agent) take(delivery bus.Delivery) {
	event, err := bus.DecodeWhole(context.Background(), a.world.ledger.Artifacts(), delivery.Message())
	if err != nil {
		a.world.violate("a request cannot be read: %v", err)
		return
	}
	request, err := schemas.DecodeExecutionRequest(event.Data)
	if err != nil {
		a.world.violate("a request is malformed: %v", err)
		return
	}
	if request.To != a.name {
		a.world.violate("agent %s got a request to %s", a.name, request.To)
	}
	a.world.requested[request.MessageID]++
	a.behave(delivery, &event, &request)
}

// behave picks what the agent does with a request.
func (a *agent) behave(delivery bus.Delivery, event *schemas.Event, request *schemas.ExecutionRequest) {
	ack := func() { a.world.must(delivery.Ack(context.Background())) }
	if a.world.calm || a.world.rand.IntN(100) < 45 {
		a.respond(event, request, schemas.StatusCompleted, "")
		ack()
		return
	}
	switch a.world.rand.IntN(11) {
	case 0: // takes its time, with a sign of life first
		a.progress(event, request, 10)
		a.later(a.world.span(20*time.Second), func() {
			a.progress(event, request, 60)
			a.respond(event, request, schemas.StatusCompleted, "")
			ack()
		})
	case 1: // answers twice
		a.respond(event, request, schemas.StatusCompleted, "")
		a.respond(event, request, schemas.StatusCompleted, "")
		ack()
	case 2:
		a.respond(event, request, schemas.StatusFailed, schemas.ResolutionDeferred)
		ack()
	case 3:
		a.respond(event, request, schemas.StatusFailed, schemas.ResolutionEscalated)
		ack()
	case 4: // garbage, then silence
		a.garbage(event, request)
		ack()
	case 5: // answers as somebody else first
		a.respondAs(a.world.stranger(a.name), event, request, request.MessageID)
		a.respond(event, request, schemas.StatusCompleted, "")
		ack()
	case 6: // answers a request that nobody made
		a.respondAs(a.name, event, request, schemas.RequestID(a.world.rand.IntN(a.world.ledger.Shards()), "nobody", "t1", 1))
		ack()
	case 7: // never answers
		ack()
	case 8: // crashes: the bus hands the request out again
	case 9: // answers far too late
		ack()
		a.later(time.Minute+a.world.span(5*time.Minute), func() { a.respond(event, request, schemas.StatusCompleted, "") })
	case 10: // answers, and crashes before it acknowledges
		a.respond(event, request, schemas.StatusCompleted, "")
	}
}

func (a *agent) later(wait time.Duration, what func()) {
	a.held = append(a.held, held{at: a.world.now.Add(wait), what: what})
}

func (a *agent) respond(event *schemas.Event, request *schemas.ExecutionRequest, status schemas.ResponseStatus, resolution schemas.Resolution) {
	response := a.response(request, request.MessageID, status)
	if resolution != "" {
		response.Payload.IssuesEncountered = []schemas.Issue{{
			IssueID: "1", TaskID: request.Payload.Tasks[0].TaskID, Agent: a.name, Severity: "high",
			Description: "it does not work", Resolution: resolution,
		}}
		response.Payload.Result = nil
	} else {
		a.effects[event.EffectID]++
	}
	a.publish(bus.ResponseSubject(a.name, a.world.shardOf(event)), event, schemas.TypeExecutionResponse, response.MessageID, response)
}

func (a *agent) response(request *schemas.ExecutionRequest, to string, status schemas.ResponseStatus) schemas.ExecutionResponse {
	task := request.Payload.Tasks[0]
	result := schemas.Result{Text: a.name + " did " + a.world.filler(len(task.Description))}
	if a.name == session.ChatAgent || a.name == session.MailAgent {
		data, err := schemas.Marshal(map[string]string{"reply_id": a.name + ":" + request.Payload.RequestID})
		a.world.must(err)
		result = schemas.Result{Data: data}
	}
	return schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(to), From: a.name, To: "supervisor",
			Type: schemas.ExecutionResponseType, Timestamp: a.world.now, InReplyTo: to,
		},
		Payload: schemas.ResponsePayload{Status: status, PlanID: request.Payload.PlanID, Result: &result},
	}
}

func (a *agent) respondAs(name string, event *schemas.Event, request *schemas.ExecutionRequest, to string) {
	response := a.response(request, to, schemas.StatusCompleted)
	a.publish(bus.ResponseSubject(name, a.world.shardOf(event)), event, schemas.TypeExecutionResponse, response.MessageID, response)
}

func (a *agent) garbage(event *schemas.Event, request *schemas.ExecutionRequest) {
	body := fmt.Sprintf(`{"message_id":%q,"type":"execution_response","in_reply_to":%q,"STATUS":1}`, request.MessageID, request.MessageID)
	a.send(bus.ResponseSubject(a.name, a.world.shardOf(event)), &schemas.Event{
		ID: "garbage-" + request.MessageID, Source: "/podium/" + a.name, Type: schemas.TypeExecutionResponse, Data: []byte(body),
	})
}

func (a *agent) progress(event *schemas.Event, request *schemas.ExecutionRequest, percentage int) {
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.EffectID(request.MessageID, fmt.Sprint("progress", percentage)), From: a.name, To: "supervisor",
			Type: schemas.ProgressUpdateType, Timestamp: a.world.now, InReplyTo: request.MessageID,
		},
		Payload: schemas.ProgressPayload{PlanID: request.Payload.PlanID, ProgressPercentage: percentage},
	}
	a.publish(bus.ProgressSubject(a.name, a.world.shardOf(event)), event, schemas.TypeProgressUpdate, update.MessageID, update)
}

// publish sends a documented message, half the time bare: the envelope alone
// must do (DESIGN section 2).
func (a *agent) publish(subject string, event *schemas.Event, eventType, id string, message any) {
	body, err := schemas.Marshal(message)
	a.world.must(err)
	if a.world.rand.IntN(2) == 0 && len(body) <= bus.ClaimLimit {
		a.world.ledger.Publish(bus.Message{Subject: subject, Body: body}, bus.Expect{}, func(_ bus.Ack, err error) { a.world.must(err) })
		return
	}
	a.send(subject, &schemas.Event{
		ID: id, Source: "/podium/" + a.name, Type: eventType, Subject: event.Subject, Time: a.world.now,
		CorrelationID: event.CorrelationID, CausationID: event.ID, Attempt: event.Attempt, EffectID: event.EffectID,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

func (a *agent) send(subject string, event *schemas.Event) {
	a.world.must(bus.Offload(context.Background(), a.world.ledger.Artifacts(), event))
	message, err := bus.Encode(subject, event)
	a.world.must(err)
	a.world.ledger.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) { a.world.must(err) })
}

// filler is an answer of about the seed's size: small, by reference, or too
// large for a message.
func (w *World) filler(n int) string {
	switch w.rand.IntN(40) {
	case 0:
		return strings.Repeat("very long ", bus.ClaimLimit/10+1)
	case 1, 2, 3:
		return strings.Repeat("long ", schemas.InlineLimit/4)
	}
	return fmt.Sprintf("%d bytes of work", n)
}
