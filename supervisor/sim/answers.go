package sim

import (
	"fmt"
	"strconv"

	"podium/bus"
	busagent "podium/bus/agent"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// answer completes a request as the agent was asked to.
func (q *asked) answer() {
	if q.refuses() {
		q.fail(schemas.StatusFailed, schemas.ResolutionEscalated)
		return
	}
	q.respond(q.made())
}

// made is a good answer: new at every call, so that two of them differ.
func (q *asked) made() schemas.ResponsePayload {
	w := q.agent.world
	w.serial++
	result := schemas.Result{Text: fmt.Sprintf("%s did %s, no %d", q.agent.name, q.task.TaskID, w.serial)}
	switch q.task.Context.Kind {
	case schemas.KindAssess:
		result.Data = fmt.Appendf(nil, `{"score":%.1f}`, w.rand.Float64())
	case schemas.KindRoute:
		result.Data = w.choice()
	case schemas.KindPlan:
		result = w.plan()
	case schemas.KindWork, "":
		if q.task.TaskID == schemas.DeliveryTask {
			result = schemas.Result{Data: fmt.Appendf(nil, `{"reply_id":"%s:%s"}`, q.agent.name, q.request.Payload.RequestID)}
			break
		}
		result.Data = []byte(`{"done":true}`)
		if w.once(5) {
			result.Data = fmt.Appendf(nil, `{"done":true,"patient_id":"P-%d"}`, w.rand.IntN(3))
		}
		result.Data = q.withFiles(result.Data)
		result.Text += w.bulk(10)
	}
	payload := schemas.ResponsePayload{Status: schemas.StatusCompleted, PlanID: q.request.Payload.PlanID, Result: &result}
	if w.once(4) {
		payload.ResourceUsage = &schemas.ResourceUsage{TokensUsed: w.rand.IntN(100)}
		payload.Deliverables = []schemas.Deliverable{{DeliverableID: strconv.Itoa(w.serial), Type: "report"}}
	}
	return payload
}

// choice is what a router agent says: an agent, an answer of its own, the end,
// or a name that is not quite one.
func (w *World) choice() []byte {
	next := pick(w.rand, alpha, beta, gamma, alpha, beta, "Al-Pha", schemas.RouteRespond, schemas.RouteFinish)
	response := ""
	if next == schemas.RouteRespond {
		response = `,"response":"that is easy"`
	}
	return fmt.Appendf(nil, `{"next_agent":%q,"reasoning":"so"%s}`, next, response)
}

// plan is what a planner says: tasks or steps, as data or between sentences.
func (w *World) plan() schemas.Result {
	if w.once(4) {
		return schemas.Result{Text: "Here it is:\n```json\n{\"steps\":[\"look at alpha\",\"then at beta\"]}\n```\nGood luck."}
	}
	tasks := w.graph()
	if w.once(3) {
		tasks[0].AssignedTo = ""
	}
	body, err := schemas.Marshal(map[string]any{"tasks": tasks})
	w.must(err)
	return schemas.Result{Data: body}
}

// nonsense is an answer that says it is complete and is of no use.
func (q *asked) nonsense() schemas.ResponsePayload {
	w := q.agent.world
	payload := q.made()
	switch q.task.Context.Kind {
	case schemas.KindPlan:
		tasks := w.graph()
		tasks[0].Dependencies = []string{tasks[len(tasks)-1].TaskID}
		body, err := schemas.Marshal(map[string]any{"tasks": tasks})
		w.must(err)
		payload.Result = &schemas.Result{Data: pick(w.rand, body, []byte(`{"tasks":[]}`), []byte(`[1,2]`))}
	case schemas.KindRoute:
		payload.Result = &schemas.Result{Data: pick(w.rand, []byte(`{"next_agent":"nobody","reasoning":""}`), []byte(`"?"`))}
	case schemas.KindAssess:
		payload.Result = &schemas.Result{Data: []byte(`{"score":7}`)}
	case schemas.KindWork, "":
		payload.Result = pick(w.rand, nil, &schemas.Result{Text: "hm"}, &schemas.Result{Data: []byte(`{"done":`)})
		payload.Status = pick(w.rand, schemas.StatusCompleted, schemas.StatusPartial)
		if payload.Result != nil && payload.Result.Text == "" {
			payload.Result.Data = []byte(`{"patient_id":"P-9"}`)
		}
	}
	return payload
}

// fail ends the attempt. Resolution says whether another one can help.
func (q *asked) fail(status schemas.ResponseStatus, resolution schemas.Resolution) {
	if q.doubtful() {
		status = schemas.StatusFailed
	}
	q.respond(schemas.ResponsePayload{
		Status: status, PlanID: q.request.Payload.PlanID,
		IssuesEncountered: []schemas.Issue{{
			IssueID: "1", TaskID: q.task.TaskID, Agent: q.agent.name, Severity: "high",
			Description: "it does not work", Resolution: resolution, EffectUnknown: q.doubtful(),
		}},
	})
}

func (q *asked) respond(payload schemas.ResponsePayload) {
	q.respondAs(q.agent.name, q.request.MessageID, payload)
}

func (q *asked) respondAs(name, to string, payload schemas.ResponsePayload) {
	response := schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(to), From: name, To: session.Supervisor,
			Type: schemas.ExecutionResponseType, Timestamp: q.agent.world.now, InReplyTo: to,
		},
		Payload: payload,
	}
	subject, _ := busagent.ReplySubjects(q.agent.name, &q.event)
	if name != q.agent.name {
		subject = bus.ResponseSubject(name, q.shard())
	}
	q.send(subject, schemas.TypeExecutionResponse, response.MessageID, response)
}

func (q *asked) shard() int {
	return schemas.ShardOf(q.event.PartitionKey, q.agent.world.shape.shards)
}

func (q *asked) garbage() {
	answers := "in_reply_to_what"
	if q.agent.world.shape.named {
		answers = "in_reply_to"
	}
	q.agent.world.publish(bus.ResponseSubject(q.agent.name, q.shard()), &schemas.Event{
		ID: "garbage-" + q.request.MessageID, Source: "/podium/" + q.agent.name, Type: schemas.TypeExecutionResponse,
		Data: fmt.Appendf(nil, `{"message_id":%q,"type":"execution_response",%q:%[1]q,"STATUS":1}`, q.request.MessageID, answers),
	})
}

func (q *asked) progress(percentage int) {
	w := q.agent.world
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.PlanID(w.id("progress")), From: q.agent.name, To: session.Supervisor,
			Type: schemas.ProgressUpdateType, Timestamp: w.now, InReplyTo: q.request.MessageID,
		},
		Payload: schemas.ProgressPayload{
			PlanID: q.request.Payload.PlanID, ProgressPercentage: percentage,
			TasksInProgress: []schemas.TaskInProgress{{TaskID: q.task.TaskID, Agent: q.agent.name, StartedAt: w.now}},
		},
	}
	_, subject := busagent.ReplySubjects(q.agent.name, &q.event)
	q.send(subject, schemas.TypeProgressUpdate, update.MessageID, update)
}

func (q *asked) send(subject, eventType, id string, message any) {
	w := q.agent.world
	if w.once(4) { // as any NATS client writes it
		w.bare(subject, message)
		return
	}
	event := schemas.Event{
		ID: id, Source: "/podium/" + q.agent.name, Type: eventType, Subject: q.event.Subject, Time: w.now,
		CorrelationID: q.event.CorrelationID, CausationID: q.event.ID, Attempt: q.event.Attempt, EffectID: q.event.EffectID,
		DataContentType: schemas.MediaTypeJSON,
	}
	w.body(&event, message)
	w.publish(subject, &event)
}

// bare publishes a documented message without the attributes of an event, which
// its own envelope determines.
func (w *World) bare(subject string, message any) {
	body, err := schemas.Marshal(message)
	w.must(err)
	if len(body) > artifact.InlineLimit {
		return // what is as large cannot be bare
	}
	w.ledger.Publish(bus.Message{Subject: subject, Body: body}, bus.Expect{}, func(_ bus.Ack, err error) { w.must(err) })
}
