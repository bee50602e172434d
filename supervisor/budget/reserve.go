package budget

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// Need is what a request to an agent reserves: what its plan estimates, else what the budget reserves for any.
func Need(policy *schemas.Budget, agent string, planned *schemas.PlannedTask) schemas.Usage {
	need := policy.Reserve
	if planned != nil && planned.Tokens > 0 {
		need.Tokens = min(int64(planned.Tokens), schemas.MaxUsage)
	}
	if planned != nil && planned.Seconds > 0 {
		need.Milliseconds = min(int64(planned.Seconds), schemas.MaxUsage/1000) * 1000
	}
	if slices.Contains(policy.Free, agent) {
		need.Tokens, need.CostMicros = 0, 0
		return need
	}
	if price := priceOf(policy, agent); price > 0 {
		need.CostMicros = cost(need.Tokens, price)
	}
	return need
}

// Said is what an agent says that a request has used.
type Said struct {
	Tokens       *int64 // nil is that it does not say
	Milliseconds int64  // 0 is that it does not say
	CostMicros   int64  // likewise
	// Measured is how long it was waited for, in milliseconds, where that is known: it stands for a time that nobody says.
	Measured int64
}

// Used is what a request counts as having used, given what was reserved for it. What nobody says and nobody can know counts as reserved.
func Used(policy *schemas.Budget, agent string, reserved schemas.Usage, said Said) schemas.Usage {
	used := reserved
	if said.Tokens != nil {
		used.Tokens = bounded(*said.Tokens)
	}
	if took := cmp.Or(max(said.Milliseconds, 0), max(said.Measured, 0)); took > 0 {
		used.Milliseconds = bounded(took)
	}
	switch price := priceOf(policy, agent); {
	case said.CostMicros > 0:
		used.CostMicros = bounded(said.CostMicros)
	case price > 0:
		used.CostMicros = cost(used.Tokens, price)
	}
	return used
}

func bounded(value int64) int64 { return min(max(value, 0), schemas.MaxUsage) }

// priceOf is the price of a million tokens of an agent; 0 is that it is not known, or none.
func priceOf(policy *schemas.Budget, agent string) int64 {
	if slices.Contains(policy.Free, agent) {
		return 0
	}
	if price, own := policy.Prices[agent]; own {
		return price
	}
	return policy.Price
}

// cost is what tokens cost, rounded up.
func cost(tokens, price int64) int64 {
	const million = 1_000_000
	high, low := bits.Mul64(uint64(max(tokens, 0)), uint64(max(price, 0))) //nolint:gosec // neither is negative
	if high >= million {
		return schemas.MaxUsage
	}
	whole, rest := bits.Div64(high, low, million)
	if rest > 0 && whole < math.MaxInt64 {
		whole++
	}
	return bounded(int64(min(whole, math.MaxInt64))) //nolint:gosec // it is bounded
}

// Lacking says why a request does not fit what a run and its agent may use; nil is that it fits. What is offered is still to be said.
func Lacking(policy *schemas.Budget, account *workflow.Account, agent string, need schemas.Usage) *schemas.Shortage {
	for _, of := range [...]string{"", agent} {
		limit := Limit(policy, account, of)
		short := schemas.Shortage{Agent: of, Limit: limit, Taken: account.Taken(of), Need: need}
		if short.Offer = lacking(limit, short.Taken, need); short.Offer != (schemas.Usage{}) {
			return &short
		}
	}
	return nil
}

// Limit is what a run, or an agent in it, may use, with all that it was raised by; parts that are 0 have no limit.
func Limit(policy *schemas.Budget, account *workflow.Account, agent string) schemas.Usage {
	limit := policy.Run
	if agent != "" {
		limit = policy.Agents[agent]
	}
	return raise(limit, account.Raised(agent))
}

// raise returns a limit with more of what it has parts for.
func raise(limit, raised schemas.Usage) schemas.Usage {
	more := limit
	if limit.Tokens > 0 {
		more.Tokens += raised.Tokens
	}
	if limit.Milliseconds > 0 {
		more.Milliseconds += raised.Milliseconds
	}
	if limit.CostMicros > 0 {
		more.CostMicros += raised.CostMicros
	}
	return more
}

// lacking is by how much a limit would have to be raised.
func lacking(limit, taken, need schemas.Usage) schemas.Usage {
	short := taken.Plus(need).Less(limit)
	if limit.Tokens == 0 || need.Tokens == 0 {
		short.Tokens = 0
	}
	if limit.Milliseconds == 0 || need.Milliseconds == 0 {
		short.Milliseconds = 0
	}
	if limit.CostMicros == 0 || need.CostMicros == 0 {
		short.CostMicros = 0
	}
	return short
}

// RoundUp rounds an amount that is offered up to whole seconds, and to hundredths of money, so that people raise by what they read.
func RoundUp(offer schemas.Usage) schemas.Usage {
	up := func(value, unit int64) int64 { return min((value+unit-1)/unit*unit, max(schemas.MaxUsage, value)) }
	offer.Milliseconds, offer.CostMicros = up(offer.Milliseconds, 1000), up(offer.CostMicros, 10_000)
	return offer
}

// Offer is what a shortage is made up for by, when all that is still planned is to fit, as far as that is its agent's. Parts that are
// not short stay 0.
func Offer(policy *schemas.Budget, run *workflow.Run, short *schemas.Shortage) schemas.Usage {
	var planned schemas.Usage
	for _, task := range run.Tasks {
		if waits := !task.State.Ended() && !task.State.UnderWay(); waits && (short.Agent == "" || short.Agent == task.Agent) {
			planned = planned.Plus(Need(policy, task.Agent, task.Plan))
		}
	}
	least, all := short.Offer, lacking(short.Limit, short.Taken, planned)
	for _, part := range [...]struct{ offer, all *int64 }{{&least.Tokens, &all.Tokens}, {&least.Milliseconds, &all.Milliseconds}, {&least.CostMicros, &all.CostMicros}} {
		if *part.offer > 0 {
			*part.offer = max(*part.offer, *part.all)
		}
	}
	return least
}
