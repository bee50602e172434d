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

// callers are all who write to a world, and ask for what was said to be done.
type callers struct{ world *World }

// arrive publishes a new message, or one that nobody can use.
func (c *callers) arrive() {
	total := 0
	for _, demand := range c.world.configuration.demand {
		total += demand
	}
	at := c.world.rand.IntN(total)
	adapter := 0
	for ; at >= c.world.configuration.demand[adapter]; adapter++ {
		at -= c.world.configuration.demand[adapter]
	}
	event := schemas.Event{
		Source: "/podium/sim", Time: c.world.now, Profile: pick(c.world.rand, outer, outer, inner),
		PartitionKey: fmt.Sprintf("thread-%d", c.world.rand.IntN(c.world.configuration.threads)), DataContentType: schemas.MediaTypeJSON,
	}
	switch adapter {
	case adapterChat:
		c.chat(event)
	case adapterMail:
		c.mail(event)
	default:
		c.request(event, adapter == adapterPlan)
	}
}

func (w *World) id(kind string) string {
	w.serial++
	return fmt.Sprintf("%s-%d", kind, w.serial)
}

func (c *callers) chat(event schemas.Event) {
	event.ID, event.Type = c.world.id("chat"), schemas.TypeChatReceived
	chat := schemas.ChatReceived{
		Provider: "sim", Channel: "c", Thread: event.PartitionKey, MessageID: event.ID, Text: c.text(),
	}
	if c.world.people != nil {
		chat.User = c.world.people.user(event.ID)
	}
	c.world.body(&event, chat)
	c.deliver("chat", &event, nil)
}

func (c *callers) mail(event schemas.Event) {
	event.ID, event.Type = c.world.id("mail"), schemas.TypeEmailReceived
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", MessageID: event.ID + "@sim", Subject: "Question", Text: c.text(),
		Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: c.world.now, UIDValidity: 1, UID: 1, Origin: schemas.OriginUnchecked,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	if c.world.once(5) {
		mail.Class = schemas.MailAutoReply
	}
	if !c.world.once(6) {
		mail.From = []schemas.Address{{Address: "person@sim"}}
		if c.world.people != nil {
			mail.From[0] = c.world.people.address()
		}
		mail.AnswerTo = mail.From[0]
	}
	if c.world.origins != nil {
		mail.Origin = pick(c.world.origins, schemas.OriginProven, schemas.OriginProven, schemas.OriginUnproven, schemas.OriginRefuted, schemas.OriginUnchecked)
	}
	c.world.body(&event, mail)
	c.deliver("email", &event, nil)
}

// request asks as another supervisor or a planner does, with a plan or in words.
// Now and then it is a second attempt of a request from before.
func (c *callers) request(event schemas.Event, planned bool) {
	event.ID, event.Type = schemas.PlanID(c.world.id("request")), schemas.TypeExecutionRequest
	work := asking{profile: event.Profile, partition: event.PartitionKey, effect: schemas.PlanID(c.world.id("effect"))}
	if before := c.asked(); before != nil && c.world.once(4) {
		work = *before
	}
	if before := c.newestAsked(); before != nil && !once(c.world.further, 3) {
		work = *before
	}
	work.attempt++
	event.Profile, event.PartitionKey, event.EffectID, event.Attempt = work.profile, work.partition, work.effect, work.attempt
	if c.world.once(3) {
		event.Expires = c.world.now.Add(5*time.Second + c.world.span(2*time.Minute))
	}
	tasks := []schemas.Task{{
		TaskID: "t1", Description: c.text(), AssignedTo: front, EstimatedTimeSeconds: c.world.rand.IntN(3),
	}}
	if planned {
		tasks = c.graph()
		c.spoil(tasks)
	}
	c.load(tasks)
	if c.world.further != nil && work.tasks != nil && !once(c.world.further, 4) {
		tasks = work.tasks // in the same words
	}
	c.world.taint.stain(event.ID, tasks)
	work.tasks = tasks
	assignments := map[string][]string{}
	for i := range tasks {
		assignments[tasks[i].AssignedTo] = append(assignments[tasks[i].AssignedTo], tasks[i].TaskID)
	}
	c.world.body(&event, schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: event.ID, From: upstreamer, To: front, Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: c.world.now,
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(event.ID), RequestID: "r-" + event.ID, Tasks: tasks, AgentAssignments: assignments,
		},
	})
	c.deliver("agent", &event, &work)
}

// load gives tasks something to build on, in every fourth world and by their number:
// nothing is drawn, so that the other seeds do what they did.
func (c *callers) load(tasks []schemas.Task) {
	if c.world.Seed%4 != 3 {
		return
	}
	for i := range tasks {
		if (c.world.serial+i)%3 > 0 {
			continue
		}
		tasks[i].Context.Inputs = map[string]schemas.TaskInput{
			"dose": {Result: schemas.Result{Text: fmt.Sprintf("dose %d of %d", i, c.world.serial), Data: fmt.Appendf(nil, `{"dose":%d}`, c.world.serial)}},
			"note": {Result: schemas.Result{Text: fmt.Sprintf("note %d of %d", i, c.world.serial)}},
		}
		if c.world.serial%4 == 0 {
			tasks[i].Context.Inputs["a"] = schemas.TaskInput{Result: schemas.Result{Data: fmt.Appendf(nil, `[%d]`, i)}} // the name of a task, too
		}
	}
}

// asked returns a request from before, or nil.
func (c *callers) asked() *asking {
	if len(c.world.sent) == 0 {
		return nil
	}
	return c.world.sent[c.world.rand.IntN(len(c.world.sent))].asking
}

// newFurther has more come from upstream.
func newFurther(w *World) *rand.Rand {
	w.configuration.demand[adapterRequest] += 3
	w.configuration.demand[adapterPlan] += 6
	return source(w.Seed, furtherStream)
}

// newestAsked returns the newest request, in worlds where further attempts follow it; else nil.
func (c *callers) newestAsked() *asking {
	if c.world.further == nil {
		return nil
	}
	for _, sent := range slices.Backward(c.world.sent) {
		if sent.asking != nil && sent.good {
			return sent.asking
		}
	}
	return nil
}

// event is a new message in a thread that its adapter has taken at a time; zero is now.
func (w *World) event(id, eventType string, in thread, taken time.Time) schemas.Event {
	if taken.IsZero() {
		taken = w.now
	}
	return schemas.Event{
		ID: id, Source: "/podium/sim", Type: eventType, Time: taken, Profile: in.profile, PartitionKey: in.partition, DataContentType: schemas.MediaTypeJSON,
	}
}

// tell says something to the service itself.
func (w *World) tell(id string, in thread, shard int, control schemas.Control) {
	event := w.event(id, schemas.TypeControl, in, time.Time{})
	w.body(&event, control)
	w.publish(bus.ControlSubject(shard), &event)
}

func (w *World) body(event *schemas.Event, body any) {
	data, err := schemas.Marshal(body)
	w.must(err)
	event.Data = data
}

// deliver publishes an event at an adapter, spoiled now and then.
func (c *callers) deliver(adapter string, event *schemas.Event, work *asking) {
	good := true
	switch c.world.rand.IntN(30) {
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
	shard := schemas.ShardOf(id, c.world.configuration.shards)
	if c.world.people != nil && good && event.SessionID == "" {
		c.world.people.threads[id] = thread{event.Profile, event.PartitionKey}
	}
	sequence := c.world.publish(bus.InSubject(adapter, shard), event)
	c.world.sent = append(c.world.sent, sent{id: event.ID, session: id, shard: shard, sequence: sequence, good: good, asking: work})
}

// repeat publishes a message again, as an adapter does after a lost acknowledgment.
func (c *callers) repeat() {
	if len(c.world.sent) == 0 {
		return
	}
	again := c.world.sent[c.world.rand.IntN(len(c.world.sent))]
	message, err := c.world.ledger.Get(context.Background(), bus.ShardStream(again.shard), again.sequence)
	c.world.must(err)
	c.world.ledger.Publish(bus.Message{Subject: message.Subject, Header: message.Header, Body: message.Body}, bus.Expect{},
		func(_ bus.Ack, err error) { c.world.must(err) })
}

// cancel asks for the end of a run, which may have ended or never begun, by its
// own id or by that of the request which began it.
func (c *callers) cancel() {
	if c.resends() {
		c.resend()
	}
	if len(c.world.sent) == 0 {
		return
	}
	target := c.world.sent[c.world.rand.IntN(len(c.world.sent))]
	id, in, control := c.world.id("cancel"), thread{}, schemas.Control{Action: schemas.ControlCancel, By: "sim"}
	if target.asking != nil && target.good && c.world.once(2) {
		control.Request = target.id
		in = thread{target.asking.profile, target.asking.partition}
	} else {
		control.Run = schemas.RunID(target.session, 1+c.world.rand.IntN(3))
	}
	c.world.tell(id, in, target.shard, control)
}

// text is what a person writes: it hits keywords, calls for plans, names
// entities, or means nothing to anybody.
func (c *callers) text() string {
	words := pick(c.world.rand,
		"alpha please", "beta please", "calculate alpha and then summarize beta", "calculate nothing",
		"nobody knows this", "everything please", "please alpha, the answer and thanks", "bitte alpha und danke",
		"fan out over alpha", "a diamond for 7 with beta", "calculate gamma, summarize alpha and then calculate beta",
	)
	if c.world.once(4) {
		words += fmt.Sprintf(" for P-%d", c.world.rand.IntN(3))
	}
	return words + c.bulk(12)
}

// bulk is what makes every n-th text large, in worlds that know large ones.
func (c *callers) bulk(n int) string {
	if c.world.configuration.bulk == bulkSmall || !c.world.once(n) {
		return ""
	}
	if c.world.configuration.bulk == bulkClaimed && c.world.once(4) {
		return strings.Repeat(" many more words", artifact.MessageInlineLimit/16+1)
	}
	return strings.Repeat(" more words", schemas.RecordInlineLimit/8)
}

// graph is a plan with names, dependencies and wishes of all kinds.
func (c *callers) graph() []schemas.Task {
	tasks := make([]schemas.Task, 1+c.world.rand.IntN(pick(c.world.rand, 3, 5, 7)))
	density := c.world.rand.IntN(4)
	for i := range tasks {
		tasks[i] = schemas.Task{
			TaskID: string(rune('a' + i)), Description: c.text(), AssignedTo: pick(c.world.rand, alpha, alpha, beta, gamma),
			EstimatedTimeSeconds: pick(c.world.rand, 0, 0, 1, 5), Optional: c.world.once(6),
			Priority: pick(c.world.rand, "", schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave),
		}
		for j := range i {
			if c.world.rand.IntN(6) < density {
				tasks[i].Dependencies = append(tasks[i].Dependencies, tasks[j].TaskID)
			}
		}
		if c.world.once(6) || c.world.configuration.shared && c.world.once(2) {
			tasks[i].Resources = []string{pick(c.world.rand, "disk", "printer")}
			if c.world.configuration.shared && c.world.once(3) {
				tasks[i].Resources = []string{"printer", "disk"}
			}
		}
	}
	return c.world.reviews.promise(tasks)
}

// spoil makes a plan one that nobody can carry out, now and then.
func (c *callers) spoil(tasks []schemas.Task) {
	if !c.world.once(6) {
		return
	}
	task := &tasks[c.world.rand.IntN(len(tasks))]
	switch c.world.rand.IntN(5) {
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

func (c *callers) resends() bool {
	return c.world.Seed%8 == 1 || c.world.people != nil && c.world.people.resends
}

// refuses reports whether an answer is refused, and notes whose it is.
func (pr *pendingRequest) refuses() bool {
	w := pr.agent.world
	if !w.callers.resends() || w.calm || pr.task.TaskID != schemas.DeliveryTask || w.serial%2 == 0 {
		return false
	}
	w.refused = append(w.refused, pr.request.Payload.RequestID)
	return true
}

// resend asks for one of the answers that were refused; the run may be under way, or it
// was sent since.
func (c *callers) resend() {
	if len(c.world.refused) > 0 {
		c.sendAgain(c.world.refused[c.world.serial%len(c.world.refused)])
	}
}

// resendAll asks for all of them, and reports whether there are any.
func (c *callers) resendAll() bool {
	for _, run := range c.world.refused {
		c.sendAgain(run)
	}
	return len(c.world.refused) > 0
}

func (c *callers) sendAgain(run string) {
	id, _, err := schemas.ParseRunID(run)
	c.world.must(err)
	again := c.world.id("resend")
	c.world.tell(again, thread{}, schemas.ShardOf(id, c.world.configuration.shards), schemas.Control{Action: schemas.ControlResend, Run: run, By: "sim", AllowDuplicate: c.world.serial%3 == 0})
}

// retry has somebody have a run begun anew, if there is such a run.
func (c *callers) retry() {
	target := c.world.sent[c.world.retriers.rand.IntN(len(c.world.sent))]
	c.world.tell(c.world.id("retry"), thread{}, target.shard, c.world.retriers.control(target.session))
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
	event := w.event(w.id("chat"), schemas.TypeChatReceived, in, what.taken)
	chat := schemas.ChatReceived{
		Provider: "sim", Channel: chatChannel, Thread: event.PartitionKey, MessageID: cmp.Or(what.edits, event.ID), User: schemas.ChatUser{ID: what.user}, Text: what.text,
	}
	if what.elsewhere {
		chat.Channel = chatElsewhere
	}
	w.people.users[event.ID] = chat.User
	w.body(&event, chat)
	w.callers.deliver("chat", &event, nil)
	return chat.MessageID
}

// inThread has those do something who are asked in the thread of a run, and others who read it.
func (q *question) inThread(names []string, notice string) {
	p, w := q.people, q.people.world
	t, r := w.threads, w.threads.rand
	soon := w.now.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
	q.expires = q.sent.Add(pick(r, 6*time.Second, 40*time.Second, 10*time.Minute)) // one of these it is, mostly
	if p.staff.short(q, schemas.ControlAnswer, schemas.ControlReject) {
		return
	}
	says := func(at time.Time, what remark) {
		if what.user == "" {
			what.user = chatUser(pick(r, names...))
		}
		what.text = q.saysThere(notice)
		p.later(at, func() { q.write(&what) })
	}
	after := soon.Add(pick(r, 0, time.Second))
	switch r.IntN(20) {
	case 0: // nothing, ever
	case 1: // somebody else, and then who was asked
		p.later(soon, func() { q.write(&remark{user: t.another(chatUser(names[0])), text: q.saysThere(notice)}) })
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
			says(soon.Add(time.Duration(n)*pick(r, 0, time.Second)), remark{user: chatUser(name)})
		}
	case 7: // in another thread, and maybe here as well
		says(soon, remark{thread: &thread{pick(r, outer, inner), fmt.Sprintf("thread-%d", r.IntN(w.configuration.threads+1))}})
		if once(r, 2) {
			says(after, remark{})
		}
	case 8: // one of the same name, in another chat
		says(soon, remark{elsewhere: true})
	case 9: // what is edited later
		user := chatUser(pick(r, names...))
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
	case w.advisers.asks(notice):
		return w.advisers.says()
	case strings.Contains(notice, asksForMore):
		return w.threads.raises()
	case strings.Contains(notice, handedOver):
		return w.threads.works()
	}
	return p.approvers.word()
}
