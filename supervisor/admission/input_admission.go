package admission

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/circuit"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// An inputAdmission answers what a decision asks about the agents: whether one has room, whether an
// earlier answer serves, and whether a request may bring its permit along.
type inputAdmission struct {
	controller *Controller
	demand     *Demand
	now        time.Time
	granted    *waitingTask      // whose grant is decided, until that is so
	short      *schemas.Shortage // why it does not fit the budget of the day
	barred     []string          // agents that were unavailable before
}

// AdmissionFor returns what the decision of one input may ask. What it is admitted to is taken
// back by Release, or counted by Track once it is stored.
func (c *Controller) AdmissionFor(demand *Demand, read *session.Input) plan.Admission {
	d := &inputAdmission{controller: c, demand: demand, now: read.Now}
	if read.Grant != nil {
		d.granted, d.short = demand.grants[0], demand.grants[0].short
	}
	return d
}

// Admit implements plan.Admission. Nobody finds room while somebody waits for it: what has
// become free since the grants of this turn were given is for those who wait. Room
// comes before the breaker, because what it refuses may go all the same (see
// plan.Decision.Grant).
func (d *inputAdmission) Admit(agent string) plan.AdmissionResult {
	if slices.Contains(d.barred, agent) {
		return plan.Unavailable
	}
	granted := d.granted
	if granted != nil && granted.agent == agent {
		d.granted = nil
		return d.bar(agent, d.controller.breakerVerdict(agent, granted.request))
	}
	p := d.controller.pool(agent)
	if !d.controller.room(p) || p.limit > 0 && p.next() != nil && !fault.Is("who comes takes the room that somebody waits for") {
		return plan.Full
	}
	admission := d.bar(agent, d.controller.breakerVerdict(agent, ""))
	if admission != plan.Full {
		p.reserved++
		d.demand.reserved = append(d.demand.reserved, agent)
	}
	return admission
}

// OpenSince implements plan.Admission.
func (d *inputAdmission) OpenSince(agent string) (since, probe time.Time) {
	b := d.controller.breaker(agent)
	if b == nil || !circuit.Blocks(&b.value) {
		return since, probe // it is barred for another reason
	}
	return b.value.Since, b.value.Until
}

// GrantDecided implements plan.Admission. What the grant has kept is free once the decision is stored: whoever waits first has it.
func (d *inputAdmission) GrantDecided() { d.granted = nil }

// LacksDay implements plan.Admission. Who is granted has reserved what it needs, or lacks it.
func (d *inputAdmission) LacksDay(string) *schemas.Shortage { return d.short }

func (d *inputAdmission) bar(agent string, verdict circuit.Verdict) plan.AdmissionResult {
	switch verdict {
	case circuit.Deny:
		d.barred = append(d.barred, agent)
		return plan.Unavailable
	case circuit.Probing:
		return plan.Full // it waits until the ledger has said who may be the probe
	case circuit.Allow:
	}
	return plan.Admitted
}

// Reuse implements plan.Admission.
func (d *inputAdmission) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	return d.controller.cachedResult(agent, input, d.now.Add(-age))
}

// CarriesPermit implements plan.Admission.
func (d *inputAdmission) CarriesPermit() bool { return d.controller.Core.Server() != "" }
