//go:build faults

package fault

import (
	"os"
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

// Order is the number of an order in which the groups of rules are tried; 0 is that in which they stand. The variable is then "order" and the number.
func Order() int {
	number, is := strings.CutPrefix(shown, "order ")
	if !is {
		return 0
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](name string, wrong, right T) T {
	if Is(name) {
		return wrong
	}
	return right
}
