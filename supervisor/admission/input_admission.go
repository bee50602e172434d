package admission

import (
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
	granted    *waitingTask // whose grant is decided; nil if there is none
}

// AdmissionFor returns what the decision of one input may ask. What it is admitted to is taken
// back by Release, or counted by Track once it is stored.
func (c *Controller) AdmissionFor(demand *Demand, read *session.Input) session.Admission {
	d := &inputAdmission{controller: c, demand: demand, now: read.Now}
	if read.Grant != nil {
		d.granted = demand.grants[0]
	}
	return d
}

// Room implements plan.Agents. A task has no room while other tasks wait for it: what has
// become free since the grants of this turn were given is for those that wait. Room
// comes before the breaker, because what the breaker refuses may be sent all the same (see
// plan.Decision.Grant). The room of a grant is for its task alone. If that task does not use it,
// the first task that waits has it once the decision is stored.
func (d *inputAdmission) Room(agent string, more int) plan.AdmissionResult {
	p := d.controller.pool(agent)
	if !d.controller.room(p, more) || p.limit > 0 && p.next() != nil && !fault.Is("who comes takes the room that somebody waits for") {
		return plan.Full
	}
	return result(d.controller.breakerVerdict(agent, ""))
}

// Granted implements plan.Agents.
func (d *inputAdmission) Granted(agent string) plan.AdmissionResult {
	return result(d.controller.breakerVerdict(agent, d.granted.request))
}

// Admit implements session.Admission.
func (d *inputAdmission) Admit(agent string, granted bool) {
	if granted {
		return // its grant has kept the place
	}
	d.controller.pool(agent).reserved++
	d.demand.reserved = append(d.demand.reserved, agent)
}

// OpenSince implements plan.Agents.
func (d *inputAdmission) OpenSince(agent string) (since, probe time.Time) {
	b := d.controller.breaker(agent)
	if b == nil || !circuit.Blocks(&b.value) {
		return since, probe // it is barred for another reason
	}
	return b.value.Since, b.value.Until
}

// LacksDay implements plan.Agents. Who is granted has reserved what it needs, or lacks it.
func (d *inputAdmission) LacksDay(string) *schemas.Shortage {
	if d.granted == nil {
		return nil
	}
	return d.granted.short
}

func result(verdict circuit.Verdict) plan.AdmissionResult {
	switch verdict {
	case circuit.Deny:
		return plan.Unavailable
	case circuit.Probing:
		return plan.Full // it waits until the ledger has said who may be the probe
	case circuit.Allow:
	}
	return plan.Admitted
}

// Reuse implements plan.Agents.
func (d *inputAdmission) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	return d.controller.cachedResult(agent, input, d.now.Add(-age))
}

// CarriesPermit implements plan.Agents.
func (d *inputAdmission) CarriesPermit() bool { return d.controller.Core.Server() != "" }
