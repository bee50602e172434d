// Package plan decides what happens next inside one run: which tasks there are,
// who does them, what becomes of answers, failures and deadlines, and when the
// run is over. It is pure: no clock, no I/O, no randomness, no goroutines, no
// map iteration. The moment arrives as an argument, and everything decided
// leaves as facts.
//
// A [workflow.Run] is the fold of its facts; a [Decision] is one decision about it.
package plan
