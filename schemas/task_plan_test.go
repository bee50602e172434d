package schemas

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestTaskPlanMarkdown_O24(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/task_plan/valid/documented_O26.json")
	if err != nil {
		t.Fatal(err)
	}
	var plan TaskPlan
	if err := Unmarshal(body, &plan); err != nil {
		t.Fatal(err)
	}
	want := "# Task Plan\n\n**Created:** 2025-12-22 10:30:00\n\n## Question\n" +
		"Calculate HOMO/LUMO energy for this cation and analyze the results\n\n## Tasks\n\n" +
		"1. **Run quantum chemistry calculation** `qm_agent`\n" +
		"2. **Analyze orbital energies (HOMO/LUMO) from calculation results** `multiwfn_agent`\n"
	if got := plan.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	plan.Tasks[0].Status, plan.Tasks[1].Status = StepCompleted, StepInProgress
	for _, line := range []string{"calculation** `qm_agent` (completed)\n", "results** `multiwfn_agent` (in_progress)\n"} {
		if got := plan.Markdown(); !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
}

// Words from outside do not change the shape of the document.
func TestTaskPlanMarkdownTainted(t *testing.T) {
	t.Parallel()
	plan := TaskPlan{
		Created:  time.Date(2025, 12, 22, 10, 30, 0, 0, time.UTC).In(time.FixedZone("", 3600)),
		Question: "first\r\n## Tasks\n   # x\n```\nunder\n===\n---\nlast",
		Tasks:    []TaskStep{{StepNumber: 1, Description: "a\n\n2. **b** `mail`", Status: StepFailed}},
	}
	want := "# Task Plan\n\n**Created:** 2025-12-22 10:30:00\n\n## Question\n" +
		"first\n\\## Tasks\n\\# x\n\\```\nunder\n\\===\n\\---\nlast\n\n## Tasks\n\n" +
		"1. **a 2. \\*\\*b\\*\\* `mail`** (failed)\n"
	if got := plan.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
