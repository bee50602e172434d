package session

import (
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// recordingAdmission is what the agents' state was when a decision asked for it, so that
// deciding again asks the record's cause instead.
type recordingAdmission struct {
	live   plan.Admission
	counts []schemas.Limit // Room counts the admitted
	limits []schemas.Limit
	reuses []schemas.Reuse
	asks   bool
}

// Admit implements plan.Admission.
func (r *recordingAdmission) Admit(agent string) plan.AdmissionResult {
	at := 0
	for at < len(r.counts) && r.counts[at].Agent != agent {
		at++
	}
	if at == len(r.counts) {
		r.counts = append(r.counts, schemas.Limit{Agent: agent})
	}
	admission := r.live.Admit(agent)
	if admission == plan.Admitted {
		r.counts[at].Room++
		return admission
	}
	for i := range r.limits {
		if r.limits[i].Agent == agent {
			return admission
		}
	}
	r.limits = append(r.limits, schemas.Limit{Agent: agent, Room: r.counts[at].Room, Open: admission == plan.Unavailable})
	return admission
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
	admitted []schemas.Limit // Room counts them
}

// Admit implements plan.Admission.
func (r *replayedAdmission) Admit(agent string) plan.AdmissionResult {
	for i := range r.cause.Limits {
		limit := &r.cause.Limits[i]
		if limit.Agent != agent {
			continue
		}
		at := 0
		for at < len(r.admitted) && r.admitted[at].Agent != agent {
			at++
		}
		if at == len(r.admitted) {
			r.admitted = append(r.admitted, schemas.Limit{Agent: agent})
		}
		switch {
		case r.admitted[at].Room < limit.Room:
			r.admitted[at].Room++
			return plan.Admitted
		case limit.Open:
			return plan.Unavailable
		}
		return plan.Full
	}
	return plan.Admitted
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

// CarriesPermit implements plan.Admission.
func (r *replayedAdmission) CarriesPermit() bool { return !r.cause.Asks }
