package session_test

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// agents are the agents of a stage as the shell knows them: who is full, whose
// circuit breaker is open, and what they have answered. The zero value has room
// for everything and has heard nothing.
type agents struct {
	room  map[string]int     // requests that may be under way; an agent that is not there has no limit
	gates map[string]breaker // closed when it is not there
	heard []heard

	day *schemas.Shortage // why the budget of the day has no room for anybody; nil is that it has

	nameless bool // nobody can tell who is handed a request first
}

// A breaker is a circuit breaker as a decision sees it (M-28).
type breaker string

const (
	breakerClosed breaker = "closed"
	breakerOpen   breaker = "open"
	breakerProbe  breaker = "probe" // half-open: one request at a time
)

type heard struct {
	schemas.Reuse
	at time.Time
}

func (a *agents) learn(outputs []session.Output, now time.Time) {
	for i := range outputs {
		a.heard = append(a.heard, heard{outputs[i].Reuse, now})
	}
}

// admissions is what one decision knows of the agents.
func (a *agents) admissions(state *session.State, now time.Time) session.Admission {
	under := map[string]int{}
	for task := range state.UnderWay {
		under[task.Agent]++
	}
	return &admissions{agents: a, under: under, now: now}
}

type admissions struct {
	agents *agents
	under  map[string]int
	now    time.Time
}

// Room implements plan.Agents.
func (a *admissions) Room(agent string, more int) plan.AdmissionResult {
	gate, under := a.agents.gates[agent], a.under[agent]+more
	if gate == breakerOpen || gate == breakerProbe && under > 0 {
		return plan.Unavailable
	}
	if limit, limited := a.agents.room[agent]; limited && under >= limit {
		return plan.Full
	}
	return plan.Admitted
}

// Granted implements plan.Agents.
func (a *admissions) Granted(agent string) plan.AdmissionResult {
	if a.agents.gates[agent] == breakerOpen {
		return plan.Unavailable
	}
	return plan.Admitted
}

// Admit implements session.Admission.
func (a *admissions) Admit(agent string, _ bool) { a.under[agent]++ }

// OpenSince implements plan.Agents.
func (a *admissions) OpenSince(string) (since, probe time.Time) {
	return a.now.Add(-10 * time.Second), a.now.Add(20 * time.Second)
}

// LacksDay implements plan.Agents.
func (a *admissions) LacksDay(string) *schemas.Shortage {
	if a.agents.day == nil {
		return nil
	}
	short := *a.agents.day
	short.Day = schemas.Day(a.now)
	return &short
}

// Reuse implements plan.Agents.
func (a *admissions) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	for _, known := range slices.Backward(a.agents.heard) {
		if known.Agent == agent && known.Input == input && !known.at.Before(a.now.Add(-age)) {
			return known.Reuse, true
		}
	}
	return schemas.Reuse{}, false
}

// CarriesPermit implements plan.Agents.
func (a *admissions) CarriesPermit() bool { return !a.agents.nameless }
