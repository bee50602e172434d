package sim

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/restore"
)

// staff are the people who do the tasks of some agents. They are written to, and answer letters: none of them has
// anything else to say to the service, but that they will not.
type staff struct {
	people *people
	rand   *rand.Rand
	asked  []*question // all letters to them that have arrived
	// messages is how many questions more are answered by messages, those to requesters included: some answers begin
	// runs, and those lead to questions again.
	messages int
}

// newStaff returns the staff of a world with people, in half of them; nil is none.
func newStaff(p *people) *staff {
	r := source(p.world.Seed, staffStream)
	if staffless := once(r, 2); staffless && !hasApprovals(p.world.Seed) && p.world.signatories == nil && p.world.threads == nil {
		return nil
	}
	return &staff{people: p, rand: r, messages: pick(r, 4, 8, 8, 16)}
}

// trait has somebody edit the profiles of half of these worlds, and with them who works there.
func (s *staff) trait() {
	if s == nil {
		return
	}
	if configuration := &s.people.world.configuration; once(s.rand, 2) {
		configuration.edited = true
	}
}

// staffAccount is the mail account by which the staff is written to.
const staffAccount = "a"

func staffMember(mail string) schemas.Person {
	return schemas.Person{Mail: mail, Account: staffAccount}
}

// handedOver is what people are told who are to do a task.
const handedOver = "Please do this:"

// handOver has people do the tasks of some agents.
func handOver(r *rand.Rand, drafted []schemas.Profile) {
	for i := range drafted {
		p := &drafted[i]
		for n := range p.Languages {
			p.Languages[n].Texts.Handed = handedOver
		}
		p.People = map[string]schemas.Person{
			"anna": staffMember("anna@staff"), "ben": staffMember("ben@staff"), "dora": staffMember("dora@staff"),
			"eve": staffMember("eve@sim"), // who writes to the world as well
		}
		expire := pick(r, 6*time.Second, 40*time.Second, 10*time.Minute, 2*time.Hour)
		policy := schemas.PersonPolicy{Remind: schemas.Duration(pick(r, 0, 3*time.Second, expire/2)), Expire: schemas.Duration(expire)}
		certain := r.IntN(len(workers))
		for n := range p.Agents {
			if use := &p.Agents[n]; n == certain || slices.Contains(workers[:], use.Name) && once(r, 4) {
				does := policy
				does.People = pick(r, []string{"anna"}, []string{"anna", "ben"}, []string{"anna", "ben", "carl"}, []string{"carl", "ben"}, []string{"eve", "anna"})
				use.Person, use.Kinds = &does, []schemas.RequestKind{schemas.KindWork}
				use.SideEffects, use.OnUnknown, use.Reuse, use.Heartbeat = "", "", 0, 0
			}
		}
	}
}

// restaffed returns profiles in which others work: somebody was dismissed, somebody was added, somebody
// has another address, or another account writes to them.
func restaffed(r *rand.Rand, sources []schemas.Profile) []schemas.Profile {
	changed := slices.Clone(sources)
	for i := range changed {
		people := maps.Clone(changed[i].People)
		for range 1 + r.IntN(2) {
			switch r.IntN(6) {
			case 0:
				delete(people, "anna")
			case 1:
				delete(people, "ben")
			case 2:
				people["carl"] = staffMember("carl@staff")
			case 3:
				people["anna"] = staffMember("anna@elsewhere")
			case 4:
				people["ben"] = schemas.Person{Mail: "ben@staff", Account: "b"}
			case 5:
				people["eve"], people["anna"] = staffMember("anna@staff"), staffMember("eve@sim")
			}
		}
		changed[i].People = people
	}
	return changed
}

// configurations are the profiles as somebody edits them, and with them who works there.
func (s *staff) configurations(sources []schemas.Profile) []*restore.Profiles {
	w := s.people.world
	handOver(s.rand, sources)
	s.people.approvers.declare(sources)
	w.threads.declare(sources)
	now, later := restaffed(s.rand, sources), restaffed(s.rand, edited(sources))
	w.threads.seatAll(now)
	w.threads.seatAll(later)
	return []*restore.Profiles{w.compile(sources), w.compile(now), w.compile(later)}
}

// told has those who were written to do something about it.
func (s *staff) told(q *question) {
	w := s.people.world
	if len(q.reply.To) == 0 || q.reply.Agent != "mail" {
		w.violate(RequestsAreProper, "inquiry %d of run %s is told %+v", q.inquiry, q.run, q.reply)
		return
	}
	for i := range w.configurations[0].Current(q.thread.profile).Agents {
		if does := w.configurations[0].Current(q.thread.profile).Agents[i].Person; does != nil {
			q.expires = q.sent.Add(time.Duration(does.Expire))
		}
	}
	if expires, known := w.signatories.expires(&w.configurations[0].Current(q.thread.profile).Profile); known {
		q.expires = q.sent.Add(expires)
	}
	if w.signatories.insists() {
		s.people.later(w.now.Add(time.Duration(w.signatories.rand.Int64N(int64(time.Minute)))), func() {
			q.control(&schemas.Control{Action: schemas.ControlResend, AllowDuplicate: once(w.signatories.rand, 3)})
		})
	}
	s.asked = append(s.asked, q)
	if s.people.approvers.eager() {
		s.write(q, w.now.Add(time.Second), letter{from: "eve@sim", origin: schemas.OriginProven})
	}
	if once(s.rand, 12) {
		return
	}
	if s.short(q, schemas.ControlAnswer, schemas.ControlReject) {
		return
	}
	soon := w.now.Add(time.Duration(s.rand.Int64N(int64(20 * time.Second))))
	if once(s.rand, 2) {
		s.answer(q, soon)
	} else {
		s.disturb(q, soon)
	}
}

// remember has the requester have written, shortly before they were asked, to what they were told before; it is fetched only now.
func (s *staff) remember(q *question) {
	if s == nil || !once(s.rand, 4) {
		return
	}
	said := word{before: true, taken: q.sent.Add(-time.Duration(s.rand.Int64N(int64(5 * time.Second))))}
	if s.people.world.origins != nil {
		said.origin = schemas.OriginProven
	}
	q.say(s.people.world.now, said)
}

// short has a question be answered by a word to the service itself, which begins no run, and reports whether that is
// how it is answered.
func (s *staff) short(q *question, words ...schemas.ControlAction) bool {
	if s == nil {
		return false
	}
	if s.messages--; s.messages >= 0 {
		return false
	}
	s.people.later(s.people.world.now.Add(time.Duration(s.rand.Int64N(int64(20*time.Second)))), func() { s.say(q, pick(s.rand, words...), q.inquiry) })
	return true
}

// answer has people answer, as well as they can: in time or not, one or several of them.
func (s *staff) answer(q *question, soon time.Time) {
	r := s.rand
	switch r.IntN(12) {
	case 0: // nothing, ever
	case 1: // about when its time is over
		s.write(q, q.expires.Add(pick(r, -time.Millisecond, 0, time.Millisecond)), letter{})
	case 2: // in time, and its adapter is slow
		taken := q.expires.Add(-time.Duration(1 + r.Int64N(int64(2*time.Second))))
		s.write(q, taken.Add(time.Duration(r.Int64N(int64(10*time.Second)))), letter{taken: taken})
	case 3: // long after
		s.write(q, q.expires.Add(time.Duration(r.Int64N(int64(time.Minute)))), letter{})
	case 4: // twice
		s.write(q, soon, letter{})
		s.write(q, soon.Add(pick(r, 0, time.Second)), letter{})
	case 5: // each of them, at once
		for _, to := range q.reply.To {
			s.write(q, soon, letter{from: to.Address})
		}
	case 6: // or one after the other
		for n, to := range q.reply.To {
			s.write(q, soon.Add(time.Duration(n)*time.Second), letter{from: to.Address})
		}
	case 7: // somebody declines, and maybe another one answers
		s.people.later(soon, s.decline(q))
		if once(r, 2) {
			s.write(q, soon, letter{})
		}
	case 8: // a machine answers first
		s.write(q, soon, letter{class: schemas.MailAutoReply})
		s.write(q, soon.Add(time.Second), letter{})
	case 9: // in a thread of their own
		s.write(q, soon, letter{apart: true})
	default:
		s.write(q, soon, letter{})
	}
}

// disturb has something go wrong about a letter, and mostly a good answer come as well.
func (s *staff) disturb(q *question, soon time.Time) {
	r, p, w := s.rand, s.people, s.people.world
	after := soon.Add(pick(r, 0, time.Second))
	switch r.IntN(14) {
	case 0: // somebody else answers: nobody, who was not asked, or who has asked
		s.write(q, soon, letter{from: pick(r, "mallory@sim", "dora@staff", "carl@staff", "ana@sim", "eve@sim")})
	case 1: // nobody vouches for it
		s.write(q, soon, letter{origin: pick(r, schemas.OriginUnproven, schemas.OriginRefuted)})
	case 2: // it names no question: in the thread of the run, or in one of its own
		s.write(q, soon, letter{nameless: true, apart: once(r, 2)})
	case 3: // it names another one: of the run, of the next one, of one that there is not
		s.write(q, soon, letter{wrong: true})
	case 4: // it is an answer to a letter to somebody else, or to themselves
		other := s.asked[r.IntN(len(s.asked))]
		s.write(other, soon, letter{from: q.reply.To[0].Address, apart: once(r, 2)})
	case 5: // by chat, where nobody knows them
		p.later(soon, s.chat(q))
	case 6: // one of the letters comes back, or all of them
		p.later(soon, func() {
			lost := pick(r, "", q.reply.To[0].Address, q.reply.To[len(q.reply.To)-1].Address, "nobody@sim")
			if lost != "" || len(q.reply.To) < 2 {
				q.bounceOf(lost)
				return
			}
			for _, to := range q.reply.To { // each by a report of its own
				q.bounceOf(to.Address)
			}
		})
	case 7: // somebody stops the run
		p.later(soon, q.cancel)
	case 8, 9: // somebody edits who works there, and the service starts anew
		p.later(soon, w.restart)
	case 10: // another owner takes the shard over, while it is waited for
		p.later(soon, func() { w.start(q.shard()) })
	case 11, 12: // the owner dies of the answer, or between it and what follows
		s.write(q, soon, letter{})
		p.later(soon, func() { w.dies(q.shard(), 1+s.rand.Int64N(8), pick(s.rand, CrashBefore, CrashAfter)) })
		return
	case 13: // by a word to the service itself
		p.later(soon, func() { s.say(q, schemas.ControlAnswer, pick(r, q.inquiry, q.inquiry, 0, q.inquiry+1)) })
	}
	if !once(r, 4) {
		s.write(q, after, letter{})
	}
}

// A letter is what one of the staff writes.
type letter struct {
	taken    time.Time // by its adapter; when it is written, if zero
	from     string    // one of those who were written to, if empty
	nameless bool      // it names none that asks
	wrong    bool      // or another one
	apart    bool      // the mail program makes a thread of its own of it
	class    schemas.MailClass
	origin   schemas.MailOrigin
}

// write has somebody answer a letter. Its adapter finds the session by the letter that it names.
func (s *staff) write(q *question, at time.Time, what letter) {
	s.people.later(at, func() {
		w := s.people.world
		event := w.event(w.id("mail"), schemas.TypeEmailReceived, q.thread, what.taken)
		mail := s.mail(q, &event, &what)
		if what.apart {
			event.PartitionKey = event.ID
			if event.Profile = pick(s.rand, outer, inner); mail.Answers != nil {
				session, _, err := schemas.ParseRunID(mail.Answers.Run)
				w.must(err)
				event.SessionID = session
			}
		}
		w.body(&event, mail)
		w.callers.deliver("email", &event, nil)
	})
}

func (s *staff) mail(q *question, event *schemas.Event, what *letter) schemas.EmailReceived {
	w := s.people.world
	if what.from == "" {
		what.from = pick(s.rand, q.reply.To...).Address
	}
	mail := schemas.EmailReceived{
		Account: staffAccount, Mailbox: "INBOX", MessageID: event.ID + "@sim", Subject: "Re: Work", Text: pick(s.rand, "It is done.", "no", "12, as you ask", "See P-1."),
		InReplyTo: q.effect + "@sim", From: []schemas.Address{{Address: what.from}}, Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: w.now,
		UIDValidity: 1, UID: 1, Origin: schemas.OriginUnchecked, Raw: noArtifact(),
	}
	if s.people.approvers != nil {
		mail.Text = s.people.approvers.word()
	}
	mail.AnswerTo = mail.From[0]
	if once(s.rand, 8) {
		mail.From[0].Address = strings.ToUpper(mail.From[0].Address)
	}
	if once(s.rand, 16) {
		mail.Text = ""
	}
	if w.origins != nil {
		mail.Origin = pick(s.rand, schemas.OriginProven, schemas.OriginProven, schemas.OriginProven, schemas.OriginUnproven)
	}
	if what.origin != "" {
		mail.Origin = what.origin
	}
	if what.class != "" {
		mail.Class = what.class
	}
	if s.people.approvers.unchecked() {
		mail.Origin = schemas.OriginUnchecked
	}
	switch {
	case what.wrong:
		mail.Answers = q.another(s.rand)
	case !what.nameless:
		mail.Answers = &schemas.Letter{Run: q.run, Inquiry: q.inquiry}
	}
	return mail
}

// chat is a message of somebody with the name of one of the staff.
func (s *staff) chat(q *question) func() {
	return func() { q.write(&remark{user: q.reply.To[0].Address, text: "It is done."}) }
}

// decline says to the service itself that nobody will do it.
func (s *staff) decline(q *question) func() {
	return func() { s.say(q, schemas.ControlReject, q.inquiry) }
}

func (s *staff) say(q *question, action schemas.ControlAction, inquiry int) {
	q.control(&schemas.Control{Action: action, Inquiry: inquiry, Text: "So be it."})
}

func (q *question) shard() int {
	return schemas.ShardOf(q.session, q.people.world.configuration.shards)
}

// restart ends all owners at once; those that follow may have other profiles.
func (w *World) restart() {
	for _, p := range w.processes {
		p.view.crashed.Store(true)
	}
}

// dies has the owners of a shard crash at one of the next things that they do.
func (w *World) dies(shard int, at int64, flaw Flaw) {
	for _, p := range w.processes {
		if p.shard == shard && w.strike == nil {
			p.view.fuse = &strike{at: at, flaw: flaw}
		}
	}
}

// hasTogether reports whether in the world of a seed, which has approvals, two have to agree to some work.
func hasTogether(seed uint64) bool { return seed%256 == 180 }

// approvers are the requesters and the staff as far as they agree. They say one word, or many.
type approvers struct {
	world    *World
	rand     *rand.Rand
	together *rand.Rand // nil: one person is enough
}

func newApprovers(w *World) *approvers {
	if !hasApprovals(w.Seed) && w.signatories == nil && w.threads == nil {
		return nil
	}
	a := &approvers{world: w, rand: source(w.Seed, approvalStream)}
	if hasTogether(w.Seed) {
		a.together = source(w.Seed, togetherStream)
	}
	return a
}

// trait has somebody check where mail is from: else no word by mail decides.
func (a *approvers) trait() {
	if a == nil {
		return
	}
	a.world.configuration.permits = true
	if a.world.origins == nil {
		a.world.origins = source(a.world.Seed, originStream)
	}
}

// declare says in profiles who has to agree to what.
func (a *approvers) declare(sources []schemas.Profile) {
	if a == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		for n := range p.Languages {
			language := &p.Languages[n]
			language.Approve, language.Reject = []string{"yes"}, []string{"no"}
			language.Texts.Approval, language.Texts.Indecisive = "May {agent} do this? {work} {approve} or {reject}", "What?"
			language.Texts.Together = "{need} of you."
		}
		expire := pick(a.rand, 6*time.Second, 40*time.Second, 10*time.Minute)
		for _, name := range workers {
			if once(a.rand, 4) {
				continue
			}
			p.Approval = append(p.Approval, schemas.ApprovalRule{
				Agents: []string{name}, Seconds: pick(a.rand, 0, 0, 0, 30), Expire: schemas.Duration(expire), Remind: schemas.Duration(pick(a.rand, 0, 3*time.Second)),
				People: pick(a.rand, []string{schemas.ApprovingRequester}, []string{"anna"}, []string{"anna", "ben"}, []string{"eve", "anna"}, []string{"eve", "anna"}),
			})
			if rule := &p.Approval[len(p.Approval)-1]; a.together != nil && !once(a.together, 4) {
				rule.People, rule.Need = pick(a.together, []string{"anna", "ben"}, []string{"anna", "ben", "eve"}, []string{"eve", "anna"}), pick(a.together, 0, 2, 2)
			}
		}
	}
	a.world.signatories.declare(sources)
}

func (a *approvers) word() string {
	if a.world.signatories != nil {
		return a.world.signatories.says()
	}
	return pick(a.rand, "yes", "Yes.\n\nThe rest is silence.", "yes", "no", "7", "yes, the number is 12", "no idea")
}

// command has some of what is said to the service itself decide, now and then about something else than what is asked.
func (a *approvers) command(control *schemas.Control) {
	if a == nil || control.Action != schemas.ControlAnswer || once(a.rand, 3) {
		return
	}
	control.Action = schemas.ControlApprove
	if once(a.rand, 6) {
		control.Hash = "another"
	}
}

// unchecked reports whether nobody checks where a letter is from.
func (a *approvers) unchecked() bool { return a != nil && once(a.rand, 8) }

// eager reports whether somebody who writes to the world as well says something to a letter that they may not have got.
func (a *approvers) eager() bool { return a != nil && a.together != nil && once(a.together, 3) }
