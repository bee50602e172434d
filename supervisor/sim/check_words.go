package sim

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"podium/bus/artifact"
	"podium/schemas"
)

// The invariants that speak of what people say.
const (
	WordsInTime         = "a word counts when it was taken before the inquiry's time was over, and one that names no question after that was told"
	WordsOfTheRequester = "a word counts when it is of who has begun the run, or the service's own, and about the inquiry"
	WordsVouched        = "a word counts when nobody doubts whose it is, and no machine has written it"
	WordsHaveOneFate    = "a word is an answer to one inquiry, or a message like any other"
	WordsAreTaken       = "a word that counts is taken"
	ToldWhatWasSaid     = "an agent is told what the person has said, and asked"
	ArgumentsFit        = "the arguments of a request are what its agent takes, or what a plan gives"
	PersonsAreCounted   = "where several have to agree each person counts once, while they work there, and the last one decides"
)

// A hearing is an input of a person, as the oracle reads it. One of the pointers is set.
type hearing struct {
	taken   time.Time
	mail    *schemas.EmailReceived
	chat    *schemas.ChatReceived
	control *schemas.Control
}

func (o *oracle) heard(s *shardHistory, sequence uint64) hearing {
	message, known := s.inputs[sequence]
	if !known {
		return hearing{}
	}
	event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), message)
	if err != nil {
		return hearing{}
	}
	heard := hearing{taken: event.Time}
	switch event.Type {
	case schemas.TypeEmailReceived:
		heard.mail = &schemas.EmailReceived{}
		err = schemas.Unmarshal(event.Data, heard.mail)
	case schemas.TypeChatReceived:
		heard.chat = &schemas.ChatReceived{}
		err = schemas.Unmarshal(event.Data, heard.chat)
	case schemas.TypeControl:
		heard.control = &schemas.Control{}
		err = schemas.Unmarshal(event.Data, heard.control)
	}
	if err != nil {
		return hearing{taken: event.Time}
	}
	return heard
}

// of reports whether who has said this has also said what a run began with.
func (h *hearing) of(first *hearing) bool {
	switch {
	case h.chat != nil && first.chat != nil:
		return h.chat.User.ID == first.chat.User.ID
	case h.mail != nil && first.mail != nil && len(h.mail.From) > 0:
		from := h.mail.From[0].Address
		known := from != "" && strings.EqualFold(from, first.mail.AnswerTo.Address)
		return known || len(first.mail.From) > 0 && strings.EqualFold(from, first.mail.From[0].Address)
	}
	return false
}

// namesInquiry reports whether a message names a question, of whichever run.
func (h *hearing) namesInquiry() bool {
	return h.mail != nil && h.mail.Answers != nil && h.mail.Answers.Inquiry > 0
}

// names returns the inquiry that a message is about: its number, 0 for whichever is open, or -1 for none of the run.
func (h *hearing) names(r *run) int {
	if !h.namesInquiry() {
		return 0
	}
	return r.named(h.mail.Answers.Run, h.mail.Answers.Inquiry)
}

// named returns the number of the inquiry that people know by that name: one of the run, or one that it has adopted; -1 is none.
func (r *run) named(run string, inquiry int) int {
	if run == r.id() {
		return inquiry
	}
	session, number, err := schemas.ParseRunID(run)
	if err != nil || session != r.session.id {
		return -1
	}
	for _, i := range r.inquiries {
		if i.fact.Adopts != nil && slices.Contains(i.fact.Adopts.Letters, schemas.InquiryName{Run: number, Inquiry: inquiry}) {
			return i.number
		}
	}
	return -1
}

// said is what a person has written.
func (h *hearing) said() string {
	switch {
	case h.mail != nil:
		return strings.TrimSpace(h.mail.Text)
	case h.chat != nil:
		return strings.TrimSpace(h.chat.Text)
	case h.control != nil:
		return h.control.Text
	}
	return ""
}

func (o *oracle) wordsInTime(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	heard, i := o.heard(m.shard, f.Sequence), m.run.inquiry(f.Inquiry)
	if i != nil && heard.control == nil && !heard.namesInquiry() && (i.asked.IsZero() || heard.taken.Before(i.asked.Truncate(time.Second))) {
		o.world.violate(WordsInTime, "%s: a word that names no question is taken at %s, and inquiry %d is told at %s", m.id, heard.taken, f.Inquiry, i.asked)
	}
	if i != nil && !i.asked.IsZero() && !heard.taken.Before(i.expires()) {
		o.world.violate(WordsInTime, "%s: a word on inquiry %d is taken at %s, though only until %s", m.id, f.Inquiry, heard.taken, i.expires())
	}
}

func (o *oracle) wordsOfTheRequester(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	if i := m.run.inquiry(f.Inquiry); i != nil && !i.input() {
		return // see wordsOfTheStaff and wordsOfApprovers
	}
	heard, first := o.heard(m.shard, f.Sequence), o.heard(m.shard, m.run.message.Sequence)
	if control := heard.control; control != nil {
		about := control.Inquiry == f.Inquiry || control.Inquiry == 0
		if control.Action != schemas.ControlAnswer || control.Run != m.run.id() || !about || f.Actor.Via != schemas.ViaAPI || f.Choice != schemas.ChoiceAnswer {
			o.world.violate(WordsOfTheRequester, "%s: inquiry %d is answered by %+v", m.id, f.Inquiry, control)
		}
		return
	}
	if named := heard.names(m.run); !heard.of(&first) || named != 0 && named != f.Inquiry || f.Sequence != m.cause.Sequence {
		o.world.violate(WordsOfTheRequester, "%s: inquiry %d is answered by %s, who names %d", m.id, f.Inquiry, f.Actor.ID, named)
	}
}

func (o *oracle) wordsAreVouched(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil {
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	mail := heard.mail
	if mail == nil {
		return
	}
	proof := schemas.ActorProof("")
	switch {
	case mail.Origin == schemas.OriginProven:
		proof = schemas.ProofMail
	case heard.namesInquiry():
		proof = schemas.ProofLetter
	}
	if mail.Class != schemas.MailHuman || mail.Origin == schemas.OriginUnproven || mail.Origin == schemas.OriginRefuted || proof == "" || f.Actor.Proof != proof {
		o.world.violate(WordsVouched, "%s: inquiry %d is answered by a mail of class %s and origin %s with proof %q", m.id, f.Inquiry, mail.Class, mail.Origin, f.Actor.Proof)
	}
}

// wordsHaveOneFate: each message that is an answer stands for one, and begins nothing.
func (o *oracle) wordsHaveOneFate(session *sessionHistory) {
	answers := map[uint64][]*inquiry{}
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			for _, word := range i.words() {
				if asked := answers[word.Sequence]; len(asked) > 0 && i.fact.Adopts != nil && asked[0].task != nil && asked[0].letters(asked[0].task.run)[0] == i.letters(r)[0] {
					continue // a further attempt goes by what was said before
				}
				answers[word.Sequence] = append(answers[word.Sequence], i)
			}
		}
	}
	count := 0
	for id, received := range session.messages {
		for n := range received {
			f := &received[n]
			given := answers[f.Sequence]
			if f.Disposition == schemas.DispositionHeld && len(given) > 0 {
				count++
				if len(given) != 1 || given[0].held != f.Sequence || !slices.Contains(given[0].fact.Adopts.Letters, schemas.InquiryName{Run: f.Run, Inquiry: f.Inquiry}) {
					o.world.violate(WordsHaveOneFate, "session %s: message %s was held, and answers %d inquiries", session.id, id, len(given))
				}
			}
			if f.Disposition != schemas.DispositionAnswered {
				continue
			}
			count++
			if len(given) != 1 || given[0].number != f.Inquiry || given[0].task == nil || given[0].task.run.number != f.Run {
				o.world.violate(WordsHaveOneFate, "session %s: message %s is an answer to %d inquiries", session.id, id, len(given))
			}
		}
	}
	if count != len(answers) {
		o.world.violate(WordsHaveOneFate, "session %s: %d messages are answers, and %d were given", session.id, count, len(answers))
	}
	for _, r := range session.runs {
		if answers[r.message.Sequence] != nil {
			o.world.violate(WordsHaveOneFate, "%s begins with the answer to an inquiry", r.id())
		}
		for n := range r.message.MergedTexts {
			if answers[r.message.MergedTexts[n].Sequence] != nil {
				o.world.violate(WordsHaveOneFate, "%s begins with the answer to an inquiry, among others", r.id())
			}
		}
	}
}

// commandsAreTaken: each word to the service itself about a run is on record once.
func (o *oracle) commandsAreTaken() {
	if o.world.people == nil {
		return
	}
	for _, said := range o.world.people.commands {
		if session := o.sessions[said.session]; session == nil || len(session.messages[said.id]) != 1 {
			o.world.violate(WordsHaveOneFate, "command %s was not taken once", said.id)
		}
	}
}

// wordsAreTaken: what its requester says while a run waits for that is no other message. A word that
// nobody vouches for may be.
func (o *oracle) wordsAreTaken(session *sessionHistory, m *moment) {
	f := schemas.As[*schemas.MessageReceived](m.fact)
	if f != nil && f.Disposition == schemas.DispositionHeld {
		o.isHeld(session, m, f)
	}
	if f == nil || f.Disposition == schemas.DispositionAnswered || len(session.runs) == 0 || f.Sequence != m.cause.Sequence {
		return
	}
	r := session.runs[len(session.runs)-1]
	if !r.rests() || r.settled != nil {
		return
	}
	heard, i := o.heard(m.shard, f.Sequence), r.openInquiry()
	if control := heard.control; control != nil {
		if control.Inquiry > 0 {
			i = r.inquiry(r.named(control.Run, control.Inquiry))
		} else if i == nil {
			i = r.inquiry(len(r.inquiries))
		}
		if r.asksUpstream() != nil && control.Inquiry == 0 {
			return // see upstreamIsHeard
		}
		rejects := control.Action == schemas.ControlReject && i != nil && i.work()
		if control.Action != schemas.ControlAnswer && !rejects || control.Run != r.id() && control.Inquiry == 0 {
			return
		}
	} else {
		if named := heard.names(r); named != 0 {
			i = r.inquiry(named)
		}
		if first := o.heard(m.shard, r.message.Sequence); i == nil || i.work() && (heard.said() == "" || o.author(m, i, &heard) == "") || !i.work() && !heard.of(&first) {
			return
		}
	}
	if i != nil && i.fact.Kind.IsRestricted() {
		return // most words decide nothing: see wordsOfApprovers
	}
	if mail := heard.mail; mail != nil && (mail.Class != schemas.MailHuman || mail.Origin != schemas.OriginProven && (mail.Origin != schemas.OriginUnchecked || !heard.namesInquiry())) {
		return
	}
	if heard.control == nil && !heard.namesInquiry() { // it may be from before
		if i == nil || i.asked.IsZero() || heard.taken.Before(i.asked.Truncate(time.Second)) || heard.said() == "" {
			return
		}
	}
	told := i != nil && (i.fact.Adopts != nil || r.task(schemas.NoticeTask(i.number, 1)) != nil)
	if !told || !i.open || !i.asked.IsZero() && !heard.taken.Before(i.expires()) {
		return
	}
	o.world.violate(WordsAreTaken, "%s: message %s is %s, and inquiry %d is open", r.id(), f.ID, f.Disposition, i.number)
}

// toldWhatWasSaid: the words of all answers about the task, whole, and of values only what stands in them. What
// somebody upstream was told comes before that, as it was brought.
func (o *oracle) toldWhatWasSaid(decided *attempt, request string, task *schemas.Task) {
	brought := o.answersBroughtTo(decided.task)
	own := len(task.Context.Answers) - len(brought)
	if own != len(decided.answers) && decided.task.planned != nil {
		o.world.violate(ToldWhatWasSaid, "request %s: %d answers of %d", request, own, len(decided.answers))
	}
	if own != len(decided.answers) {
		return
	}
	for n := range brought {
		if told := &task.Context.Answers[n]; told.Inquiry != brought[n].Inquiry || told.Text != brought[n].Text || string(told.Values) != string(brought[n].Values) {
			o.world.violate(ToldWhatWasSaid, "request %s: inquiry %s is answered %q, and %q was brought", request, told.Inquiry, told.Text, brought[n].Text)
		}
	}
	s := o.shards[decided.task.run.session.shard]
	for n, i := range decided.answers {
		told, heard := &task.Context.Answers[len(brought)+n], o.heard(s, i.answered.Sequence)
		said := longestAnswer(heard.said())
		begins := heard.mail != nil && heard.mail.InReplyTo == "" && strings.HasSuffix(told.Text, "\n\n"+said)
		if told.Text != said && !begins || told.Question != i.fact.Question || told.Inquiry != schemas.InquiryID(decided.task.run.id(), i.number) {
			o.world.violate(ToldWhatWasSaid, "request %s: inquiry %s is answered %q, and it was %q", request, told.Inquiry, told.Text, said)
		}
		for name, value := range flat(o, told.Values) {
			if !strings.Contains(said, value) && !strings.Contains(told.Text, value) {
				o.world.violate(ToldWhatWasSaid, "request %s: %s is %s, of %q", request, name, value, said)
			}
		}
	}
}

// longestAnswer is as much of the words of an answer as an agent is told: 64 KiB, as of quoted text.
func longestAnswer(said string) string {
	const most = 64 << 10
	if len(said) <= most {
		return said
	}
	kept := most
	for !utf8.RuneStart(said[kept]) {
		kept--
	}
	return said[:kept] + "…"
}

// answersBroughtTo returns what came with the request that a task's run was begun by: with a plan, what is about the
// task itself.
func (o *oracle) answersBroughtTo(t *task) []schemas.InquiryAnswer {
	upstream := t.run.message.Upstream
	if upstream == nil || t.planned == nil {
		return nil
	}
	event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), o.shards[t.run.session.shard].inputs[t.run.message.Sequence])
	o.world.must(err)
	request, err := schemas.DecodeExecutionRequest(event.Data)
	o.world.must(err)
	var brought []schemas.InquiryAnswer
	for n := range request.Payload.Tasks {
		asked := &request.Payload.Tasks[n]
		if !upstream.Planned || t.run.source != schemas.PlannerExternal || asked.TaskID == t.root() {
			brought = append(brought, asked.Context.Answers...)
		}
	}
	return brought
}

// flat returns the texts and numbers of an object, by name.
func flat(o *oracle, values []byte) map[string]string {
	said := map[string]string{}
	var members map[string]any
	if len(values) == 0 {
		return said
	}
	o.world.must(schemas.Unmarshal(values, &members))
	for name, member := range members {
		switch member := member.(type) {
		case string:
			said[name] = member
		case float64:
			said[name] = strconv.FormatFloat(member, 'f', -1, 64)
		}
	}
	return said
}

// argumentsFit: an agent with a schema gets a number, and a place that is a text if it gets one.
func (o *oracle) argumentsFit(decided *attempt, request string, task *schemas.Task) {
	planned := decided.task.planned
	if planned == nil || bytes.Equal(planned.Options().Arguments, task.Context.Arguments) {
		return
	}
	typed := false
	for n := range decided.task.run.profile.Agents {
		use := &decided.task.run.profile.Agents[n]
		typed = typed || use.Name == decided.agent && string(use.InputSchema) == numbered
	}
	var given map[string]any
	o.world.must(schemas.Unmarshal(task.Context.Arguments, &given))
	number, isNumber := given["number"].(float64)
	place, some := given["place"]
	_, isText := place.(string)
	if !typed || !isNumber || number != float64(int(number)) || some && !isText {
		o.world.violate(ArgumentsFit, "request %s: agent %s gets %s", request, decided.agent, task.Context.Arguments)
	}
}

// words are all that count of an inquiry.
func (i *inquiry) words() []*schemas.InquiryAnswered {
	if i.answered == nil {
		return i.agreed
	}
	return append(slices.Clip(i.agreed), i.answered)
}

// agrees notes that somebody has agreed, and others have to.
func (o *oracle) agrees(m *moment, f *schemas.InquiryAnswered) {
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.open || !i.approval() {
		o.world.violate(PersonsAreCounted, "%s: inquiry %d lacks the word of %d more", m.id, f.Inquiry, f.Lacking)
		return
	}
	i.agreed = append(i.agreed, f)
}

// personsAreCounted: what is lacking is what the rule needs but for those who have agreed to the same, by whichever of its inquiries, and still may.
func (o *oracle) personsAreCounted(m *moment) {
	f := schemas.As[*schemas.InquiryAnswered](m.fact)
	if f == nil || f.Choice != schemas.ChoiceApprove {
		return
	}
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.approval() || i.task == nil {
		return
	}
	persons, hash := map[string]bool{}, cmp.Or(f.Hash, i.fact.Hash)
	for _, other := range m.run.inquiries {
		spent := i.task.permit != nil && other.number <= i.task.agreed || other.number < i.task.recovering.since
		if spent || !other.approval() || other.task != i.task {
			continue
		}
		for _, word := range other.words() {
			_, works := o.profile(m.cause.Profile).People[word.Actor.ID]
			if word.Choice == schemas.ChoiceApprove && cmp.Or(word.Hash, other.fact.Hash) == hash && (works || !other.toPeople() || word.Actor.Via == schemas.ViaAPI) {
				persons[other.person(word)] = true
			}
		}
	}
	by := i.person(f)
	if lacking := max(max(i.fact.Need, 1)-len(persons)-1, 0); persons[by] || f.Lacking != lacking {
		o.world.violate(PersonsAreCounted, "%s: inquiry %d is agreed to by %q, and %d more lack; before that %v have agreed, and it needs %d", m.id, f.Inquiry, by, f.Lacking, persons, i.fact.Need)
	}
}

// person is who has said a word on an approval: by whatever way, one person is one.
func (i *inquiry) person(word *schemas.InquiryAnswered) string {
	switch {
	case word.Actor.Via == schemas.ViaAPI:
		return "the operator"
	case !i.toPeople():
		return "the requester"
	}
	return word.Actor.ID
}
