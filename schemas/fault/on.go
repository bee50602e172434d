//go:build faults

package fault

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Variable is the environment variable that names the bug to show.
const Variable = "PODIUM_FAULT"

var shown = os.Getenv(Variable)

// Is reports whether the bug of that name is switched on.
func Is(name string) bool { return shown == name }

// IsRule reports whether the rule of that name is left out: the variable is then "rule" and the name.
func IsRule(name string) bool { return shown == "rule "+name }

// IsNumbered reports whether the bug of that name and number is switched on.
func IsNumbered(name string, n int) bool {
	return strings.HasPrefix(shown, name) && shown == name+" "+strconv.Itoa(n)
}

// Ordered returns a list in another order if the variable is "order" and a number: fixed reports whether one of the list has to stay before another one.
func Ordered[T any](list []T, fixed func(before, after *T) bool) []T {
	number, is := strings.CutPrefix(shown, "order ")
	order, err := strconv.ParseUint(number, 10, 64)
	if !is || err != nil {
		return list
	}
	random := rand.New(rand.NewPCG(order*0x9E3779B97F4A7C15, order)) //nolint:gosec // it has to be the same each time
	left, next := slices.Clone(list), make([]T, 0, len(list))
	for len(left) > 0 {
		var free []int // that none has to stay before
		for i := range left {
			if !slices.ContainsFunc(left[:i], func(before T) bool { return fixed(&before, &left[i]) }) {
				free = append(free, i)
			}
		}
		i := free[random.IntN(len(free))]
		next, left = append(next, left[i]), slices.Delete(left, i, i+1)
	}
	return next
}

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](name string, wrong, right T) T {
	if Is(name) {
		return wrong
	}
	return right
}
