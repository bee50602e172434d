package sim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"podium/bus"
	busagent "podium/bus/agent"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// answer completes a request as the agent was asked to.
func (pr *pendingRequest) answer() {
	if pr.refuses() {
		pr.fail(schemas.StatusFailed, schemas.ResolutionEscalated)
		return
	}
	pr.respond(pr.made())
}

// made is a good answer: new at every call, so that two of them differ.
func (pr *pendingRequest) made() schemas.ResponsePayload {
	w := pr.agent.world
	w.serial++
	result := schemas.Result{Text: fmt.Sprintf("%s did %s, no %d", pr.agent.name, pr.task.TaskID, w.serial)}
	switch pr.task.Context.Kind {
	case schemas.KindAssess:
		result.Data = fmt.Appendf(nil, `{"score":%.1f}`, w.rand.Float64())
	case schemas.KindRoute:
		result.Data = w.choice()
	case schemas.KindPlan:
		result = w.plan()
	case schemas.KindJudge:
		reviewed, err := w.reviews.answer(pr.agent.name, pr.task)
		w.must(err)
		if reviewed != nil {
			reviewed.PlanID = pr.request.Payload.PlanID
			return *reviewed
		}
		return w.judges.judgement(pr)
	case schemas.KindExtract:
		result.Data = w.people.extraction()
	case schemas.KindWork, "":
		if pr.task.TaskID == schemas.DeliveryTask || pr.notice() {
			result = schemas.Result{Data: fmt.Appendf(nil, `{"reply_id":"%s:%s"}`, pr.agent.name, pr.request.Payload.RequestID)}
			break
		}
		result.Data = []byte(`{"done":true}`)
		if w.once(5) {
			result.Data = fmt.Appendf(nil, `{"done":true,"account_id":"P-%d"}`, w.rand.IntN(3))
		}
		if result.Data = pr.withFiles(result.Data); w.judges == nil {
			result.Data = w.couplings.wrong(result.Data)
		}
		result.Data = w.reviews.says(w.judges.wrong(result.Data))
		result.Text += w.callers.bulk(10)
	}
	payload := schemas.ResponsePayload{Status: schemas.StatusCompleted, PlanID: pr.request.Payload.PlanID, Result: &result}
	if w.once(4) {
		payload.ResourceUsage = &schemas.ResourceUsage{TokensUsed: new(w.rand.IntN(100))}
		payload.Deliverables = []schemas.Deliverable{{DeliverableID: strconv.Itoa(w.serial), Type: "report"}}
	}
	if pr.task.Context.Kind.IsWork() && pr.task.TaskID != schemas.DeliveryTask && !pr.notice() {
		payload.Deliverables = append(payload.Deliverables, w.reviews.deliver(pr.agent.name, pr.task.TaskID)...)
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
	tasks := w.callers.graph()
	if w.once(3) {
		tasks[0].AssignedTo = ""
	}
	body, err := schemas.Marshal(map[string]any{"tasks": tasks})
	w.must(err)
	return schemas.Result{Data: body}
}

// nonsense is an answer that says it is complete and is of no use.
func (pr *pendingRequest) nonsense() schemas.ResponsePayload {
	w := pr.agent.world
	payload := pr.made()
	switch pr.task.Context.Kind {
	case schemas.KindPlan:
		tasks := w.callers.graph()
		tasks[0].Dependencies = []string{tasks[len(tasks)-1].TaskID}
		body, err := schemas.Marshal(map[string]any{"tasks": tasks})
		w.must(err)
		payload.Result = &schemas.Result{Data: pick(w.rand, body, []byte(`{"tasks":[]}`), []byte(`[1,2]`))}
	case schemas.KindRoute:
		payload.Result = &schemas.Result{Data: pick(w.rand, []byte(`{"next_agent":"nobody","reasoning":""}`), []byte(`"?"`))}
	case schemas.KindAssess:
		payload.Result = &schemas.Result{Data: []byte(`{"score":7}`)}
	case schemas.KindJudge:
		payload.Result, payload.ValidationResults = w.nonsenseOfJudges(), nil
	case schemas.KindExtract:
		payload.Result = &schemas.Result{Data: pick(w.rand, []byte(`"?"`), []byte(`{"number":{}}`))}
	case schemas.KindWork, "":
		payload.Result = pick(w.rand, nil, &schemas.Result{Text: "hm"}, &schemas.Result{Data: []byte(`{"done":`)})
		payload.Status = pick(w.rand, schemas.StatusCompleted, schemas.StatusPartial)
		if payload.Result != nil && payload.Result.Text == "" {
			payload.Result.Data = []byte(`{"account_id":"P-9"}`)
		}
	}
	return payload
}

// fail ends the attempt. Resolution says whether another one can help.
func (pr *pendingRequest) fail(status schemas.ResponseStatus, resolution schemas.Resolution) {
	if pr.doubtful() {
		status = schemas.StatusFailed
	}
	pr.respond(schemas.ResponsePayload{
		Status: status, PlanID: pr.request.Payload.PlanID,
		IssuesEncountered: []schemas.Issue{{
			IssueID: "1", TaskID: pr.task.TaskID, Agent: pr.agent.name, Severity: "high",
			Description: "it does not work", Resolution: resolution, EffectUnknown: pr.doubtful(),
		}},
	})
}

func (pr *pendingRequest) respond(payload schemas.ResponsePayload) {
	pr.respondAs(pr.agent.name, pr.request.MessageID, payload)
}

func (pr *pendingRequest) respondAs(name, to string, payload schemas.ResponsePayload) {
	pr.agent.world.budgets.usage(&payload)
	response := schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(to), From: name, To: session.Supervisor,
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: pr.agent.world.now, InReplyTo: to,
		},
		Payload: payload,
	}
	subject, _ := busagent.ReplySubjects(pr.agent.name, &pr.event)
	if name != pr.agent.name {
		subject = bus.ResponseSubject(name, pr.shard())
	}
	pr.send(subject, schemas.TypeExecutionResponse, response.MessageID, response)
}

func (pr *pendingRequest) shard() int {
	return schemas.ShardOf(pr.event.PartitionKey, pr.agent.world.configuration.shards)
}

func (pr *pendingRequest) garbage() {
	answers := "in_reply_to_what"
	if pr.agent.world.configuration.named {
		answers = "in_reply_to"
	}
	pr.agent.world.publish(bus.ResponseSubject(pr.agent.name, pr.shard()), &schemas.Event{
		ID: "garbage-" + pr.request.MessageID, Source: "/podium/" + pr.agent.name, Type: schemas.TypeExecutionResponse,
		Data: fmt.Appendf(nil, `{"message_id":%q,"type":"execution_response",%q:%[1]q,"STATUS":1}`, pr.request.MessageID, answers),
	})
}

func (pr *pendingRequest) progress(percentage int) { pr.sign(percentage, time.Time{}) }

// waits says that there is no sign of life until then.
func (pr *pendingRequest) waits(until time.Time) { pr.sign(0, until) }

func (pr *pendingRequest) sign(percentage int, waitingUntil time.Time) {
	w := pr.agent.world
	update := schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: schemas.PlanID(w.id("progress")), From: pr.agent.name, To: session.Supervisor,
			Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: w.now, InReplyTo: pr.request.MessageID,
		},
		Payload: schemas.ProgressPayload{
			PlanID: pr.request.Payload.PlanID, ProgressPercentage: percentage, WaitingUntil: waitingUntil,
			TasksInProgress: []schemas.TaskInProgress{{TaskID: pr.task.TaskID, Agent: pr.agent.name, StartedAt: w.now}},
		},
	}
	_, subject := busagent.ReplySubjects(pr.agent.name, &pr.event)
	pr.send(subject, schemas.TypeProgressUpdate, update.MessageID, update)
}

func (pr *pendingRequest) send(subject, eventType, id string, message any) {
	w := pr.agent.world
	if w.once(4) { // as any NATS client writes it
		w.bare(subject, message)
		return
	}
	event := schemas.Event{
		ID: id, Source: "/podium/" + pr.agent.name, Type: eventType, Subject: pr.event.Subject, Time: w.now,
		CorrelationID: pr.event.CorrelationID, CausationID: pr.event.ID, Attempt: pr.event.Attempt, EffectID: pr.event.EffectID,
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
	if len(body) > artifact.MessageInlineLimit {
		return // what is as large cannot be bare
	}
	w.ledger.Publish(bus.Message{Subject: subject, Body: body}, bus.Expect{}, func(_ bus.Ack, err error) { w.must(err) })
}

// FilesByGrant is the invariant of artifacts: whoever builds on an answer may read
// what its agent has put, and nothing that it only names.
const FilesByGrant = "an agent is granted the files that the run may pass on, and no others"

// named is what the data of an answer says of artifacts.
type named struct {
	Own    *schemas.Artifact `json:"own"`    // that its agent has put
	Stolen *schemas.Artifact `json:"stolen"` // of which it knows the hash, and a grant that is not its own
}

// withFiles has some answers name artifacts. It draws nothing by chance, so that
// seeds stay what they were.
func (pr *pendingRequest) withFiles(data []byte) []byte {
	w := pr.agent.world
	artifact := func(of, putBy string) string {
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(of)))
		return fmt.Sprintf(`{"sha256":%q,"size":1,"grant":%q}`, hash, w.grants.Put(putBy, hash))
	}
	switch w.serial % 5 {
	case 0:
		return fmt.Appendf(data[:len(data)-1], `,"own":%s}`, artifact(fmt.Sprint("file ", w.serial), pr.agent.name))
	case 1:
		return fmt.Appendf(data[:len(data)-1], `,"stolen":%s}`, artifact("a secret", "somebody"))
	}
	return data
}

// readsWhatItMay looks at the grants in a request.
func (pr *pendingRequest) readsWhatItMay() {
	w := pr.agent.world
	for name, input := range pr.task.Context.Inputs {
		var names named
		if schemas.Unmarshal(input.Data, &names) != nil {
			continue // it names nothing
		}
		if own := names.Own; own != nil && !w.grants.MayRead(own.Grant, pr.agent.name, pr.event.ID, own.SHA256, pr.event.Expires) {
			w.violate(FilesByGrant, "request %s: agent %s may not read what %s has put", pr.event.ID, pr.agent.name, name)
		}
		if stolen := names.Stolen; stolen != nil && stolen.Grant != "" {
			w.violate(FilesByGrant, "request %s: agent %s may read what %s only names", pr.event.ID, pr.agent.name, name)
		}
	}
}

// hearsUpstream has whoever has asked for runs learn how far these are, and say something to what waits for them. They know it by progress alone.
func (w *World) hearsUpstream() bool {
	u := w.upstreamers
	if u == nil {
		return false
	}
	heard := false
	for _, stream := range w.streams() {
		state, err := w.ledger.State(context.Background(), stream)
		w.must(err)
		if state.Last < u.next[stream] {
			continue
		}
		from := max(u.next[stream], 1)
		u.next[stream] = state.Last + 1
		for message, err := range w.ledger.Scan(context.Background(), stream, from, "podium.agent."+front+".progress", "podium.agent."+tower+".progress.*") {
			w.must(err)
			event, err := artifact.DecodeWhole(context.Background(), w.ledger.Artifacts(), message)
			w.must(err)
			update, err := schemas.DecodeProgressUpdate(event.Data)
			if err != nil {
				continue
			}
			heard = w.learns(&event, &update) || heard
		}
	}
	return heard
}

// learns has somebody decide about what an update says of their request.
func (w *World) learns(event *schemas.Event, update *schemas.ProgressUpdate) bool {
	u, request := w.upstreamers, cmp.Or(update.InReplyTo, event.CausationID)
	at := slices.IndexFunc(update.Payload.TasksBlocked, func(blocked schemas.TaskBlocked) bool { return blocked.RequiresReplanning })
	if at < 0 || !u.speaks(request) {
		return false
	}
	asked := thread{}
	for i := range w.sent {
		if w.sent[i].id == request && w.sent[i].asking != nil {
			asked = thread{w.sent[i].asking.profile, w.sent[i].asking.partition}
		}
	}
	for _, a := range w.agents {
		if passed, is := a.nested[request]; is {
			asked = thread{passed.Profile, passed.PartitionKey}
		}
	}
	if asked.profile == "" {
		return false
	}
	q := &question{people: w.people, thread: asked, session: schemas.SessionID(asked.profile, asked.partition), sent: event.Time}
	keeps := ""
	if pending := update.Payload.TasksPending; len(pending) > 0 {
		keeps = pick(u.rand, pending...)
	}
	q.decideUpstream(request, update.Payload.TasksBlocked[at].TaskID, keeps)
	return true
}

// decideUpstream is what whoever is upstream does about a task that is blocked: mostly there is another plan.
func (q *question) decideUpstream(request, blocked, keeps string) {
	p, w := q.people, q.people.world
	u, r := w.upstreamers, w.upstreamers.rand
	soon := w.now.Add(time.Duration(r.Int64N(int64(8 * time.Second))))
	say := func(at time.Time, control schemas.Control) { p.later(at, func() { q.sayUpstream(request, &control) }) }
	replan := func(tasks string) schemas.Control {
		return schemas.Control{Action: schemas.ControlReplan, Tasks: []byte(tasks)}
	}
	ends := q.sent.Add(pick(r, upstreamWaits()...) - pick(r, 0, 500*time.Millisecond, time.Second)) // of the wait, maybe
	switch r.IntN(16) {
	case 0: // nothing
	case 1: // about when the time is over
		say(ends.Add(pick(r, -time.Millisecond, 0, time.Millisecond)), replan(u.plan()))
	case 2: // long after
		say(ends.Add(time.Duration(r.Int64N(int64(10*time.Minute)))), replan(u.plan()))
	case 3: // two at once
		say(soon, replan(u.plan()))
		say(soon, replan(u.plan()))
	case 4: // one that cannot be carried out, and then another one
		say(soon, replan(u.unsound(blocked)))
		say(soon.Add(time.Second), replan(u.plan()))
	case 5: // in lines
		say(soon, schemas.Control{Action: schemas.ControlReplan, Text: pick(r, "look at alpha\nthen at beta", "calculate beta", "")})
	case 6: // that nobody waits any more, in the same moment
		say(soon, replan(u.plan()))
		say(soon, schemas.Control{Action: schemas.ControlCancel})
	case 7: // another owner takes the shard over
		p.later(soon, func() { w.start(q.shard()) })
		say(soon.Add(pick(r, 0, time.Second)), replan(u.plan()))
	case 8: // the owner dies of the word, or between it and what follows
		say(soon, replan(u.plan()))
		p.later(soon, func() { w.dies(q.shard(), 1+r.Int64N(8), pick(r, CrashBefore, CrashAfter)) })
	case 9: // all else goes on as it was planned
		say(soon, replan(u.keeping(keeps)))
	case 10: // another word than a plan
		say(soon, schemas.Control{Action: schemas.ControlAnswer, Text: w.advisers.says()})
	case 11: // by the service itself, which names the run
		p.later(soon, func() {
			q.run = schemas.RunID(q.session, 1+r.IntN(3))
			q.control(&schemas.Control{Action: pick(r, schemas.ControlAnswer, schemas.ControlReplan), Inquiry: r.IntN(3), Text: pick(r, "again", "skip", "replan: look at alpha", "end", "look at alpha")})
			p.commands = p.commands[:len(p.commands)-1] // there may be no such run
		})
	default:
		say(soon, replan(u.plan()))
	}
}

// sayUpstream says something about a request, as whoever has made it does.
func (q *question) sayUpstream(request string, control *schemas.Control) {
	w := q.people.world
	id := w.id("upstream")
	control.Request = request
	w.tell(id, q.thread, q.shard(), *control)
	q.people.commands = append(q.people.commands, command{id, q.session})
}
