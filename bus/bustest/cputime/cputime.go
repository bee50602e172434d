// Package cputime measures what code costs, for tests. Other processes and other threads add nothing to it, so that a
// busy machine makes no test fail.
package cputime

import (
	"runtime"
	"testing"
	"time"
)

// rounds is how often a proportion that is too high is measured again.
const rounds = 10

// Of returns the processor time that work takes on its own thread. What work does in other goroutines does not count. On
// systems that do not account for single threads it is the elapsed time.
func Of(tb testing.TB, work func()) time.Duration {
	tb.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used(tb)
	work()
	return used(tb) - before
}

// Bound fails the test if work takes more than limit. Such a limit lies a hundredfold above what work costs: it excludes
// growth beyond the linear, and nothing else.
func Bound(tb testing.TB, what string, limit time.Duration, work func()) {
	tb.Helper()
	if took := Of(tb, work); took > limit {
		tb.Errorf("%s takes %s, more than %s", what, took, limit)
	}
}

// Proportion fails the test if work takes more than factor times as long as base in each of ten rounds. Both run in
// turn, and the least of either counts.
func Proportion(tb testing.TB, what string, factor int, base, work func()) {
	tb.Helper()
	var unit, least time.Duration
	for round := range rounds {
		one, other := Of(tb, base), Of(tb, work)
		if round == 0 {
			unit, least = one, other
		}
		unit, least = max(min(unit, one), time.Microsecond), min(least, other)
		if other <= time.Duration(factor)*one || least <= time.Duration(factor)*unit {
			return
		}
	}
	tb.Errorf("%s takes %s, more than %d times %s", what, least, factor, unit)
}
