package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/schemas"
)

const joiningConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  alpha: {kind: external}
  patient: {kind: external, timeout: 2m}
  echo: {kind: echo}
  office: {kind: supervisor, profile: other}
profiles:
  desk:
    agents: [alpha, patient, echo, office]
    routers: [{kind: default, agent: alpha}]
    deadlines: {work: 2s}
    retry: {attempts: 2, wait: 100ms, timeout_growth: 1}
  other:
    agents: [alpha]
    routers: [{kind: default, agent: alpha}]
`

// TestOnlyExternalAgentsAreJoined: a program does not join beside an agent that the
// instance serves itself, where every second request would be its own.
func TestOnlyExternalAgentsAreJoined(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(joiningConfig, webSecret))
	i.up()
	for _, name := range []string{"echo", "office", "chat"} {
		o := i.podium("agent", "exec", "--name", name, "--", "cat")
		if o.code != exitUsage || !strings.Contains(o.stderr, "the running instance serves "+name+" itself") ||
			!strings.Contains(o.stderr, name+": {kind: external}") {
			t.Errorf("%s: exit code %d, %s", name, o.code, o.stderr)
		}
	}
	// An instance file that says otherwise does not help: the core refuses it.
	file := filepath.Join(i.data, "instance.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seed := filepath.Join(i.data, "credentials", "agent-echo.nk")
	forged := strings.Replace(string(text), `"external": {`, fmt.Sprintf(`"external": {"echo": {"seed": %q},`, seed), 1)
	if err = os.WriteFile(file, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	o := i.podium("agent", "exec", "--name", "echo", "--", "cat")
	if o.code != exitFailed || !strings.Contains(o.stderr, "served by the running instance itself") {
		t.Errorf("by the key alone: exit code %d, %s", o.code, o.stderr)
	}
	i.stop()
}

// TestTimeoutGivesWay: no program works longer than whoever asks waits, and the start
// of one that would says so.
func TestTimeoutGivesWay(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(joiningConfig, webSecret))
	i.up()
	worker := spawn(t, "--data", i.data, "agent", "exec", "--name", "alpha", "--timeout", "5m", "--", "sleep", "60")
	worker.says(t, "agent alpha takes requests")
	said := worker.stdout.String()
	for _, words := range []string{
		"--timeout 5m0s gives way: profile desk waits 2s for alpha", "--timeout 5m0s gives way: profile other waits 30s for alpha",
		"`timeout: 5m0s` for alpha in podium.yaml",
	} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not said:\n%s", words, said)
		}
	}
	worker.stop(t)
	for _, arguments := range [][]string{
		{"--name", "patient", "--timeout", "2m"}, {"--name", "patient"}, {"--name", "alpha"}, {"--name", "alpha", "--timeout", "1s"},
	} {
		worker = spawn(t, append(append([]string{"--data", i.data, "agent", "exec"}, arguments...), "--", "cat")...)
		worker.says(t, "takes requests")
		if said := worker.stdout.String(); strings.Contains(said, "gives way") {
			t.Errorf("%v: %s", arguments, said)
		}
		worker.stop(t)
	}
	i.stop()
}

// TestProgramsGetTheTimeOfTheConfiguration: a program that takes longer than
// deadlines.work runs once when podium.yaml gives its agent the time.
func TestProgramsGetTheTimeOfTheConfiguration(t *testing.T) {
	t.Parallel()
	i := install(t, strings.Replace(fmt.Sprintf(joiningConfig, webSecret), "default, agent: alpha", "default, agent: patient", 1))
	i.up()
	started := filepath.Join(i.folder, "started")
	script := fmt.Sprintf("echo run >> %q; sleep 4; echo 'at last'", started)
	worker := spawn(t, "--data", i.data, "agent", "exec", "--name", "patient", "--", "sh", "-c", script)
	worker.says(t, "takes requests")
	if o := i.podium("send", "--wait", "--profile", "desk", "slowly").succeeds(t); !strings.Contains(o.stdout, "at last") {
		t.Errorf("it is answered %s", o.stdout)
	}
	if runs, err := os.ReadFile(started); err != nil || string(runs) != "run\n" {
		t.Errorf("the program ran %q, %v", runs, err)
	}
	if run := i.run(i.runs()[0].ID); run.Status != schemas.RunCompleted || run.Tasks[0].Attempt != 1 || run.Ended.Sub(run.Started) < 3*time.Second {
		t.Errorf("%s after %d attempts and %s", run.Status, run.Tasks[0].Attempt, run.Ended.Sub(run.Started))
	}
	worker.stop(t)
	i.stop()
}
