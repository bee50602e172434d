// Package workflow is the one model of a run: its phase, its tasks and their states, and
// the fold of its facts ([Run.Apply]). Supervisors decide on it, and whoever shows a run
// to people folds the same.
//
// It decides nothing and touches nothing: no clock, no I/O, no randomness, no goroutines,
// no map iteration. The phases are those of P-12:
//
//	decomposing → routing → executing → assembling → complete
//
// A [RunHistory] is a run with what only readers want. A [SessionHistory] is all runs of a
// session, an [Excerpt] one of them, folded from the records that speak of it.
//
// # What it guarantees
//
//   - A history takes no fact that may not follow those before it: [Run.Check] is the grammar
//     (TestSessionHistoryStories, TestSessionHistoryRefusesOtherRecords).
//   - What has ended stays as it is, whatever comes (TestSessionHistoryInvariants).
//   - An excerpt says of its run what the history of the whole session does
//     (TestSessionHistoryStories).
//   - A run shares nothing with its clones that Apply changes, so that a task that was read
//     once never changes under its reader.
package workflow
