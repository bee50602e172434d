//go:build faults

package plan

import (
	"math/rand/v2"
	"slices"

	"podium/schemas/fault"
)

// ordered returns the groups in an order of that number: groups that apply in a common phase keep theirs.
func ordered(groups []ruleGroup) []ruleGroup {
	order := fault.Order()
	if order == 0 {
		return groups
	}
	random := rand.New(rand.NewPCG(uint64(order), 0)) //nolint:gosec // it has to be the same each time
	left, next := slices.Clone(groups), make([]ruleGroup, 0, len(groups))
	for len(left) > 0 {
		var free []int // groups that no other one has to stand before
		for i := range left {
			if !slices.ContainsFunc(left[:i], func(before ruleGroup) bool { return haveCommonPhase(&before, &left[i]) }) {
				free = append(free, i)
			}
		}
		i := free[random.IntN(len(free))]
		next, left = append(next, left[i]), slices.Delete(left, i, i+1)
	}
	return next
}

func haveCommonPhase(one, other *ruleGroup) bool {
	return one.phases == 0 || other.phases == 0 || one.phases&other.phases != 0
}
