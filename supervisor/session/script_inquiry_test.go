package session_test

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// waiting lets runs ask people, and has the arguments of an agent filled.
func (s *script) waiting(p *schemas.Profile) {
	if s.one(2) {
		p.Waiting = &schemas.WaitingPolicy{Remind: s.span(0, time.Minute), Expire: s.span(time.Hour, 2*time.Minute), Asks: 1 + s.next()%2}
	}
	if s.one(3) {
		p.People = map[string]schemas.Person{"ana": {Mail: "ana@example.org", Account: "a"}, "bob": {Mail: "bob@example.org", Account: s.pick("a", "b")}}
		p.Agents[s.next()%len(p.Agents)].Person = &schemas.PersonPolicy{People: []string{"bob", s.pick("ana", "ana", "eve")}, Expire: s.span(time.Hour, time.Minute)}
	}
	if !s.one(2) {
		return
	}
	use := &p.Agents[s.next()%len(p.Agents)]
	use.InputSchema = jsontext.Value(`{"type":"object","properties":{"n":{"type":"integer"},"day":{"type":"string","format":"date"}},"required":["n"]}`)
	use.Arguments = jsontext.Value(s.pick(`{}`, `{"input":"either"}`, `{"arguments":[{"path":"n","pattern":"customer (\\d+)"}]}`))
	if s.one(2) {
		use.Extractor = "model"
	}
}

// needs are what an agent says that it lacks.
func (s *script) needs(payload *schemas.ResponsePayload) {
	if payload.Status != schemas.StatusBlocked || s.one(3) {
		return
	}
	payload.Needs = []schemas.Need{{Name: s.pick("n", "a.b", "a"), Schema: jsontext.Value(s.pick(`{"type":"integer"}`, `{"type":"string"}`, `[]`))}}
	if s.one(4) {
		payload.Needs = append(payload.Needs, schemas.Need{Name: "more", From: schemas.NeededFrom(s.pick("requester", "supervisor"))})
	}
}

// letter is the letter that a mail names, mostly none.
func (s *script) letter() *schemas.Letter {
	if !s.one(3) {
		return nil
	}
	return &schemas.Letter{Run: schemas.RunID(s.state.Session, s.number()), Inquiry: s.next() % 3}
}

// applyWord is what a person says to an inquiry by the service itself, or by a message.
func (s *script) word(tb judge) {
	tb.Helper()
	said := schemas.Control{
		Action: schemas.ControlAction(s.pick("answer", "approve", "reject")), Run: schemas.RunID(s.state.Session, s.number()), By: "operator",
		Inquiry: s.next() % 3, Text: s.pick("7", "on 2030-12-03", "{\"n\": 8}", ""),
	}
	if s.recovering && s.one(2) {
		said.Action, said.Inquiry = schemas.ControlAnswer, s.asksAboutFailure()
		said.Text = s.pick("retry", "retry", "skip", "answer: 7", "replan: calculate\nwrite", "replan: {\"tasks\":[]}", "end", "who knows")
	}
	if said.Action == schemas.ControlApprove && s.current.Budget != nil {
		said.Action = schemas.ControlRaise
	}
	s.put(tb, s.event(tb, "w"+s.pick("1", "2", "3", "4", "5", "6"), schemas.TypeControl, said), "")
}

// asksAboutFailure returns the number of the first open human task about a failure; 0 when there is none.
func (s *script) asksAboutFailure() int {
	if s.state.Active == nil {
		return 0
	}
	for _, inquiry := range s.state.Active.Inquiries {
		if inquiry.Open() && inquiry.Kind.IsAboutFailure() {
			return inquiry.Inquiry
		}
	}
	return 0
}

// runBudgeted is the same with a budget, which takes no byte of the script.
func runBudgeted(tb judge, bytes []byte) *stage {
	tb.Helper()
	s := &script{bytes: bytes}
	p, knob := s.profile(), len(bytes)
	for _, b := range bytes {
		knob += int(b)
	}
	p.Budget = &schemas.Budget{
		Run: schemas.Usage{Tokens: int64(15 * (1 + knob%9))}, Reserve: schemas.Usage{Tokens: 10, Milliseconds: 1000}, Price: int64(knob % 2),
		Agents: map[string]schemas.Usage{"calculator": {Tokens: int64(20 * (knob % 3)), Milliseconds: int64(3000 * (knob % 4))}}, Free: []string{"clerk"},
		Exhausted: []schemas.BudgetExhausted{"", schemas.BudgetAsks, schemas.BudgetAsks, schemas.BudgetEnds}[knob/3%4], Expire: schemas.Duration(time.Minute),
		People: []string{[]string{"ana", schemas.ApprovingRequester}[knob/5%2]},
	}
	p.People = map[string]schemas.Person{"ana": {Mail: "ana@example.org", Account: "a"}, "bob": {Mail: "bob@example.org", Account: "b"}}
	if p.Waiting == nil {
		p.Waiting = &schemas.WaitingPolicy{Expire: schemas.Duration(time.Hour), Asks: 1}
	}
	return s.playedBy(tb, p)
}

// runRecovering is the same with people who are asked about failures.
func runRecovering(tb judge, bytes []byte) *stage {
	tb.Helper()
	knob := len(bytes)
	for _, b := range bytes {
		knob += int(b)
	}
	s := &script{bytes: bytes, recovering: true}
	p := s.profile()
	p.Retry.Attempts = 1 + knob/3%2
	p.People = map[string]schemas.Person{"ana": {Mail: "ana@example.org", Account: "a"}, "bob": {Mail: "bob@example.org", Account: "a"}}
	p.Escalation = &schemas.Escalation{Human: &schemas.EscalationChannel{People: []string{"bob", "ana"}, Remind: schemas.Duration(time.Minute), Expire: schemas.Duration(time.Hour)}}
	p.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: schemas.WayHuman}
	switch knob % 5 {
	case 0:
		p.Approval = []schemas.ApprovalRule{{Agents: []string{"clerk", "calculator"}, People: []string{"ana", "bob"}, Expire: schemas.Duration(time.Minute)}}
	case 1:
		p.Recovery[string(schemas.CategoryExecution)] = schemas.WaySkip
	case 2:
		p.Waiting = &schemas.WaitingPolicy{Expire: schemas.Duration(time.Minute), Asks: 1}
		p.Recovery[string(schemas.CategoryExecution)] = schemas.WayRequester
	}
	return s.playedBy(tb, p)
}
