package view_test

import (
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// Whoever looks at a run reads that it waits for an agent that nobody serves.
func TestUnservedAgentsAreTold(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 1, 13, 0, 0, 0, time.Local)
	told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{Tasks: []*workflow.Task{
		{ID: "t1", Agent: "shout", State: workflow.TaskDispatched, Unserved: &workflow.Unserved{Since: since}},
		{ID: "t2", Agent: "whisper", State: workflow.TaskReady, Unserved: &workflow.Unserved{}},
	}}}, nil,

		"")

	for _, line := range []string{
		"waits: nobody serves shout since 2026-01-01 13:00:00", "waits: nobody serves whisper, and no sign of life of it is on record",
	} {
		if !strings.Contains(told, line+"\n") {
			t.Errorf("%q is not in\n%s", line, told)
		}
	}
	if told := drawn(&workflow.RunHistory{Run: workflow.Run{Tasks: []*workflow.Task{
		{ID: "t1", Agent: "shout", State: workflow.TaskDispatched, Unserved: &workflow.Unserved{Since: since}},
	}}}, since); !strings.Contains(told, "nobody serves shout since 2026-01-01 13:00:00") {
		t.Errorf("it is not drawn:\n%s", told)
	}
	lines := view.Lines(&schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{&schemas.TaskUnserved{Run: 1, Task: "t1", Agent: "shout", Since: since}}}}})
	if len(lines) != 1 || lines[0] != "t1: nobody serves shout since 2026-01-01 13:00:00" {
		t.Errorf("%q", lines)
	}
}
