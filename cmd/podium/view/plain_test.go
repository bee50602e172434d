package view_test

import (
	"strings"
	"testing"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// What strangers write commands no terminal of an operator.
func TestStrangersCommandNoTerminal(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\x07 \x1b[31mred \u202e"
	run := &workflow.RunHistory{ID: "r", Run: workflow.Run{Tasks: []*workflow.Task{{ID: "t1", Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: evil}}}}}, Message: schemas.Incoming{Subject: evil, Text: schemas.Content{Result: schemas.Result{Text: evil}}}}}
	for _, shown := range []string{view.Run(run, nil, evil), view.Asked(run)} {
		if strings.ContainsAny(shown, "\x1b\x07\u202e") {
			t.Errorf("%q", shown)
		}
	}
}
