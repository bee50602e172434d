// Package mixture draws which kinds of knobs meet in a world that mixes them. Each kind is drawn from a source of its own, so that none says anything of another one, and
// what is drawn of one stays when another one is drawn more often.
package mixture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"podium/schemas"
)

// The streams are sources of their own for whether a world has a kind.
const (
	judgesStream   = 0x6d697861
	budgetsStream  = 0x6d697862
	daysStream     = 0x6d697863
	reviewsStream  = 0x6d697864
	recoveryStream = 0x6d697865
	leaveStream    = 0x6d697866
	retriesStream  = 0x6d697867
	threadsStream  = 0x6d697868
	upstreamStream = 0x6d697869
	peopleStream   = 0x6d69786a
)

// Kinds are those that a world has.
type Kinds struct {
	People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream bool
}

// Of are those of the world of a seed that mixes them.
func Of(seed uint64) Kinds {
	k := Kinds{
		Judges: drawn(seed, judgesStream, 3), Budgets: drawn(seed, budgetsStream, 2), Days: drawn(seed, daysStream, 2), Reviews: drawn(seed, reviewsStream, 3),
		Recovery: drawn(seed, recoveryStream, 2), Leave: drawn(seed, leaveStream, 4), Retries: drawn(seed, retriesStream, 4), Threads: drawn(seed, threadsStream, 4),
		Upstream: drawn(seed, upstreamStream, 4), People: drawn(seed, peopleStream, 2),
	}
	k.Days = k.Days && k.Budgets
	k.Recovery = k.Recovery || k.Upstream // what is decided upstream is a failure
	k.People = k.People || k.Recovery || k.Leave || k.Threads
	return k
}

// drawn is once in n.
func drawn(seed, stream uint64, n int) bool {
	return rand.New(rand.NewPCG(seed, stream)).IntN(n) == 0 //nolint:gosec // a simulation repeats
}

// couplingsStream is a source of its own for what needs more than one kind.
const couplingsStream = 0x6d697870

// Couplings are what profiles of a mixed world say that needs more than one kind; nil is a world that does not mix them.
type Couplings struct{ rand *rand.Rand }

// New returns those of the world of a seed.
func New(seed uint64) *Couplings {
	return &Couplings{rand: rand.New(rand.NewPCG(seed, couplingsStream))} //nolint:gosec // a simulation repeats
}

// Declare has some profiles mend what has failed, and ask those for more who work there.
func (c *Couplings) Declare(sources []schemas.Profile) {
	if c == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		mends, asks := c.once(2), c.once(2)
		if mends && p.Escalation != nil && p.Execution.Mode != schemas.ExecutionSingle {
			c.mends(p)
		}
		if budget := p.Budget; asks && budget != nil && len(p.People) > 0 && budget.Exhausted != schemas.BudgetWaits {
			more := *budget
			more.Exhausted, more.People, more.Expire, more.Remind = schemas.BudgetAsks, []string{"anna", "ben"}, schemas.Duration(40*time.Second), schemas.Duration(10*time.Second)
			p.Budget = &more
		}
	}
}

// mends has a profile mend results that cannot be used, and what those have found who look at what others have made.
func (c *Couplings) mends(p *schemas.Profile) {
	p.Recovery[string(schemas.CategoryValidation)] = schemas.WayFix
	if !c.once(3) {
		p.Recovery[string(schemas.CategoryExecution)] = schemas.WayFix
	}
	p.Retry.Attempts = 1 + c.rand.IntN(2)
	p.Agents = slices.Clone(p.Agents)
	for i := range p.Agents {
		if use := &p.Agents[i]; use.Verdict == nil && slices.Contains([]string{"alpha", "beta", "gamma"}, use.Name) && !c.once(3) {
			use.Verdict = &schemas.Verdict{Pointer: "/valid", Detail: "/why"}
		}
	}
}

// Wrong has some results say that what their agent has looked at is not right.
func (c *Couplings) Wrong(data []byte) []byte {
	if c == nil || !c.once(4) {
		return data
	}
	return fmt.Appendf(data[:len(data)-1], `,"valid":false,"why":"it is %d"}`, c.rand.IntN(9))
}

func (c *Couplings) once(n int) bool { return c.rand.IntN(n) == 0 }
