package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"podium/schemas"
)

// people are those who have written to a world and are asked. They know of a question once
// somebody has delivered it, and say something, at some time.
type people struct {
	world    *World
	rand     *rand.Rand
	held     []held
	threads  map[string]thread           // by session
	users    map[string]schemas.ChatUser // by what they have written in a chat
	commands []command
	resends  bool   // answers are refused, and sent again
	staff    *staff // nil: nobody does work
	// approvers are there when somebody has to agree; nil is nobody.
	approvers *approvers
	// questions is how many requesters were told, and letters how many the staff was.
	questions, letters int
}

// enoughQuestions is how many questions requesters are told before they answer by words that begin no runs: those would lead
// to questions again, in few worlds without end.
const enoughQuestions = 64

// enoughLetters is how many letters the staff is told before they say nothing more, for the same reason.
const enoughLetters = 256

// A thread is where the messages of a session come in.
type thread struct{ profile, partition string }

// A command is a word to the service itself, about a run that there is.
type command struct{ id, session string }

func newPeople(w *World) *people {
	r := source(w.Seed, peopleStream)
	p := &people{world: w, rand: r, threads: map[string]thread{}, users: map[string]schemas.ChatUser{}, resends: once(r, 6)}
	p.staff, p.approvers = newStaff(p), newApprovers(w)
	return p
}

// trait is what worlds with people have besides: more mail and chat, and in half of them
// somebody checks where mail is from.
func (p *people) trait() {
	w := p.world
	w.configuration.demand[adapterChat] += 2
	w.configuration.demand[adapterMail] += 2
	if w.origins == nil && once(p.rand, 2) {
		w.origins = source(w.Seed, originStream)
	}
	p.staff.trait()
	p.approvers.trait()
}

func (p *people) address() schemas.Address {
	return schemas.Address{Address: pick(p.rand, "ana@sim", "ana@sim", "eve@sim")}
}

// user is who writes a message in a chat; some providers do not say.
func (p *people) user(message string) schemas.ChatUser {
	p.users[message] = schemas.ChatUser{ID: pick(p.rand, "U1", "U1", "U2", "")}
	return p.users[message]
}

func (p *people) later(at time.Time, what func()) { p.held = append(p.held, held{at: at, what: what}) }

// step lets one person do one thing that is due.
func (p *people) step() bool {
	if p == nil {
		return false
	}
	if p.world.hearsUpstream() {
		return true
	}
	i := slices.IndexFunc(p.held, func(h held) bool { return !h.at.After(p.world.now) })
	if i < 0 {
		return false
	}
	what := p.held[i].what
	p.held = slices.Delete(p.held, i, i+1)
	what()
	return true
}

func (p *people) next(sooner func(time.Time)) {
	if p == nil {
		return
	}
	for i := range p.held {
		sooner(p.held[i].at)
	}
}

func (p *people) waits() bool { return p != nil && len(p.held) > 0 }

// A question is a notice that somebody has got.
type question struct {
	people  *people
	run     string
	inquiry int
	session string
	thread  thread
	reply   schemas.Reply
	effect  string
	sent    time.Time
	expires time.Time // as the profile has it, when this is the first notice
}

// told has a person know of a question, unless it is lost on its way.
func (p *people) told(pr *pendingRequest) {
	var arguments schemas.DeliveryArguments
	w := p.world
	w.must(schemas.Unmarshal(pr.task.Context.Arguments, &arguments))
	if arguments.Inquiry != noticeOf(pr.task.TaskID) || arguments.Text == "" {
		w.violate(RequestsAreProper, "request %s tells %q of inquiry %d", pr.event.ID, arguments.Text, arguments.Inquiry)
		return
	}
	session, _, err := schemas.ParseRunID(pr.request.Payload.RequestID)
	w.must(err)
	known, is := p.threads[session]
	if !is {
		w.violate(RequestsAreProper, "request %s asks of session %s, of which nobody is known", pr.event.ID, session)
		return
	}
	q := &question{
		people: p, run: pr.request.Payload.RequestID, inquiry: arguments.Inquiry, session: session, thread: known, reply: arguments.Reply, effect: pr.event.EffectID,
		sent: pr.event.Time, expires: pr.event.Time,
	}
	if names := w.threads.asked(arguments.Text); names != nil && arguments.Reply.InReplyTo != "" {
		q.inThread(names, arguments.Text)
		return
	}
	if w.advisers.asks(arguments.Text) {
		q.advise()
		return
	}
	if w.couplings != nil && w.budgets.told(q, arguments.Text) {
		return
	}
	if p.staff != nil && arguments.Reply.InReplyTo == "" { // an answer to nobody's message
		if p.letters++; p.letters <= enoughLetters {
			p.staff.told(q)
		}
		return
	}
	if w.budgets.told(q, arguments.Text) {
		return
	}
	if p.questions++; p.questions > enoughQuestions {
		p.later(w.now.Add(time.Second), func() { q.control(&schemas.Control{Action: schemas.ControlAnswer, Inquiry: q.inquiry, Text: "7"}) })
		return
	}
	if p.staff.short(q, schemas.ControlAnswer) {
		return
	}
	p.staff.remember(q)
	if waiting := w.configurations[0].Current(known.profile).Waiting; waiting != nil {
		q.expires = q.expires.Add(time.Duration(waiting.Expire))
	}
	if once(p.rand, 10) {
		return
	}
	q.decide()
}

// decide is what a person does about a question.
func (q *question) decide() {
	p, w := q.people, q.people.world
	soon := w.now.Add(time.Duration(p.rand.Int64N(int64(20 * time.Second))))
	switch p.rand.IntN(16) {
	case 0: // nothing, ever
	case 1: // somebody else answers, and then who was asked
		q.say(soon, word{stranger: true})
		if once(p.rand, 2) {
			q.say(soon.Add(time.Second), word{})
		}
	case 2: // about when its time is over
		q.say(q.expires.Add(pick(p.rand, -time.Millisecond, 0, time.Millisecond)), word{})
	case 3: // in time, and its adapter is slow
		taken := q.expires.Add(-time.Duration(1 + p.rand.Int64N(int64(2*time.Second))))
		q.say(taken.Add(time.Duration(p.rand.Int64N(int64(10*time.Second)))), word{taken: taken})
	case 4: // long after
		q.say(q.expires.Add(time.Duration(p.rand.Int64N(int64(time.Minute)))), word{})
	case 5: // twice at once
		q.say(soon, word{})
		q.say(soon, word{named: once(p.rand, 2)})
	case 6: // in the moment in which somebody stops the run
		q.say(soon, word{named: true})
		p.later(soon, q.cancel)
	case 7:
		q.say(soon, word{class: schemas.MailAutoReply})
		q.say(soon.Add(time.Second), word{named: once(p.rand, 2)})
	case 8:
		if q.reply.Agent == "mail" {
			p.later(soon, q.bounce)
		}
		q.say(soon.Add(time.Duration(p.rand.Int64N(int64(2*time.Second)))), word{named: true})
	case 9: // by a letter that is not this one
		q.say(soon, word{named: true, wrong: true})
	case 10:
		q.say(soon, word{named: true, origin: pick(p.rand, schemas.OriginUnproven, schemas.OriginRefuted)})
	case 11, 12:
		p.later(soon, q.command)
		if once(p.rand, 3) {
			p.later(soon, q.command)
		}
	case 13:
		p.later(soon, q.command)
		q.say(soon, word{})
	default:
		q.say(soon, word{named: once(p.rand, 2)})
	}
}

// A word is a message of a person to whom a question was told.
type word struct {
	taken    time.Time // by its adapter; when it is said, if zero
	stranger bool
	named    bool // it names the letter that asks
	wrong    bool // or another one
	before   bool // it answers what the service has told before
	class    schemas.MailClass
	origin   schemas.MailOrigin
	text     string // what it says; anything, if empty
}

func (p *people) text() string {
	if p.approvers != nil {
		return p.approvers.word()
	}
	return pick(p.rand, "7", "the number is 12, please", "at room 4", "no idea", `{"number":7}`, "bitte 3 und danke", "on 2030-12-03")
}

// say has a person write at a moment, in the thread in which they have asked.
func (q *question) say(at time.Time, said word) {
	p, w := q.people, q.people.world
	p.later(at, func() {
		if q.reply.Agent == "mail" {
			event := w.event(w.id("mail"), schemas.TypeEmailReceived, q.thread, said.taken)
			w.body(&event, q.mail(&event, &said))
			w.callers.deliver("email", &event, nil)
			return
		}
		event := w.event(w.id("chat"), schemas.TypeChatReceived, q.thread, said.taken)
		user := p.users[q.reply.InReplyTo]
		if said.stranger {
			user.ID = "stranger"
		}
		text := said.text
		if text == "" {
			text = p.text()
		}
		w.body(&event, schemas.ChatReceived{
			Provider: "sim", Channel: "c", Thread: event.PartitionKey, MessageID: event.ID, User: user, Text: text,
		})
		w.callers.deliver("chat", &event, nil)
	})
}

// mail is a letter in which a person answers.
func (q *question) mail(event *schemas.Event, said *word) schemas.EmailReceived {
	p, w := q.people, q.people.world
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", MessageID: event.ID + "@sim", Subject: "Re: Question", Text: p.text(), InReplyTo: q.effect + "@sim",
		Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: w.now, UIDValidity: 1, UID: 1, Origin: schemas.OriginUnchecked, Raw: noArtifact(),
	}
	if w.origins != nil {
		mail.Origin = pick(p.rand, schemas.OriginProven, schemas.OriginProven, schemas.OriginProven, schemas.OriginUnproven)
	}
	if said.origin != "" {
		mail.Origin = said.origin
	}
	if said.text != "" {
		mail.Text = said.text
	}
	if said.class != "" {
		mail.Class = said.class
	}
	mail.From = q.reply.To
	if said.stranger || len(mail.From) == 0 {
		mail.From = []schemas.Address{{Address: "mallory@sim"}}
	}
	mail.AnswerTo = mail.From[0]
	if said.named {
		mail.Answers = &schemas.Letter{Run: q.run, Inquiry: q.inquiry}
	}
	if said.wrong {
		mail.Answers = q.another(p.rand)
	}
	if said.before {
		mail.Answers = &schemas.Letter{Run: q.run}
	}
	return mail
}

// another is a letter that does not ask this.
func (q *question) another(r *rand.Rand) *schemas.Letter {
	session, number, err := schemas.ParseRunID(q.run)
	q.people.world.must(err)
	return pick(
		r, &schemas.Letter{Run: q.run, Inquiry: q.inquiry + 1}, &schemas.Letter{Run: q.run}, &schemas.Letter{Run: q.run, Inquiry: max(q.inquiry-1, 1)},
		&schemas.Letter{Run: schemas.RunID(session, number+1), Inquiry: q.inquiry}, &schemas.Letter{Run: schemas.RunID(schemas.SessionID("other", "thread"), 1), Inquiry: 1},
	)
}

// bounce reports that the notice was not delivered, or not yet.
func (q *question) bounce() { q.bounceOf("") }

// bounceOf reports that of one of those whom it was for; empty is of nobody in particular.
func (q *question) bounceOf(recipient string) {
	p, w := q.people, q.people.world
	event := w.event(w.id("bounce"), schemas.TypeEmailReceived, q.thread, time.Time{})
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", MessageID: event.ID + "@sim", Class: schemas.MailBounce, Parse: schemas.ParseOK, Received: w.now,
		UIDValidity: 1, UID: 1, Origin: schemas.OriginUnchecked, Raw: noArtifact(), From: []schemas.Address{{Address: "mailer-daemon@sim"}},
		Bounce: &schemas.Bounce{MessageID: q.effect + "@sim", RecipientStatus: schemas.RecipientStatus{Recipient: recipient, Action: "failed", Status: "5.1.1"}},
	}
	if once(p.rand, 3) {
		mail.Bounce.Action, mail.Bounce.Status = "delayed", "4.4.1"
	}
	w.body(&event, mail)
	w.callers.deliver("email", &event, nil)
}

// command is a word to the service itself, which may be about another inquiry, or ask for what cannot be said.
func (q *question) command() {
	p := q.people
	q.control(&schemas.Control{
		Action:  pick(p.rand, schemas.ControlAnswer, schemas.ControlAnswer, schemas.ControlAnswer, schemas.ControlReject),
		Inquiry: pick(p.rand, q.inquiry, q.inquiry, 0, q.inquiry+1, max(q.inquiry-1, 1)), Text: p.text(),
	})
}

func (q *question) cancel() { q.control(&schemas.Control{Action: schemas.ControlCancel}) }

func (q *question) control(control *schemas.Control) {
	p, w := q.people, q.people.world
	id := w.id("command")
	control.Run, control.By = q.run, "operator"
	p.approvers.command(control)
	w.tell(id, thread{}, q.shard(), *control)
	p.commands = append(p.commands, command{id, q.session})
}

func noArtifact() schemas.Artifact { return schemas.Artifact{SHA256: fmt.Sprintf("%064d", 0), Size: 1} }

// extractor says which arguments words hold, in worlds with people.
const extractor = "extractor"

// numbered is what agents take whose arguments are filled; see argumentsFit.
const numbered = `{"type":"object","required":["number"],"properties":{"number":{"type":"integer"},"place":{"type":"string"}}}`

// askPeople lets profiles ask people: soon and late, often and seldom, and for what their
// agents take as well. Some ask nobody.
func askPeople(r *rand.Rand, drafted []schemas.Profile) {
	for i := range drafted {
		p := &drafted[i]
		for n := range p.Languages {
			texts := &p.Languages[n].Texts
			texts.Missing, texts.Unsure = "What is {missing}?", "Which {missing} of {readings}?"
			texts.Reminder = "Once more:"
		}
		if once(r, 6) {
			continue
		}
		expire := pick(r, 6*time.Second, 40*time.Second, 10*time.Minute, 2*time.Hour)
		p.Waiting = &schemas.WaitingPolicy{
			Remind: schemas.Duration(pick(r, 0, 3*time.Second, expire/2)), Expire: schemas.Duration(expire), Asks: 1 + r.IntN(3),
		}
		for n := range p.Agents {
			if use := &p.Agents[n]; use.Name != tower && once(r, 4) {
				use.InputSchema = []byte(numbered)
				use.Arguments = []byte(pick(
					r, `{}`, `{"arguments":[{"path":"number","find":"number"}]}`, `{"input":"either","arguments":[{"path":"number","find":"number"}]}`,
					`{"arguments":[{"path":"number","pattern":"\\d+"},{"path":"place","pattern":"room \\d+"}]}`,
				))
				if once(r, 2) {
					use.Extractor = extractor
				}
			}
		}
	}
}

// notice reports whether the request tells a person what they are asked.
func (pr *pendingRequest) notice() bool { return noticeOf(pr.task.TaskID) > 0 }

// reaches has the person know whom the request tells what they are asked.
func (pr *pendingRequest) reaches() {
	if people := pr.agent.world.people; people != nil && pr.notice() {
		people.told(pr)
	}
}

// returns has a notice fail for good, now and then, and reports whether it has.
func (pr *pendingRequest) returns() bool {
	w := pr.agent.world
	if w.people == nil || w.calm || !pr.notice() || !once(w.people.rand, 12) {
		return false
	}
	pr.fail(schemas.StatusFailed, schemas.ResolutionEscalated)
	pr.ack()
	return true
}

// extraction is what an extractor finds, or says that it does.
func (p *people) extraction() []byte {
	return []byte(pick(p.rand, `{"number":7}`, `{"number":7,"place":"here"}`, `{}`, `{"number":"seven"}`, `{"nothing":true}`, `{"place":"there"}`))
}

// lacks has the agent say, once in so many times, that it cannot go on without somebody's word,
// and reports whether it has. An agent that has been told something asks less.
func (pr *pendingRequest) lacks(times int) bool {
	w := pr.agent.world
	if w.people == nil || pr.task.Context.Kind != "" || pr.task.TaskID == schemas.DeliveryTask || pr.notice() || pr.acted {
		return false
	}
	r := w.people.rand
	if w.calm {
		times *= 4
	}
	if len(pr.task.Context.Answers) > 0 {
		times *= 2
	}
	if !once(r, times) {
		return false
	}
	issue := schemas.Issue{
		IssueID: "1", TaskID: pr.task.TaskID, Agent: pr.agent.name, Severity: "high", Description: "Which one?", Category: schemas.CategoryInput,
		Resolution: schemas.ResolutionEscalated, EffectUnknown: pr.doubtful(),
	}
	payload := schemas.ResponsePayload{Status: schemas.StatusBlocked, PlanID: pr.request.Payload.PlanID}
	number := schemas.Need{Name: "number", Schema: []byte(`{"type":"integer"}`), Question: map[string]string{"en": "Which number?", "de": "Welche Zahl?"}}
	switch r.IntN(7) {
	case 0:
		payload.IssuesEncountered = []schemas.Issue{issue}
	case 1:
		payload.Needs = []schemas.Need{{Name: "what"}}
	case 2:
		payload.Needs = []schemas.Need{number, {Name: "room.name", Title: "room", Schema: []byte(`{"type":"string"}`)}}
	case 3:
		payload.Needs = []schemas.Need{number, {Name: "budget", From: schemas.NeededFromSupervisor}}
	default:
		payload.Needs = []schemas.Need{number}
	}
	if pr.doubtful() {
		payload.IssuesEncountered = []schemas.Issue{issue}
	}
	pr.respond(payload)
	switch {
	case !w.calm && once(r, 12): // and then does it all the same
		pr.answer()
	case !w.calm && once(r, 12): // dies before it acknowledges that
		pr.agent.later(pr.agent.wait, func() {})
		return true
	}
	pr.ack()
	return true
}

// failsForGood has an agent say that it cannot do its work, now and then, and reports whether it has.
func (pr *pendingRequest) failsForGood() bool {
	w := pr.agent.world
	if !pr.task.Context.Kind.IsWork() || pr.task.TaskID == schemas.DeliveryTask || pr.notice() {
		return false
	}
	times := 3
	if w.calm {
		times = 6
	}
	category := w.advisers.fails(times)
	if category == "" {
		return false
	}
	status := schemas.StatusFailed
	if category == schemas.CategoryDependency && !pr.doubtful() {
		status = schemas.StatusBlocked
	}
	pr.respond(schemas.ResponsePayload{
		Status: status, PlanID: pr.request.Payload.PlanID,
		IssuesEncountered: []schemas.Issue{{
			IssueID: "1", TaskID: pr.task.TaskID, Agent: pr.agent.name, Severity: "high", Description: "it cannot be done", Category: category,
			Resolution: schemas.ResolutionEscalated, EffectUnknown: pr.doubtful(),
		}},
	})
	pr.ack()
	return true
}

// advise has somebody say what is done about a failure, as well as they can.
func (q *question) advise() {
	p, w := q.people, q.people.world
	r := w.advisers.rand
	soon := w.now.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
	q.expires = q.sent.Add(pick(r, 6*time.Second, 40*time.Second, 10*time.Minute)) // one of these it is
	command := func() {
		q.control(&schemas.Control{Action: pick(r, schemas.ControlAnswer, schemas.ControlAnswer, schemas.ControlReject), Inquiry: pick(r, q.inquiry, q.inquiry, 0, q.inquiry+1), Text: w.advisers.says()})
	}
	if p.questions++; p.questions > enoughQuestions {
		p.later(soon, command)
		return
	}
	switch r.IntN(14) {
	case 0: // nothing, ever
	case 1: // somebody else
		q.adviseBy(soon, pick(r, "mallory@sim", "dora@staff", "carl@staff", "ana@sim", "eve@sim"), word{named: true})
		q.adviseBy(soon.Add(time.Second), "", word{named: true})
	case 2: // about when its time is over
		q.adviseBy(q.expires.Add(pick(r, -time.Millisecond, 0, time.Millisecond)), "", word{named: true})
	case 3: // in time, and its adapter is slow
		taken := q.expires.Add(-time.Duration(1 + r.Int64N(int64(2*time.Second))))
		q.adviseBy(taken.Add(time.Duration(r.Int64N(int64(10*time.Second)))), "", word{named: true, taken: taken})
	case 4: // long after
		q.adviseBy(q.expires.Add(time.Duration(r.Int64N(int64(time.Minute)))), "", word{named: true})
	case 5: // twice at once
		q.adviseBy(soon, "", word{named: true})
		q.adviseBy(soon.Add(pick(r, 0, time.Second)), "", word{named: once(r, 2)})
	case 6: // in the moment in which somebody stops the run
		q.adviseBy(soon, "", word{named: true})
		p.later(soon, q.cancel)
	case 7: // nobody vouches for it
		q.adviseBy(soon, "", word{named: true, origin: pick(r, schemas.OriginUnproven, schemas.OriginRefuted, schemas.OriginUnchecked)})
	case 8: // it names no question, or another one
		q.adviseBy(soon, "", word{named: once(r, 2), wrong: once(r, 2)})
	case 9: // by a word to the service itself, and by mail
		p.later(soon, command)
		q.adviseBy(soon, "", word{named: true})
	case 10: // the owner dies of the word, or between it and what follows
		q.adviseBy(soon, "", word{named: true})
		p.later(soon, func() { w.dies(q.shard(), 1+r.Int64N(8), pick(r, CrashBefore, CrashAfter)) })
	case 11: // another owner takes the shard over while the task is blocked
		p.later(soon, func() { w.start(q.shard()) })
		q.adviseBy(soon.Add(time.Second), "", word{named: true})
	case 12:
		p.later(soon, command)
	default:
		q.adviseBy(soon, "", word{named: true})
	}
}

// adviseBy has somebody write to a letter that asks about a failure: whoever has begun the run, or one of the people who are asked.
func (q *question) adviseBy(at time.Time, from string, said word) {
	r := q.people.world.advisers.rand
	said.text = q.people.world.advisers.says()
	if said.origin == "" {
		said.origin = pick(r, schemas.OriginProven, schemas.OriginProven, schemas.OriginProven, schemas.OriginProven, schemas.OriginUnproven)
	}
	if from == "" && len(q.reply.To) > 0 {
		from = pick(r, q.reply.To...).Address
	}
	writer := *q
	if from != "" && q.reply.Agent == "mail" {
		writer.reply.To = []schemas.Address{{Address: from}}
	}
	writer.say(at, said)
}
