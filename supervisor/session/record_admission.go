package session

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// recordingAdmission is what the agents' state was when a decision asked for it, so that
// deciding again asks the record's cause instead.
type recordingAdmission struct {
	live   plan.Admission
	counts []schemas.AgentLimit // Room counts the admitted
	limits []schemas.AgentLimit
	reuses []schemas.Reuse
	asks   bool
}

// Admit implements plan.Admission.
func (r *recordingAdmission) Admit(agent string) plan.AdmissionResult {
	admitted, admission := admittedTo(&r.counts, agent), r.live.Admit(agent)
	if admission == plan.Admitted {
		*admitted++
	} else if !slices.ContainsFunc(r.limits, func(limit schemas.AgentLimit) bool { return limit.Agent == agent && limit.Day == nil }) {
		limit := schemas.AgentLimit{Agent: agent, Room: *admitted, Open: admission == plan.Unavailable}
		if limit.Open {
			limit.Since, limit.Until = r.live.OpenSince(agent)
		}
		r.limits = append(r.limits, limit)
	}
	return admission
}

// OpenSince implements plan.Admission.
func (r *recordingAdmission) OpenSince(agent string) (since, probe time.Time) {
	return openSince(r.limits, agent)
}

// openSince is what a record says of an agent that was unavailable.
func openSince(limits []schemas.AgentLimit, agent string) (since, probe time.Time) {
	at := slices.IndexFunc(limits, func(limit schemas.AgentLimit) bool { return limit.Agent == agent && limit.Day == nil })
	if at < 0 {
		return since, probe
	}
	return limits[at].Since, limits[at].Until
}

// GrantDecided implements plan.Admission.
func (r *recordingAdmission) GrantDecided() { r.live.GrantDecided() }

// LacksDay implements plan.Admission.
func (r *recordingAdmission) LacksDay(agent string) *schemas.Shortage {
	short := r.live.LacksDay(agent)
	if short != nil {
		r.limits = append(r.limits, schemas.AgentLimit{Agent: agent, Day: short})
	}
	return short
}

// admittedTo returns how many requests were admitted to an agent, to be counted on.
func admittedTo(counts *[]schemas.AgentLimit, agent string) *int {
	at := slices.IndexFunc(*counts, func(count schemas.AgentLimit) bool { return count.Agent == agent })
	if at < 0 {
		at, *counts = len(*counts), append(*counts, schemas.AgentLimit{Agent: agent})
	}
	return &(*counts)[at].Room
}

// Reuse implements plan.Admission.
func (r *recordingAdmission) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	found, ok := r.live.Reuse(agent, input, age)
	if ok {
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
func ReplayAdmission(cause *schemas.Cause) plan.Admission { return &replayedAdmission{cause: cause} }

type replayedAdmission struct {
	cause    *schemas.Cause
	admitted []schemas.AgentLimit // Room counts them
}

// Admit implements plan.Admission.
func (r *replayedAdmission) Admit(agent string) plan.AdmissionResult {
	for i := range r.cause.Limits {
		limit := &r.cause.Limits[i]
		if limit.Agent != agent || limit.Day != nil {
			continue
		}
		switch admitted := admittedTo(&r.admitted, agent); {
		case *admitted < limit.Room:
			*admitted++
			return plan.Admitted
		case limit.Open:
			return plan.Unavailable
		}
		return plan.Full
	}
	return plan.Admitted
}

// OpenSince implements plan.Admission.
func (r *replayedAdmission) OpenSince(agent string) (since, probe time.Time) {
	return openSince(r.cause.Limits, agent)
}

// GrantDecided implements plan.Admission.
func (r *replayedAdmission) GrantDecided() {}

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
