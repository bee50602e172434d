package session

import (
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// noted is what the agents' state was when a decision asked for it, so that
// deciding again asks the record's cause instead.
type noted struct {
	live   plan.Bus
	counts []schemas.Limit // Room counts the admitted
	limits []schemas.Limit
	reuses []schemas.Reuse
	asks   bool
}

// Admit implements plan.Bus.
func (n *noted) Admit(agent string) plan.Admission {
	at := 0
	for at < len(n.counts) && n.counts[at].Agent != agent {
		at++
	}
	if at == len(n.counts) {
		n.counts = append(n.counts, schemas.Limit{Agent: agent})
	}
	admission := n.live.Admit(agent)
	if admission == plan.Admitted {
		n.counts[at].Room++
		return admission
	}
	for i := range n.limits {
		if n.limits[i].Agent == agent {
			return admission
		}
	}
	n.limits = append(n.limits, schemas.Limit{Agent: agent, Room: n.counts[at].Room, Open: admission == plan.Unavailable})
	return admission
}

// Reuse implements plan.Bus.
func (n *noted) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	found, ok := n.live.Reuse(agent, input, age)
	if ok {
		n.reuses = append(n.reuses, found)
	}
	return found, ok
}

// Brings implements plan.Bus.
func (n *noted) Brings() bool {
	brings := n.live.Brings()
	n.asks = n.asks || !brings
	return brings
}

// Recorded answers as the agents' state was, by the cause of a record.
func Recorded(cause *schemas.Cause) plan.Bus { return &recorded{cause: cause} }

type recorded struct {
	cause    *schemas.Cause
	admitted []schemas.Limit // Room counts them
}

// Admit implements plan.Bus.
func (r *recorded) Admit(agent string) plan.Admission {
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

// Reuse implements plan.Bus.
func (r *recorded) Reuse(agent, input string, _ time.Duration) (schemas.Reuse, bool) {
	for _, reuse := range r.cause.Reuses {
		if reuse.Agent == agent && reuse.Input == input {
			return reuse, true
		}
	}
	return schemas.Reuse{}, false
}

// Brings implements plan.Bus.
func (r *recorded) Brings() bool { return !r.cause.Asks }
