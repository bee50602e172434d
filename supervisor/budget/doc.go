// Package budget is the arithmetic of budgets: what a request reserves, what it counts as having used, and whether it fits. It
// holds no state, and knows neither time nor agents: supervisor/plan goes by what it says, and the fold of a run keeps the account.
//
// # What it guarantees
//
//   - Nothing is reserved as free but what is said to be: a request that no plan estimates reserves what the budget says (TestNeed_P19).
//   - What is used and reserved together exceeds a limit by no more than attempts under way use beyond what was reserved for them
//     (TestBudgetHolds_P19, FuzzBudgetHolds).
package budget
