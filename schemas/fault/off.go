//go:build !faults

package fault

// Is reports whether the bug of that name is switched on.
func Is(string) bool { return false }

// IsRule reports whether the rule of that name is left out.
func IsRule(string) bool { return false }

// IsNumbered reports whether the bug of that name and number is switched on.
func IsNumbered(string, int) bool { return false }

// Order is the number of an order in which the groups of rules are tried; 0 is that in which they stand.
func Order() int { return 0 }

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](_ string, _, right T) T { return right }
