package planfile_test

import (
	"strings"
	"testing"

	"podium/cmd/podium/planfile"
	"podium/schemas"
	"podium/supervisor/plan"
)

// TestPracticeOfPlans: what is no good practice in a plan is said, and good practice is not.
func TestPracticeOfPlans_C18(t *testing.T) {
	t.Parallel()
	step := func(id, agent, after, criteria string) string {
		return `{"task_id": "` + id + `", "description": "d", "assigned_to": "` + agent + `", "dependencies": [` + after + `], "validation_criteria": [` + criteria + `]}`
	}
	profile := &plan.Profile{Profile: schemas.Profile{Name: "loop", Agents: []schemas.AgentUse{
		{Name: "answer"}, {Name: "validate_smiles", Verdict: &schemas.Verdict{Pointer: "/valid"}},
	}}}
	bounded := &plan.Profile{Profile: schemas.Profile{
		Name: "small", Agents: []schemas.AgentUse{{Name: "answer"}}, Review: &schemas.Review{}, Execution: schemas.Execution{Mode: schemas.ExecutionDAG, Steps: 2},
		Budget: &schemas.Budget{Run: schemas.Usage{Tokens: 100, CostMicros: 40_000_000}, Reserve: schemas.Usage{Tokens: 60}, Price: 1_000_000_000_000},
	}}
	both := &plan.Profile{Profile: schemas.Profile{
		Name: "small", Agents: []schemas.AgentUse{{Name: "answer"}}, Review: &schemas.Review{}, Execution: schemas.Execution{Mode: schemas.ExecutionDAG, Steps: 1},
		Budget: &schemas.Budget{Run: schemas.Usage{Tokens: 100}, Reserve: schemas.Usage{Tokens: 60}},
	}}
	cheap := &plan.Profile{Profile: schemas.Profile{Name: "small", Agents: []schemas.AgentUse{{Name: "answer"}}, Budget: &schemas.Budget{Run: schemas.Usage{Tokens: 100}, Reserve: schemas.Usage{Tokens: 60}}}}
	for name, c := range map[string]struct {
		tasks   []string
		profile *plan.Profile
		want    []string
	}{
		"good": {[]string{
			step("tag", "answer", ``, `"has tags"`), step("ask", "answer", `"tag"`, `"is a SMILES"`),
			step("validate", "validate_smiles", `"ask"`, `"is valid"`), step("return", "answer", `"validate"`, `"is valid"`),
		}, profile, nil},
		"many side by side": {[]string{
			step("a", "answer", ``, `"c"`), step("b", "answer", ``, `"c"`), step("c", "answer", ``, `"c"`), step("d", "answer", ``, `"c"`), step("e", "answer", `"a", "d"`, `"c"`),
		}, nil, nil},
		"a long chain": {[]string{
			step("e", "answer", `"d"`, `"c"`), step("a", "answer", ``, `"c"`), step("b", "answer", `"a"`, `"c"`), step("c", "answer", `"b"`, `"c"`), step("d", "answer", `"c"`, `"c"`),
		}, nil, []string{"5 tasks wait for one another: a, b, c, d, e."}},
		"no criteria":        {[]string{step("a", "answer", ``, ``), step("b", "answer", ``, `"c"`)}, nil, []string{"nothing says when these tasks are done right: a."}},
		"nobody looks at it": {[]string{step("a", "answer", ``, `"c"`)}, profile, []string{"no task is for validate_smiles"}},
		"more than a run has room for": {[]string{step("a", "answer", ``, `"c"`), step("b", "answer", ``, `"c"`), step("c", "answer", ``, `"c"`)}, bounded, []string{
			"the plan has 3 tasks, and a run takes 2 steps, ",
			`task "a" needs a cost of 60.00, and a run may have one of 40.00 (profiles.small.budget.run): it does not begin`, `task "b" needs`, `task "c" needs`,
		}},
		"all of it together": {[]string{step("a", "answer", ``, `"c"`), step("b", "answer", ``, `"c"`)}, cheap, []string{
			"by what they are estimated, and budget.reserve, the tasks need 120 tokens, and a run may use 100 (profiles.small.budget.run)",
		}},
		"steps, and all of it together": {[]string{step("a", "answer", ``, `"c"`), step("b", "answer", ``, `"c"`)}, both, []string{
			"the plan has 2 tasks, and a run takes 1 steps, ", "by what they are estimated, and budget.reserve, the tasks need 120 tokens",
		}},
		"words and not a plan": {[]string{step("a", "supervisor", ``, ``)}, profile, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := planfile.Read([]byte(`{"tasks": [`+strings.Join(c.tasks, ", ")+`]}`), "plan.json")
			if err != nil {
				t.Fatal(err)
			}
			said := read.Cautions(c.profile)
			if len(said) != len(c.want) {
				t.Fatalf("said %q, want %q", said, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(said[i], want) {
					t.Errorf("said %q, want %q", said[i], want)
				}
			}
		})
	}
}
