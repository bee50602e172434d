//go:build !faults

package fault

// Is reports whether the bug of that name is switched on.
func Is(string) bool { return false }

// IsRule reports whether the rule of that name is left out.
func IsRule(string) bool { return false }

// IsNumbered reports whether the bug of that name and number is switched on.
func IsNumbered(string, int) bool { return false }

// Ordered returns a list as it is.
func Ordered[T any](list []T, _ func(before, after *T) bool) []T { return list }

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](_ string, _, right T) T { return right }
