package session

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// An Admission tells a decision of the agents, and takes the room of what it sends.
type Admission interface {
	plan.Agents
	// Admit takes the room of one task at an agent. The room of a granted task came with its grant.
	Admit(agent string, granted bool)
}

// unlimited is an Admission whose agents have room for everything and no memory.
type unlimited struct{ plan.Unlimited }

// Admit implements Admission.
func (unlimited) Admit(string, bool) {}

// recordingAdmission is what the agents' state was when a decision asked for it, so that
// deciding again asks the record's cause instead.
type recordingAdmission struct {
	live   Admission
	sent   sentTasks
	limits []schemas.AgentLimit
	reuses []schemas.Reuse
	asks   bool
}

// Room implements plan.Admission. An agent that has none has none for the rest of the decision.
func (r *recordingAdmission) Room(agent string, more int) plan.AdmissionResult {
	if limit := limitOf(r.limits, agent); limit != nil {
		return refused(limit)
	}
	result := r.live.Room(agent, more)
	r.note(agent, more, result)
	return result
}

// Granted implements plan.Admission.
func (r *recordingAdmission) Granted(agent string) plan.AdmissionResult {
	result := r.live.Granted(agent)
	if result == plan.Unavailable && limitOf(r.limits, agent) == nil {
		r.note(agent, 0, result)
	}
	return result
}

// note records that an agent has no room for one more than were sent to it.
func (r *recordingAdmission) note(agent string, more int, result plan.AdmissionResult) {
	if result == plan.Admitted {
		return
	}
	limit := schemas.AgentLimit{Agent: agent, Room: r.sent.count(agent) + more, Open: result == plan.Unavailable}
	if limit.Open {
		limit.Since, limit.Until = r.live.OpenSince(agent)
	}
	r.limits = append(r.limits, limit)
}

// Sent implements plan.Admission.
func (r *recordingAdmission) Sent(agent string) bool { return r.sent.count(agent) > 0 }

// Admit implements Admission.
func (r *recordingAdmission) Admit(agent string, granted bool) {
	r.sent.add(agent)
	r.live.Admit(agent, granted)
}

// sentTasks counts the tasks that a decision has sent to each agent.
type sentTasks []sentTo

type sentTo struct {
	agent string
	tasks int
}

func (s sentTasks) count(agent string) int {
	for i := range s {
		if s[i].agent == agent {
			return s[i].tasks
		}
	}
	return 0
}

func (s *sentTasks) add(agent string) {
	for i := range *s {
		if to := &(*s)[i]; to.agent == agent {
			to.tasks++
			return
		}
	}
	*s = append(*s, sentTo{agent, 1})
}

// limitOf returns how much room an agent had; nil if it had enough.
func limitOf(limits []schemas.AgentLimit, agent string) *schemas.AgentLimit {
	at := slices.IndexFunc(limits, func(limit schemas.AgentLimit) bool { return limit.Agent == agent && limit.Day == nil })
	if at < 0 {
		return nil
	}
	return &limits[at]
}

// refused returns why an agent had no room.
func refused(limit *schemas.AgentLimit) plan.AdmissionResult {
	if limit.Open {
		return plan.Unavailable
	}
	return plan.Full
}

// OpenSince implements plan.Admission.
func (r *recordingAdmission) OpenSince(agent string) (since, probe time.Time) {
	return openSince(r.limits, agent)
}

// openSince is what a record says of an agent that was unavailable.
func openSince(limits []schemas.AgentLimit, agent string) (since, probe time.Time) {
	limit := limitOf(limits, agent)
	if limit == nil {
		return since, probe
	}
	return limit.Since, limit.Until
}

// LacksDay implements plan.Admission.
func (r *recordingAdmission) LacksDay(agent string) *schemas.Shortage {
	short := r.live.LacksDay(agent)
	noted := func(limit schemas.AgentLimit) bool { return limit.Agent == agent && limit.Day != nil }
	if short != nil && !slices.ContainsFunc(r.limits, noted) {
		r.limits = append(r.limits, schemas.AgentLimit{Agent: agent, Day: short})
	}
	return short
}

// Reuse implements plan.Admission.
func (r *recordingAdmission) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	found, ok := r.live.Reuse(agent, input, age)
	same := func(other schemas.Reuse) bool { return other.Agent == agent && other.Input == input }
	if ok && !slices.ContainsFunc(r.reuses, same) {
		r.reuses = append(r.reuses, found)
	}
	return found, ok
}

// CarriesPermit implements plan.Admission.
func (r *recordingAdmission) CarriesPermit() bool {
	brings := r.live.CarriesPermit()
	r.asks = r.asks || !brings
	return brings
}

// ReplayAdmission answers as the agents' state was, by the cause of a record.
func ReplayAdmission(cause *schemas.Cause) Admission { return &replayedAdmission{cause: cause} }

type replayedAdmission struct {
	cause *schemas.Cause
	sent  sentTasks
}

// Room implements plan.Admission.
func (r *replayedAdmission) Room(agent string, more int) plan.AdmissionResult {
	limit := limitOf(r.cause.Limits, agent)
	if limit == nil || r.sent.count(agent)+more < limit.Room {
		return plan.Admitted
	}
	return refused(limit)
}

// Granted implements plan.Admission.
func (r *replayedAdmission) Granted(agent string) plan.AdmissionResult {
	if limit := limitOf(r.cause.Limits, agent); limit != nil && limit.Open && r.sent.count(agent) >= limit.Room {
		return plan.Unavailable
	}
	return plan.Admitted
}

// Admit implements Admission.
func (r *replayedAdmission) Admit(agent string, _ bool) { r.sent.add(agent) }

// OpenSince implements plan.Admission.
func (r *replayedAdmission) OpenSince(agent string) (since, probe time.Time) {
	return openSince(r.cause.Limits, agent)
}

// Reuse implements plan.Admission.
func (r *replayedAdmission) Reuse(agent, input string, _ time.Duration) (schemas.Reuse, bool) {
	for _, reuse := range r.cause.Reuses {
		if reuse.Agent == agent && reuse.Input == input {
			return reuse, true
		}
	}
	return schemas.Reuse{}, false
}

// LacksDay implements plan.Admission.
func (r *replayedAdmission) LacksDay(agent string) *schemas.Shortage {
	for i := range r.cause.Limits {
		if limit := &r.cause.Limits[i]; limit.Agent == agent && limit.Day != nil {
			return limit.Day
		}
	}
	return nil
}

// CarriesPermit implements plan.Admission.
func (r *replayedAdmission) CarriesPermit() bool { return !r.cause.Asks }
