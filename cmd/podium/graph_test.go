package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

const graphExample = "../../deploy/examples/graph/"

// graphInstallation is the example of graphs as its readers run it.
func graphInstallation(t *testing.T) *deployment {
	t.Helper()
	config, err := os.ReadFile(graphExample + "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(config), "${WEB_TOKEN}", "any-16-characters-or-more")
	i := install(t, strings.Replace(text, "ledger: {data: ./podium-data}\n", "", 1))
	script, err := os.ReadFile(graphExample + "note.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(i.folder, "note.sh"), script, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	i.up()
	return i
}

func (i *deployment) answered(arguments ...string) (run workflow.RunHistory, answer string) {
	i.t.Helper()
	sent := i.podium(append([]string{"send", "--wait", "-o", "json"}, arguments...)...)
	var said struct{ Run, Answer string }
	if err := json.Unmarshal([]byte(sent.stdout), &said); sent.code != exitOK || err != nil {
		i.t.Fatalf("send %v: exit code %d, %v\n%s%s", arguments, sent.code, err, sent.stdout, sent.stderr)
	}
	shown := i.podium("runs", "show", said.Run, "-o", "json")
	if err := json.Unmarshal([]byte(shown.stdout), &run); err != nil {
		i.t.Fatalf("runs show: %v\n%s%s", err, shown.stdout, shown.stderr)
	}
	return run, said.Answer
}

// TestGraphExample plays the example: a template that the words pick, a
// plan that comes with a request (M-16), one that cannot be carried out,
// and a supervisor as the agent of another one.
func TestGraphExample_M16(t *testing.T) {
	t.Parallel()
	i := graphInstallation(t)
	run, answer := i.answered("--profile", "graph", "write a report about otters")
	if run.Template != "report" || len(run.Tasks) != 4 || answer != "Write about otters: done, knowing 3 results." {
		t.Errorf("template %q, %d tasks, answer %q", run.Template, len(run.Tasks), answer)
	}
	if levels := [4]int{run.Tasks[0].Level, run.Tasks[1].Level, run.Tasks[2].Level, run.Tasks[3].Level}; levels != [4]int{0, 1, 1, 2} {
		t.Errorf("levels %v", levels)
	}
	run, answer = i.answered("--profile", "graph", "--plan", graphExample+"plan.json")
	if run.Source != schemas.PlannerExternal || len(run.Tasks) != 4 || answer != "Put both together: done, knowing 2 results." {
		t.Errorf("source %q, %d tasks, answer %q", run.Source, len(run.Tasks), answer)
	}
	run, answer = i.answered("--profile", "desk", "a report about herons, please")
	if len(run.Tasks) != 1 || run.Tasks[0].Agent != "reports" || !strings.HasPrefix(answer, "Write about herons") {
		t.Errorf("%d tasks, answer %q", len(run.Tasks), answer)
	}
	i.refusesUnknown()
	if quarantined := i.podium("quarantine", "-o", "json"); strings.TrimSpace(quarantined.stdout) != "" {
		t.Errorf("in quarantine: %s", quarantined.stdout)
	}
	i.stop()
	i.verify()
}

// refusesUnknown sends a plan for an agent that the profile has not, which only the run
// can know, and one whose tasks depend on each other in a circle, which is not sent.
func (i *deployment) refusesUnknown() {
	i.t.Helper()
	plan := filepath.Join(i.folder, "plan.json")
	write := func(dependencies string) {
		body := `{"tasks":[{"task_id":"a","description":"a","assigned_to":"note"` + dependencies + `},` +
			`{"task_id":"b","description":"b","assigned_to":"nobody","dependencies":["a"]}]}`
		if err := os.WriteFile(plan, []byte(body), 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
	write("")
	sent := i.podium("send", "--profile", "graph", "--plan", plan, "--wait", "-o", "json")
	var said struct{ Run, Reason string }
	if err := json.Unmarshal([]byte(sent.stdout), &said); err != nil || sent.code == exitOK || said.Reason != string(schemas.StopInvalidPlan) {
		i.t.Fatalf("exit code %d, %v\n%s%s", sent.code, err, sent.stdout, sent.stderr)
	}
	shown := i.podium("runs", "show", said.Run).stdout
	if fault := "The task “b” names the agent “nobody”, which may not be asked."; !strings.Contains(shown, fault) {
		i.t.Errorf("%q is not told:\n%s", fault, shown)
	}
	before := len(i.runs())
	named := func(words string) outcome {
		body := `{"message_id":"5f1c2b7e-5a0d-4c1e-9a53-3f1a0b8d4e77","payload":{"tasks":[{"task_id":"a","description":"` + words + `","assigned_to":"note"}]}}`
		if err := os.WriteFile(plan, []byte(body), 0o600); err != nil {
			i.t.Fatal(err)
		}
		return i.podium("send", "--profile", "graph", "--plan", plan, "--wait", "-o", "json")
	}
	first, again := named("one"), named("one")
	if first.stdout != again.stdout || len(i.runs()) != before+1 {
		i.t.Errorf("a plan that is sent again is answered\n%s and not\n%s", again.stdout, first.stdout)
	}
	if other := named("two"); other.code != exitFailed || !strings.Contains(other.stderr, "is that of another plan") || len(i.runs()) != before+1 {
		i.t.Errorf("another plan of the same message_id: exit code %d\n%s%s", other.code, other.stdout, other.stderr)
	}
	before++
	write(`,"dependencies":["b"]`)
	sent = i.podium("send", "--profile", "graph", "--plan", plan, "--wait")
	if sent.code != exitUsage || !strings.Contains(sent.stderr, `in a circle, so that none of them could begin: "a" → "b" → "a"`) || len(i.runs()) != before {
		i.t.Errorf("a circle: exit code %d, %d runs\n%s%s", sent.code, len(i.runs())-before, sent.stdout, sent.stderr)
	}
}
