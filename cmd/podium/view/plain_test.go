package view_test

import (
	"strings"
	"testing"

	"podium/cmd/podium/view"
	"podium/schemas"
)

// What strangers write commands no terminal of an operator.
func TestStrangersCommandNoTerminal(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\x07 \x1b[31mred \u202e"
	run := &schemas.Run{ID: "r", Subject: evil, Request: evil, Tasks: []schemas.RunTask{{Task: "t1", Description: evil}}}
	for _, shown := range []string{view.Run(run, evil), view.Asked(run)} {
		if strings.ContainsAny(shown, "\x1b\x07\u202e") {
			t.Errorf("%q", shown)
		}
	}
}
