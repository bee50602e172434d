package sim

import (
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// extractor says which arguments words hold, in worlds with people.
const extractor = "extractor"

// numbered is what agents take whose arguments are filled; see argumentsFit.
const numbered = `{"type":"object","required":["number"],"properties":{"number":{"type":"integer"},"place":{"type":"string"}}}`

// askPeople lets profiles ask people: soon and late, often and seldom, and for what their
// agents take as well. Some ask nobody.
func askPeople(r *rand.Rand, drafted []schemas.Profile) {
	for i := range drafted {
		p := &drafted[i]
		p.Edition = schemas.Edition1
		for n := range p.Languages {
			texts := &p.Languages[n].Texts
			texts.Missing, texts.Unsure = "What is {missing}?", "Which {missing} of {readings}?"
			texts.Reminder, texts.Unanswered = "Once more:", "Nobody has answered."
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
func (pr *pendingRequest) notice() bool { return schemas.NoticeOf(pr.task.TaskID) > 0 }

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
