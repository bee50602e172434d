//go:build !faults

package fault

// Is reports whether the bug of a name is to show.
func Is(string) bool { return false }

// Either returns what is wrong if the bug of a name is to show, otherwise what is right.
func Either[T any](_ string, _, right T) T { return right }
