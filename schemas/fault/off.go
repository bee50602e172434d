//go:build !faults

package fault

// Is reports whether the bug of that name is switched on.
func Is(string) bool { return false }

// IsRule reports whether the rule of that name is left out.
func IsRule(string) bool { return false }

// Either returns wrong if the bug of that name is switched on, otherwise right.
func Either[T any](_ string, _, right T) T { return right }
