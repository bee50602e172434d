// Package fault names the places at which a bug can be planted, to see whether the simulation catches it. A build
// without the tag faults has no bug: Is is constantly false there, and the compiler removes what it guards. Either
// evaluates both of its values also there, so that they have to be cheap.
//
// A build with the tag has the one bug that the environment variable PODIUM_FAULT names. TestFaults of package
// podium/supervisor/sim makes such a build and checks that the simulation catches the bugs, and TestFaultsOfPolicies
// that a story of package podium/supervisor/session catches those of policies: every twelfth by default, all of them
// with make mutations. A new fault point needs a case in one of their tables; its name is a string literal.
//
// The variable may also say what is left out of the rules of package podium/supervisor/plan: "rule" and the name of
// one, or "condition" or "phase" and the number of a group. TestEachRuleHasAStory checks that a story fails then. With
// "order" and a number the groups stand in another order.
package fault
