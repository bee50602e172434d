// Package advisers holds what profiles have done about failures, and what people say who are asked about one, in worlds with recovery: a word that decides,
// by mail or in one line, words that decide nothing, and steps that nobody can carry out. All of it is drawn from a source of its own.
package advisers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// stream is a source of its own for recovery, so that worlds without it are as they were.
const stream = 0x7265636f76657279

// asksAbout is what people are told who are asked about a failure, and nobody else.
const asksAbout = "What now?"

// Advisers are what a world has in which something is done about failures; nil is a world without.
type Advisers struct {
	Rand *rand.Rand
	// stubborn are agents that fail most of the time, and people who have it tried again.
	stubborn bool
}

// New returns those of the world of a seed.
func New(seed uint64) *Advisers {
	a := &Advisers{Rand: rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation repeats
	a.stubborn = once(a.Rand, 8)
	return a
}

// Asks reports whether a notice is about a failure.
func (a *Advisers) Asks(notice string) bool { return a != nil && strings.Contains(notice, asksAbout) }

// Declare says in profiles what is done about failures of which category, and who is asked. Member makes a person of an address.
func (a *Advisers) Declare(sources []schemas.Profile, member func(mail string) schemas.Person) {
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
			if use := &p.Agents[n]; use.SideEffects == schemas.SideEffectsExternal && !once(a.Rand, 3) {
				use.OnUnknown = schemas.OnUnknownAsk
			}
		}
		if once(a.Rand, 8) {
			continue
		}
		if p.Execution.Mode == schemas.ExecutionSingle && !once(a.Rand, 3) {
			p.Execution.Mode = schemas.ExecutionSequence
		}
		p.Escalation = &schemas.Escalation{Human: a.channel(), Coordinator: a.channel()}
		if once(a.Rand, 4) {
			p.Escalation.Coordinator = &schemas.EscalationChannel{Upstream: true}
		}
		if once(a.Rand, 3) {
			p.Escalation.Planner = &schemas.EscalationChannel{Upstream: true}
		}
		p.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: a.way(p)}
		for _, category := range []schemas.FailureCategory{schemas.CategoryExecution, schemas.CategoryDependency, schemas.CategoryCoordination, schemas.CategoryInput, schemas.CategoryValidation} {
			if once(a.Rand, 3) {
				p.Recovery[string(category)] = a.way(p)
			}
		}
	}
}

// words are those that decide, and what people are told.
func (a *Advisers) words(p *schemas.Profile) {
	p.Languages = slices.Clone(p.Languages)
	for n := range p.Languages {
		language := &p.Languages[n]
		language.Choices = map[schemas.InquiryChoice][]string{schemas.ChoiceRetry: {"again"}, schemas.ChoiceEnd: {"stop"}}
		language.Texts.Escalation, language.Texts.Indecisive = asksAbout+" {work} {agent} {attempts} {detail} {choices}", "What?"
	}
}

func (a *Advisers) channel() *schemas.EscalationChannel {
	expire := pick(a.Rand, 6*time.Second, 40*time.Second, 10*time.Minute)
	return &schemas.EscalationChannel{
		People: pick(a.Rand, []string{"anna"}, []string{"anna", "ben"}, []string{"eve", "anna"}, []string{"carl", "ben"}), Expire: schemas.Duration(expire),
		Remind: schemas.Duration(pick(a.Rand, 0, 3*time.Second, expire/2)),
	}
}

func (a *Advisers) way(p *schemas.Profile) schemas.RecoveryWay {
	ways := []schemas.RecoveryWay{schemas.WayHuman, schemas.WayHuman, schemas.WayHuman, schemas.WayCoordinator, schemas.WaySkip, schemas.WayFail}
	if p.Waiting != nil {
		ways = append(ways, schemas.WayRequester, schemas.WayRequester)
	}
	if p.Replan != nil || p.Escalation.Planner != nil {
		ways = append(ways, schemas.WayPlanner)
	}
	return pick(a.Rand, ways...)
}

// Fails says of what category the failure of an agent is for good, now and then, and once in so many times else; empty is that it does not fail.
func (a *Advisers) Fails(times int) schemas.FailureCategory {
	switch {
	case a == nil:
		return ""
	case a.stubborn && !once(a.Rand, 6):
	case !once(a.Rand, times):
		return ""
	}
	return pick(a.Rand, schemas.CategoryExecution, schemas.CategoryExecution, schemas.CategoryValidation, schemas.CategoryDependency, schemas.CategoryCoordination)
}

// Says is what somebody says to a failure.
func (a *Advisers) Says() string {
	r := a.Rand
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

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func once(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
