package budget

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"podium/schemas"
)

// Faults says what is wrong with a budget; agents are those of its profile.
func Faults(policy *schemas.Budget) []error {
	if policy == nil {
		return nil
	}
	var faults []error
	fault := func(format string, arguments ...any) {
		faults = append(faults, fmt.Errorf("budget: "+format, arguments...))
	}
	limited := policy.Run.Plus(policy.Day)
	if !sound(policy.Run) || !sound(policy.Day) || !sound(policy.Reserve) || !inRange(policy.Price) {
		fault("run, day, reserve and price are not negative, and at most %d", schemas.MaxUsage)
	}
	for _, limits := range [...]map[string]schemas.Usage{policy.Agents, policy.DayAgents} {
		for _, agent := range slices.Sorted(maps.Keys(limits)) {
			if !sound(limits[agent]) {
				fault("agent %q: its limits are not negative, and at most %d", agent, schemas.MaxUsage)
			}
			limited = limited.Plus(limits[agent])
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(policy.Prices)) {
		if !inRange(policy.Prices[agent]) {
			fault("agent %q: its price is not negative, and at most %d", agent, schemas.MaxUsage)
		}
	}
	priced := policy.Price > 0 && policy.Reserve.Tokens > 0
	if limited.Tokens > 0 && policy.Reserve.Tokens == 0 || limited.Milliseconds > 0 && policy.Reserve.Milliseconds == 0 ||
		limited.CostMicros > 0 && policy.Reserve.CostMicros == 0 && !priced {
		fault("reserve says what a request may use of each thing that is limited, where no plan does: it is more than 0")
	}
	switch policy.Exhausted {
	case "", schemas.BudgetEnds:
	case schemas.BudgetWaits:
		if policy.Day == (schemas.Usage{}) && len(policy.DayAgents) == 0 {
			fault("exhausted: %s waits for the next day, and no limit of a day is given", schemas.BudgetWaits)
		}
	case schemas.BudgetAsks:
		faults = append(faults, asking(policy)...)
	default:
		fault("exhausted is %s, %s or %s, and not %q", schemas.BudgetEnds, schemas.BudgetAsks, schemas.BudgetWaits, policy.Exhausted)
	}
	return faults
}

func asking(policy *schemas.Budget) []error {
	if len(policy.People) == 0 || policy.Expire <= 0 || policy.Remind < 0 {
		return []error{errors.New("budget: people are asked whom it names, for longer than 0")}
	}
	if len(policy.People) > 1 && slices.Contains(policy.People, schemas.ApprovingRequester) {
		return []error{fmt.Errorf("budget: either %s raises it or people who are named", schemas.ApprovingRequester)}
	}
	return nil
}

func sound(amount schemas.Usage) bool {
	return inRange(amount.Tokens) && inRange(amount.Milliseconds) && inRange(amount.CostMicros)
}

func inRange(value int64) bool { return value >= 0 && value <= schemas.MaxUsage }
