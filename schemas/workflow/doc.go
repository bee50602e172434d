// Package workflow is the one model of a run: its phase, its tasks and their states, and
// the fold of its facts ([Run.Apply]). Supervisors decide on it, and whoever shows a run
// to people folds the same.
//
// It decides nothing and touches nothing: no clock, no I/O, no randomness, no goroutines,
// no map iteration. The phases are those of P-12:
//
//	decomposing → routing → executing → assembling → complete
package workflow
