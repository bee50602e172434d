package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/sim/retriers"
	"podium/supervisor/sim/threads"
)

// sent is a message that an adapter has published and the ledger has taken.
type sent struct {
	id, session string
	shard       int
	sequence    uint64
	good        bool    // it belongs into its session, else into quarantine
	asking      *asking // when it is an execution_request
}

// asking is what makes two requests attempts of one piece of work.
type asking struct {
	profile, partition, effect string
	attempt                    int
	tasks                      []schemas.Task
}

// upstreamer is who sends requests that no supervisor of the world has made.
const upstreamer = "sim"

// The adapters that messages come in by.
const (
	adapterChat = iota
	adapterMail
	adapterRequest
	adapterPlan
	adapters
)

// arrive publishes a new message, or one that nobody can use.
func (w *World) arrive() {
	total := 0
	for _, demand := range w.configuration.demand {
		total += demand
	}
	at := w.rand.IntN(total)
	adapter := 0
	for ; at >= w.configuration.demand[adapter]; adapter++ {
		at -= w.configuration.demand[adapter]
	}
	event := schemas.Event{
		Source: "/podium/sim", Time: w.now, Profile: pick(w.rand, outer, outer, inner),
		PartitionKey: fmt.Sprintf("thread-%d", w.rand.IntN(w.configuration.threads)), DataContentType: schemas.MediaTypeJSON,
	}
	switch adapter {
	case adapterChat:
		w.chat(event)
	case adapterMail:
		w.mail(event)
	default:
		w.request(event, adapter == adapterPlan)
	}
}

func (w *World) id(kind string) string {
	w.serial++
	return fmt.Sprintf("%s-%d", kind, w.serial)
}

func (w *World) chat(event schemas.Event) {
	event.ID, event.Type = w.id("chat"), schemas.TypeChatReceived
	chat := schemas.ChatReceived{
		Provider: "sim", Channel: "c", Thread: event.PartitionKey, MessageID: event.ID, Text: w.text(),
	}
	if w.people != nil {
		chat.User = w.people.user(event.ID)
	}
	w.body(&event, chat)
	w.deliver("chat", &event, nil)
}

func (w *World) mail(event schemas.Event) {
	event.ID, event.Type = w.id("mail"), schemas.TypeEmailReceived
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", MessageID: event.ID + "@sim", Subject: "Question", Text: w.text(),
		Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: w.now, UIDValidity: 1, UID: 1, Origin: schemas.OriginUnchecked,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	if w.once(5) {
		mail.Class = schemas.MailAutoReply
	}
	if !w.once(6) {
		mail.From = []schemas.Address{{Address: "person@sim"}}
		if w.people != nil {
			mail.From[0] = w.people.address()
		}
		mail.AnswerTo = mail.From[0]
	}
	if w.origins != nil {
		mail.Origin = pick(w.origins, schemas.OriginProven, schemas.OriginProven, schemas.OriginUnproven, schemas.OriginRefuted, schemas.OriginUnchecked)
	}
	w.body(&event, mail)
	w.deliver("email", &event, nil)
}

// request asks as another supervisor or a planner does, with a plan or in words.
// Now and then it is a second attempt of a request from before.
func (w *World) request(event schemas.Event, planned bool) {
	event.ID, event.Type = schemas.PlanID(w.id("request")), schemas.TypeExecutionRequest
	work := asking{profile: event.Profile, partition: event.PartitionKey, effect: schemas.PlanID(w.id("effect"))}
	if before := w.asked(); before != nil && w.once(4) {
		work = *before
	}
	if before := w.newestAsked(); before != nil && !once(w.further, 3) {
		work = *before
	}
	work.attempt++
	event.Profile, event.PartitionKey, event.EffectID, event.Attempt = work.profile, work.partition, work.effect, work.attempt
	if w.once(3) {
		event.Expires = w.now.Add(5*time.Second + w.span(2*time.Minute))
	}
	tasks := []schemas.Task{{
		TaskID: "t1", Description: w.text(), AssignedTo: front, EstimatedTimeSeconds: w.rand.IntN(3),
	}}
	if planned {
		tasks = w.graph()
		w.spoil(tasks)
	}
	w.load(tasks)
	if w.further != nil && work.tasks != nil && !once(w.further, 4) {
		tasks = work.tasks // in the same words
	}
	w.taint.stain(event.ID, tasks)
	work.tasks = tasks
	assignments := map[string][]string{}
	for i := range tasks {
		assignments[tasks[i].AssignedTo] = append(assignments[tasks[i].AssignedTo], tasks[i].TaskID)
	}
	w.body(&event, schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: event.ID, From: upstreamer, To: front, Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: w.now,
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(event.ID), RequestID: "r-" + event.ID, Tasks: tasks, AgentAssignments: assignments,
		},
	})
	w.deliver("agent", &event, &work)
}

// load gives tasks something to build on, in every fourth world and by their number:
// nothing is drawn, so that the other seeds do what they did.
func (w *World) load(tasks []schemas.Task) {
	if w.Seed%4 != 3 {
		return
	}
	for i := range tasks {
		if (w.serial+i)%3 > 0 {
			continue
		}
		tasks[i].Context.Inputs = map[string]schemas.TaskInput{
			"dose": {Result: schemas.Result{Text: fmt.Sprintf("dose %d of %d", i, w.serial), Data: fmt.Appendf(nil, `{"dose":%d}`, w.serial)}},
			"note": {Result: schemas.Result{Text: fmt.Sprintf("note %d of %d", i, w.serial)}},
		}
		if w.serial%4 == 0 {
			tasks[i].Context.Inputs["a"] = schemas.TaskInput{Result: schemas.Result{Data: fmt.Appendf(nil, `[%d]`, i)}} // the name of a task, too
		}
	}
}

// asked returns a request from before, or nil.
func (w *World) asked() *asking {
	if len(w.sent) == 0 {
		return nil
	}
	return w.sent[w.rand.IntN(len(w.sent))].asking
}

// furtherStream is a source of its own for further attempts, so that worlds without them are as they were.
const furtherStream = 0x66757274686572

// newFurther has more come from upstream.
func newFurther(w *World) *rand.Rand {
	w.configuration.demand[adapterRequest] += 3
	w.configuration.demand[adapterPlan] += 6
	return rand.New(rand.NewPCG(w.Seed, furtherStream)) //nolint:gosec // a simulation repeats
}

// newestAsked returns the newest request, in worlds where further attempts follow it; else nil.
func (w *World) newestAsked() *asking {
	if w.further == nil {
		return nil
	}
	for _, sent := range slices.Backward(w.sent) {
		if sent.asking != nil && sent.good {
			return sent.asking
		}
	}
	return nil
}

func (w *World) body(event *schemas.Event, body any) {
	data, err := schemas.Marshal(body)
	w.must(err)
	event.Data = data
}

// deliver publishes an event at an adapter, spoiled now and then.
func (w *World) deliver(adapter string, event *schemas.Event, work *asking) {
	good := true
	switch w.rand.IntN(30) {
	case 0:
		event.Data, good = []byte(`{"text":`), false
	case 1:
		event.Profile, good = "nobody", false
	case 2:
		event.Type, event.SessionID, good = schemas.TypeProgressUpdate, "", false
	case 3:
		event.PartitionKey, good = "", false
	}
	id := event.Session()
	shard := schemas.ShardOf(id, w.configuration.shards)
	if w.people != nil && good && event.SessionID == "" {
		w.people.threads[id] = thread{event.Profile, event.PartitionKey}
	}
	sequence := w.publish(bus.InSubject(adapter, shard), event)
	w.sent = append(w.sent, sent{id: event.ID, session: id, shard: shard, sequence: sequence, good: good, asking: work})
}

// repeat publishes a message again, as an adapter does after a lost acknowledgment.
func (w *World) repeat() {
	if len(w.sent) == 0 {
		return
	}
	again := w.sent[w.rand.IntN(len(w.sent))]
	message, err := w.ledger.Get(context.Background(), bus.ShardStream(again.shard), again.sequence)
	w.must(err)
	w.ledger.Publish(bus.Message{Subject: message.Subject, Header: message.Header, Body: message.Body}, bus.Expect{},
		func(_ bus.Ack, err error) { w.must(err) })
}

// cancel asks for the end of a run, which may have ended or never begun, by its
// own id or by that of the request which began it.
func (w *World) cancel() {
	if w.resends() {
		w.resend()
	}
	if len(w.sent) == 0 {
		return
	}
	target := w.sent[w.rand.IntN(len(w.sent))]
	event := schemas.Event{
		ID: w.id("cancel"), Source: "/podium/sim", Type: schemas.TypeControl, Time: w.now,
		DataContentType: schemas.MediaTypeJSON,
	}
	control := schemas.Control{Action: schemas.ControlCancel, By: "sim"}
	if target.asking != nil && target.good && w.once(2) {
		control.Request = target.id
		event.Profile, event.PartitionKey = target.asking.profile, target.asking.partition
	} else {
		control.Run = schemas.RunID(target.session, 1+w.rand.IntN(3))
	}
	w.body(&event, control)
	w.publish(bus.ControlSubject(target.shard), &event)
}

// text is what a person writes: it hits keywords, calls for plans, names
// entities, or means nothing to anybody.
func (w *World) text() string {
	words := pick(w.rand,
		"alpha please", "beta please", "calculate alpha and then summarize beta", "calculate nothing",
		"nobody knows this", "everything please", "please alpha, the answer and thanks", "bitte alpha und danke",
		"fan out over alpha", "a diamond for 7 with beta", "calculate gamma, summarize alpha and then calculate beta",
	)
	if w.once(4) {
		words += fmt.Sprintf(" for P-%d", w.rand.IntN(3))
	}
	return words + w.bulk(12)
}

// bulk is what makes every n-th text large, in worlds that know large ones.
func (w *World) bulk(n int) string {
	if w.configuration.bulk == bulkSmall || !w.once(n) {
		return ""
	}
	if w.configuration.bulk == bulkClaimed && w.once(4) {
		return strings.Repeat(" many more words", artifact.MessageInlineLimit/16+1)
	}
	return strings.Repeat(" more words", schemas.RecordInlineLimit/8)
}

// graph is a plan with names, dependencies and wishes of all kinds.
func (w *World) graph() []schemas.Task {
	tasks := make([]schemas.Task, 1+w.rand.IntN(pick(w.rand, 3, 5, 7)))
	density := w.rand.IntN(4)
	for i := range tasks {
		tasks[i] = schemas.Task{
			TaskID: string(rune('a' + i)), Description: w.text(), AssignedTo: pick(w.rand, alpha, alpha, beta, gamma),
			EstimatedTimeSeconds: pick(w.rand, 0, 0, 1, 5), Optional: w.once(6),
			Priority: pick(w.rand, "", schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave),
		}
		for j := range i {
			if w.rand.IntN(6) < density {
				tasks[i].Dependencies = append(tasks[i].Dependencies, tasks[j].TaskID)
			}
		}
		if w.once(6) || w.configuration.shared && w.once(2) {
			tasks[i].Resources = []string{pick(w.rand, "disk", "printer")}
			if w.configuration.shared && w.once(3) {
				tasks[i].Resources = []string{"printer", "disk"}
			}
		}
	}
	return w.reviews.Promise(tasks)
}

// spoil makes a plan one that nobody can carry out, now and then.
func (w *World) spoil(tasks []schemas.Task) {
	if !w.once(6) {
		return
	}
	task := &tasks[w.rand.IntN(len(tasks))]
	switch w.rand.IntN(5) {
	case 0:
		task.AssignedTo = "nobody"
	case 1:
		task.Dependencies = []string{task.TaskID}
	case 2:
		task.Dependencies = []string{"missing"}
	case 3:
		task.TaskID, task.AssignedTo = tasks[0].TaskID, tasks[0].AssignedTo
	case 4:
		task.TaskID = schemas.DeliveryTask
	}
}

// In every eighth world half of the answers are refused for good while there are
// faults, and people have them sent again: some at any time, and all, twice, once the faults are
// over. Nothing is drawn for that, so that the other worlds do what they did.

func (w *World) resends() bool { return w.Seed%8 == 1 || w.people != nil && w.people.resends }

// refuses reports whether an answer is refused, and notes whose it is.
func (pr *pendingRequest) refuses() bool {
	w := pr.agent.world
	if !w.resends() || w.calm || pr.task.TaskID != schemas.DeliveryTask || w.serial%2 == 0 {
		return false
	}
	w.refused = append(w.refused, pr.request.Payload.RequestID)
	return true
}

// resend asks for one of the answers that were refused; the run may be under way, or it
// was sent since.
func (w *World) resend() {
	if len(w.refused) > 0 {
		w.sendAgain(w.refused[w.serial%len(w.refused)])
	}
}

// resendAll asks for all of them, and reports whether there are any.
func (w *World) resendAll() bool {
	for _, run := range w.refused {
		w.sendAgain(run)
	}
	return len(w.refused) > 0
}

func (w *World) sendAgain(run string) {
	id, _, err := schemas.ParseRunID(run)
	w.must(err)
	event := schemas.Event{
		ID: w.id("resend"), Source: "/podium/sim", Type: schemas.TypeControl, Time: w.now, DataContentType: schemas.MediaTypeJSON,
	}
	w.body(&event, schemas.Control{Action: schemas.ControlResend, Run: run, By: "sim", AllowDuplicate: w.serial%3 == 0})
	w.publish(bus.ControlSubject(schemas.ShardOf(id, w.configuration.shards)), &event)
}

// retry has somebody have a run begun anew, if there is such a run.
func (w *World) retry() {
	target := w.sent[w.retriers.Rand.IntN(len(w.sent))]
	event := schemas.Event{
		ID: w.id("retry"), Source: "/podium/sim", Type: schemas.TypeControl, Time: w.now, DataContentType: schemas.MediaTypeJSON,
	}
	w.body(&event, w.retriers.Control(target.session))
	w.publish(bus.ControlSubject(target.shard), &event)
	w.retriers.Said = append(w.retriers.Said, retriers.Said{ID: event.ID, Session: target.session})
}

// A remark is what somebody writes in a chat.
type remark struct {
	user, text string
	taken      time.Time // by its adapter; when it is written, if zero
	elsewhere  bool      // in another chat that the same thread is of
	thread     *thread   // another one; that of the question, if nil
	edits      string    // the message that it takes the place of; empty is none
}

// write has somebody write in a chat, and returns the id that its provider has for that.
func (q *question) write(what *remark) string {
	w, in := q.people.world, q.thread
	if what.thread != nil {
		in = *what.thread
	}
	event := schemas.Event{
		ID: w.id("chat"), Source: "/podium/sim", Type: schemas.TypeChatReceived, Time: w.now, Profile: in.profile, PartitionKey: in.partition,
		DataContentType: schemas.MediaTypeJSON,
	}
	if !what.taken.IsZero() {
		event.Time = what.taken
	}
	chat := schemas.ChatReceived{
		Provider: "sim", Channel: threads.Channel, Thread: event.PartitionKey, MessageID: cmp.Or(what.edits, event.ID), User: schemas.ChatUser{ID: what.user}, Text: what.text,
	}
	if what.elsewhere {
		chat.Channel = threads.Elsewhere
	}
	w.people.users[event.ID] = chat.User
	w.body(&event, chat)
	w.deliver("chat", &event, nil)
	return chat.MessageID
}

// inThread has those do something who are asked in the thread of a run, and others who read it.
func (q *question) inThread(names []string, notice string) {
	p, w := q.people, q.people.world
	t, r := w.threads, w.threads.Rand
	soon := w.now.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
	q.expires = q.sent.Add(pick(r, 6*time.Second, 40*time.Second, 10*time.Minute)) // one of these it is, mostly
	if p.staff.short(q, schemas.ControlAnswer, schemas.ControlReject) {
		return
	}
	says := func(at time.Time, what remark) {
		if what.user == "" {
			what.user = threads.User(pick(r, names...))
		}
		what.text = q.saysThere(notice)
		p.later(at, func() { q.write(&what) })
	}
	after := soon.Add(pick(r, 0, time.Second))
	switch r.IntN(20) {
	case 0: // nothing, ever
	case 1: // somebody else, and then who was asked
		p.later(soon, func() { q.write(&remark{user: t.Another(threads.User(names[0])), text: q.saysThere(notice)}) })
		says(after, remark{})
	case 2: // about when its time is over
		says(q.expires.Add(pick(r, -time.Millisecond, 0, time.Millisecond)), remark{})
	case 3: // in time, and its adapter is slow
		taken := q.expires.Add(-time.Duration(1 + r.Int64N(int64(2*time.Second))))
		says(taken.Add(time.Duration(r.Int64N(int64(10*time.Second)))), remark{taken: taken})
	case 4: // long after
		says(q.expires.Add(time.Duration(r.Int64N(int64(time.Minute)))), remark{})
	case 5: // twice
		says(soon, remark{})
		says(after, remark{})
	case 6: // each of them
		for n, name := range names {
			says(soon.Add(time.Duration(n)*pick(r, 0, time.Second)), remark{user: threads.User(name)})
		}
	case 7: // in another thread, and maybe here as well
		says(soon, remark{thread: &thread{pick(r, outer, inner), fmt.Sprintf("thread-%d", r.IntN(w.configuration.threads+1))}})
		if once(r, 2) {
			says(after, remark{})
		}
	case 8: // one of the same name, in another chat
		says(soon, remark{elsewhere: true})
	case 9: // what is edited later
		user := threads.User(pick(r, names...))
		p.later(soon, func() {
			first := q.write(&remark{user: user, text: q.saysThere(notice)})
			p.later(after, func() { q.write(&remark{user: user, text: q.saysThere(notice), edits: first}) })
		})
	case 10: // in the moment in which somebody stops the run
		says(soon, remark{})
		p.later(soon, q.cancel)
	case 11: // another owner takes the shard over
		p.later(soon, func() { w.start(q.shard()) })
		says(after, remark{})
	case 12: // the owner dies of the word, or between it and what follows
		says(soon, remark{})
		p.later(soon, func() { w.dies(q.shard(), 1+r.Int64N(8), pick(r, CrashBefore, CrashAfter)) })
	case 13: // others are there by now, maybe
		p.later(soon, w.restart)
		says(after, remark{})
	case 14: // by a letter that names the question
		p.staff.write(q, soon, letter{from: pick(r, "anna@staff", "ben@staff", "eve@sim")})
	case 15: // by a word to the service itself, too
		p.later(soon, func() { p.staff.say(q, schemas.ControlAnswer, pick(r, q.inquiry, q.inquiry, 0, q.inquiry+1)) })
		says(after, remark{})
	case 16: // before they were asked
		says(soon, remark{taken: q.sent.Add(-time.Duration(r.Int64N(int64(3 * time.Second))))})
	default:
		says(soon, remark{})
	}
}

// saysThere is what somebody says to what is asked in a thread.
func (q *question) saysThere(notice string) string {
	p, w := q.people, q.people.world
	switch {
	case w.advisers.Asks(notice):
		return w.advisers.Says()
	case strings.Contains(notice, asksForMore):
		return w.threads.Raises()
	case strings.Contains(notice, handedOver):
		return w.threads.Works()
	}
	return p.approvers.word()
}
