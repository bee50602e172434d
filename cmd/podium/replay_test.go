package main

import (
	"errors"
	"testing"
)

// TestOutcomeOfVerification: scripts tell a ledger that says something else from one that another build has
// decided.
func TestOutcomeOfVerification(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults, others int
		accepted       bool
		want           int
	}{
		"nothing":                           {want: exitOK},
		"something else":                    {faults: 1, want: exitDiffers},
		"both":                              {faults: 1, others: 1, want: exitDiffers},
		"something else, and it is lost":    {faults: 1, accepted: true, want: exitDiffers},
		"another build":                     {others: 1, want: exitOther},
		"another build, some of it is gone": {others: 1, accepted: true, want: exitOther},
	} {
		code := exitOK
		if failed, ok := errors.AsType[*exitError](outcomeOf(test.faults, test.others, test.accepted)); ok {
			code = failed.code
		}
		if code != test.want {
			t.Errorf("%s: exit code %d, want %d", name, code, test.want)
		}
	}
}
