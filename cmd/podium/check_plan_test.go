package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckPlan: a plan is checked without an instance, alone or for a profile of a
// configuration.
func TestCheckPlan(t *testing.T) {
	t.Setenv("WEB_TOKEN", "any-16-characters-or-more")
	const right = graphExample + "plan.json"
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	unknown := write("unknown.json", `{"tasks": [{"task_id": "a", "description": "d", "assigned_to": "calculatr"}]}`)
	typed := write("typed.json", "{\"tasks\": [\n  {\"task_id\": \"a\", \"descriptiom\": \"d\", \"assigned_to\": \"echo\", \"dependencies\": \"b\"}]}")
	mixed := write("mixed.json", "{\"tasks\": [\n  {\"task_id\": \"a\", \"descriptiom\": \"d\", \"assigned_to\": \"calculator\", \"dependencies\": [\"z\"]},\n"+
		"  {\"task_id\": \"a\", \"description\": \"d\", \"assigned_to\": \"calculatr\", \"priority\": \"hihg\"},\n"+
		"  {\"task_id\": \"c\", \"description\": \"d\", \"assigned_to\": \"calculator\", \"dependencies\": [\"c\"], \"estimated_time_seconds\": 31536000}]}")
	broken := write("broken.yaml", "agents: {echo: {kind: eccho}}\nprofiles: {p: {agents: [echo], routers: [{kind: default, agent: echo}]}}\n")
	for _, c := range []struct {
		name      string
		arguments []string
		stdin     string
		code      int
		says      []string
	}{
		{"alone", []string{"--plan", right}, "", exitOK, []string{"plan.json is right: tasks 4", "with -c FILE"}},
		{
			"for a profile",
			[]string{"--plan", right, "-c", graphExample + "podium.yaml", "--profile", "graph"},
			"", exitOK,
			[]string{"podium.yaml is right", "plan.json is right for profile graph: tasks 4"},
		},
		{"standard input", []string{"--plan", "-"}, `{"tasks": []}`, exitUsage, []string{"-:1:11: tasks: the list is empty"}},
		{"an agent that only the configuration knows", []string{"--plan", unknown}, "", exitOK, []string{"is right"}},
		{
			"an agent that it knows not",
			[]string{"--plan", unknown, "-c", graphExample + "podium.yaml", "--profile", "graph"},
			"", exitUsage,
			[]string{`:1:64: tasks[0].assigned_to: "calculatr" is not one of the agents of profile "graph"; did you mean "calculator"?`},
		},
		{
			"every fault at once",
			[]string{"--plan", typed},
			"", exitUsage,
			[]string{
				`typed.json:2:3: tasks[0]: "description" is missing`, `unknown key "descriptiom"; did you mean "description"?`,
				"tasks[0].dependencies: a list of texts is expected, and this is a text (task_ids whose results this task needs)",
			},
		},
		{
			"faults of every kind at once, for a profile",
			[]string{"--plan", mixed, "-c", graphExample + "podium.yaml", "--profile", "graph"},
			"", exitUsage,
			[]string{
				`mixed.json:2:3: tasks[0]: "description" is missing`, `unknown key "descriptiom"; did you mean "description"?`, `tasks[0].dependencies[0]: there is no task "z"`,
				`tasks[1].priority: "hihg" is not a value that it can have; did you mean "high"?`, `tasks[1].assigned_to: "calculatr" is not one of the agents of profile "graph"; did you mean "calculator"?`,
				`tasks[1].task_id: "a" is the id of tasks[0] already`, `in a circle, so that none of them could begin: "c" → "c"`, "tasks[2]: The estimate of the task “c”, 31536000 seconds, is not between 0 and 864000.",
			},
		},
		{"both are wrong", []string{"--plan", typed, "-c", broken}, "", exitUsage, []string{`broken.yaml:1:23: agents.echo.kind`, `typed.json:2:20: tasks[0]: unknown key`}},
		{"which profile", []string{"--plan", right, "-c", graphExample + "podium.yaml"}, "", exitUsage, []string{"--profile desk, or --profile graph"}},
		{"a profile for nothing", []string{"--plan", right, "--profile", "graph"}, "", exitUsage, []string{"--profile goes with --plan and -c"}},
		{"no such file", []string{"--plan", filepath.Join(folder, "none.json")}, "", exitNotFound, []string{"does not exist"}},
	} {
		o := in(t, c.stdin, append([]string{"check"}, c.arguments...)...)
		if o.code != c.code {
			t.Errorf("%s: exit code %d\n%s%s", c.name, o.code, o.stdout, o.stderr)
		}
		for _, words := range c.says {
			if !strings.Contains(o.stdout+o.stderr, words) {
				t.Errorf("%s: %q is not said:\n%s%s", c.name, words, o.stdout, o.stderr)
			}
		}
	}
	var report struct {
		OK       bool
		Problems []string
		Cautions []string
	}
	o := in(t, "", "check", "--plan", typed, "-o", "json")
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil || o.code != exitUsage || report.OK || len(report.Problems) != 3 || report.Cautions == nil {
		t.Errorf("as JSON: exit code %d, %v, %+v", o.code, err, report)
	}
}

// TestCheckPlanNamesAll: an unknown agent hides no other fault, and arguments are held to what their agent takes.
func TestCheckPlanNamesAll(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("podium.yaml", `
agents: {maker: {kind: exec, command: [cat], input_schema: {type: object, required: [names], properties: {names: {type: array, items: {type: string}}, least: {type: integer}}}}}
profiles: {desk: {agents: [maker], execution: {mode: dag}, planner: {kind: external, max_tokens: 10}, routers: [{kind: assigned}, {kind: default, agent: maker}]}}
`)
	file := write("plan.json", `{"tasks": [{"task_id": "a", "description": "d", "assigned_to": "makr", "estimated_tokens": 1000},
{"task_id": "b", "description": "d", "assigned_to": "maker"},
{"task_id": "c", "description": "d", "assigned_to": "maker", "context": {"arguments": {"names": ["n"], "least": "x"}}},
{"task_id": "d", "description": "d", "assigned_to": "maker", "context": {"arguments": {"names": ["n"]}}},
{"task_id": "e", "description": "d", "assigned_to": "maker", "context": {"arguments": {"names": [5]}}}]}`)
	o := in(t, "", "check", "--plan", file, "-c", config)
	for _, want := range []string{`"makr" is not one of the agents`, "and at most 10 are allowed", "plan.json:2:1: tasks[1].context.arguments.names: it is needed, and missing", "plan.json:3:", "tasks[2].context.arguments.least: "} {
		if o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("exit code %d, %q is not in\n%s%s", o.code, want, o.stdout, o.stderr)
		}
	}
	if strings.Contains(o.stderr, "tasks[3]") {
		t.Errorf("what is right is a fault:\n%s", o.stderr)
	}
	if strings.Count(o.stderr, "tasks[4]") != 1 {
		t.Errorf("what is wrong is missing as well:\n%s", o.stderr)
	}
}
