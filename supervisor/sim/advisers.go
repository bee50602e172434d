package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// asksAbout is what people are told who are asked about a failure, and nobody else.
const asksAbout = "What now?"

// advisers are what a world has in which something is done about failures; nil is a world without.
type advisers struct {
	rand *rand.Rand
	// stubborn are agents that fail most of the time, and people who have it tried again.
	stubborn bool
}

// newAdvisers returns those of the world of a seed.
func newAdvisers(seed uint64) *advisers {
	a := &advisers{rand: source(seed, adviserStream)}
	a.stubborn = once(a.rand, 8)
	return a
}

// asks reports whether a notice is about a failure.
func (a *advisers) asks(notice string) bool { return a != nil && strings.Contains(notice, asksAbout) }

// declare says in profiles what is done about failures of which category, and who is asked. Member makes a person of an
// address.
func (a *advisers) declare(sources []schemas.Profile, member func(mail string) schemas.Person) {
	if a == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		a.words(p)
		if p.People == nil {
			p.People = map[string]schemas.Person{"anna": member("anna@staff"), "ben": member("ben@staff"), "eve": member("eve@sim")}
		}
		for n := range p.Agents {
			if use := &p.Agents[n]; use.SideEffects == schemas.SideEffectsExternal && !once(a.rand, 3) {
				use.OnUnknown = schemas.OnUnknownAsk
			}
		}
		if once(a.rand, 8) {
			continue
		}
		if p.Execution.Mode == schemas.ExecutionSingle && !once(a.rand, 3) {
			p.Execution.Mode = schemas.ExecutionSequence
		}
		p.Escalation = &schemas.Escalation{Human: a.channel(), Coordinator: a.channel()}
		if once(a.rand, 4) {
			p.Escalation.Coordinator = &schemas.EscalationChannel{Upstream: true}
		}
		if once(a.rand, 3) {
			p.Escalation.Planner = &schemas.EscalationChannel{Upstream: true}
		}
		p.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: a.way(p)}
		for _, category := range []schemas.FailureCategory{schemas.CategoryExecution, schemas.CategoryDependency, schemas.CategoryCoordination, schemas.CategoryInput, schemas.CategoryValidation} {
			if once(a.rand, 3) {
				p.Recovery[string(category)] = a.way(p)
			}
		}
	}
}

// words are those that decide, and what people are told.
func (a *advisers) words(p *schemas.Profile) {
	p.Languages = slices.Clone(p.Languages)
	for n := range p.Languages {
		language := &p.Languages[n]
		language.Choices = map[schemas.InquiryChoice][]string{schemas.ChoiceRetry: {"again"}, schemas.ChoiceEnd: {"stop"}}
		language.Texts.Escalation, language.Texts.Indecisive = asksAbout+" {work} {agent} {attempts} {detail} {choices}", "What?"
	}
}

func (a *advisers) channel() *schemas.EscalationChannel {
	expire := pick(a.rand, 6*time.Second, 40*time.Second, 10*time.Minute)
	return &schemas.EscalationChannel{
		People: pick(a.rand, []string{"anna"}, []string{"anna", "ben"}, []string{"eve", "anna"}, []string{"carl", "ben"}), Expire: schemas.Duration(expire),
		Remind: schemas.Duration(pick(a.rand, 0, 3*time.Second, expire/2)),
	}
}

func (a *advisers) way(p *schemas.Profile) schemas.RecoveryWay {
	ways := []schemas.RecoveryWay{schemas.WayHuman, schemas.WayHuman, schemas.WayHuman, schemas.WayCoordinator, schemas.WaySkip, schemas.WayFail}
	if p.Waiting != nil {
		ways = append(ways, schemas.WayRequester, schemas.WayRequester)
	}
	if p.Replan != nil || p.Escalation.Planner != nil {
		ways = append(ways, schemas.WayPlanner)
	}
	return pick(a.rand, ways...)
}

// fails says of what category the failure of an agent is for good, now and then, and once in so many times else; empty
// is that it does not fail.
func (a *advisers) fails(times int) schemas.FailureCategory {
	switch {
	case a == nil:
		return ""
	case a.stubborn && !once(a.rand, 6):
	case !once(a.rand, times):
		return ""
	}
	return pick(a.rand, schemas.CategoryExecution, schemas.CategoryExecution, schemas.CategoryValidation, schemas.CategoryDependency, schemas.CategoryCoordination)
}

// says is what somebody says to a failure.
func (a *advisers) says() string {
	r := a.rand
	if a.stubborn && !once(r, 8) {
		return "again"
	}
	switch r.IntN(12) {
	case 0, 1, 2:
		return pick(r, "again", "Retry.", "again\n\nThank you.", "RETRY")
	case 3, 4:
		return pick(r, "skip", "Skip!")
	case 5, 6:
		return pick(r, "answer: 24 beds", "Answer\n24 beds", "answer:\n\nSee P-1.\nAll of it.")
	case 7, 8:
		return pick(r, "replan\nlook at alpha\nthen at beta", "replan: look at beta once more", `replan: {"tasks":[{"task_id":"t1","description":"alpha anew","assigned_to":"alpha"}]}`,
			fmt.Sprintf(`replan: {"tasks":[{"task_id":"new","description":"beta %d","assigned_to":"beta"}]}`, r.IntN(3)))
	case 9:
		return pick(r, "end", "stop")
	default: // what decides nothing
		return pick(r, "I will look at it tomorrow", "answer", "replan", "24 beds", "again and again", "skip or end", "skip: it", `replan: {"tasks":[{"task_id":"x","description":"beta","assigned_to":"nobody"}]}`)
	}
}
