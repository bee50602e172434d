//go:build !faults

package plan

// ordered returns the groups in the order in which they stand.
func ordered(groups []ruleGroup) []ruleGroup { return groups }
