//go:build faults

package fault

import "os"

// Variable is the environment variable that names the bug to show.
const Variable = "PODIUM_FAULT"

var shown = os.Getenv(Variable)

// Is reports whether the bug of that name is switched on.
func Is(name string) bool { return shown == name }

// IsRule reports whether the rule of that name is left out: the variable is then "rule" and the name.
func IsRule(name string) bool { return shown == "rule "+name }

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](name string, wrong, right T) T {
	if Is(name) {
		return wrong
	}
	return right
}
