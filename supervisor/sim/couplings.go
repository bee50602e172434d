package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"podium/schemas"
)

// couplings are what profiles of a mixed world say that needs more than one feature; nil is a world that does not mix
// them.
type couplings struct{ rand *rand.Rand }

// newCouplings returns those of the world of a seed.
func newCouplings(seed uint64) *couplings {
	return &couplings{rand: source(seed, couplingsStream)}
}

// declare has some profiles mend what has failed, and ask those for more who work there.
func (c *couplings) declare(sources []schemas.Profile) {
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
func (c *couplings) mends(p *schemas.Profile) {
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

// wrong has some results say that what their agent has looked at is not right.
func (c *couplings) wrong(data []byte) []byte {
	if c == nil || !c.once(4) {
		return data
	}
	return fmt.Appendf(data[:len(data)-1], `,"valid":false,"why":"it is %d"}`, c.rand.IntN(9))
}

func (c *couplings) once(n int) bool { return c.rand.IntN(n) == 0 }
