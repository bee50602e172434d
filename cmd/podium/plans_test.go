package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/config"
	"podium/cmd/podium/taskplan"
	"podium/schemas/workflow"
)

const plansConfig = `
agents:
  first: {kind: echo}
  second: {kind: exec, command: [bash, -c, 'until [[ -e go ]]; do sleep 0.02; done; echo done'], timeout: 5m}
profiles:
  desk:
    language: en
    agents: [first, second]
    planner:
      kind: template
      templates:
        - name: report
          keywords: [report]
          tasks:
            - {task: read, agent: first, description: Read it}
            - {task: write, agent: second, description: Write it, dependencies: [read]}
    routers: [{kind: assigned}, {kind: default, agent: first}]
    deadlines: {work: 5m}
    outputs: {plans: "${Some_workspace:-/nowhere/that/can/be/made}"}
`

// upWith starts the service with one more variable in its environment.
func (i *deployment) upWith(variable string) {
	i.t.Helper()
	command := exec.CommandContext(context.WithoutCancel(i.t.Context()), binary(i.t), "up", "-c", i.config, "--data", i.data)
	command.Env = append(os.Environ(), variable)
	i.process = launch(i.t, command)
	i.process.says(i.t, "podium is up")
}

// plansIn reads the files of a folder of plans.
func plansIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		body, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was written under another name, and has been renamed since it was listed
		}
		if err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = string(body)
	}
	return found
}

// TestPlansAreWritten: while a run goes on its plan stands in a file of the directory that a variable names, under the time at which it was made,
// with the states of its steps. It goes on after a crash, is written again from the ledger when it is lost, and a run tells where it is.
func TestPlansAreWritten_O24_O25_O30(t *testing.T) {
	t.Parallel()
	i, folder := install(t, plansConfig), filepath.Join(t.TempDir(), "made", "when", "missing")
	i.upWith("Some_workspace=" + folder)
	i.podium("send", "--wait", "no plan").succeeds(t)
	i.podium("send", "a report on # otters").succeeds(t)
	var run workflow.RunHistory
	within(t, time.Minute, "the first step is done and the second under way", func() bool {
		for _, written := range plansIn(t, folder) {
			if strings.Contains(written, "(completed)") && strings.Contains(written, "(in_progress)") {
				return true
			}
		}
		return false
	})
	for _, one := range i.runs() {
		if len(one.Tasks) == 2 {
			run = one
		}
	}
	name := "task_plan_" + run.Planned.UTC().Format("20060102_150405") + "_" + run.ID + ".md"
	document := "# Task Plan\n\n**Created:** " + run.Planned.UTC().Format(time.DateTime) + "\n\n## Question\na report on # otters\n\n## Tasks\n\n" +
		"1. **Read it** `first` (completed)\n   - id: `read`\n2. **Write it** `second` (in_progress)\n   - id: `write`, after `read`\n"
	if found := plansIn(t, folder); len(found) != 1 || found[name] != document {
		t.Errorf("%v, want %s with\n%s", found, name, document)
	}
	i.kill()
	i.write("go", "")
	i.upWith("Some_workspace=" + folder)
	document = strings.Replace(document, "in_progress", "completed", 1)
	within(t, time.Minute, "the plan is at its end", func() bool { return plansIn(t, folder)[name] == document })

	var shown struct {
		Path string `json:"task_plan_path"`
	}
	if err := json.Unmarshal([]byte(i.podium("runs", "show", run.ID, "-o", "json").succeeds(t).stdout), &shown); err != nil || shown.Path != filepath.Join(folder, name) {
		t.Errorf("%q, %v", shown.Path, err)
	}
	if said := i.podium("runs", "show", run.ID).succeeds(t).stdout; !strings.Contains(said, "plan file "+shown.Path) {
		t.Error(said)
	}
	if said := i.podium("plan", run.ID).succeeds(t).stdout; said != document {
		t.Error(said)
	}
	elsewhere := t.TempDir()
	if said := i.podium("plan", run.ID, "--out", elsewhere).succeeds(t).stdout; said != filepath.Join(elsewhere, name)+"\n" || plansIn(t, elsewhere)[name] != document {
		t.Error(said)
	}

	i.podium("send", "--wait", "a report on herons").succeeds(t)
	i.podium("send", "--wait", "a report on eels").succeeds(t)
	within(t, time.Minute, "all are written", func() bool {
		found := plansIn(t, folder)
		return len(found) == 3 && strings.Count(strings.Join(values(found), ""), "(completed)") == 6
	})
	held := plansIn(t, folder)
	i.stop()
	kept, err := filepath.Glob(filepath.Join(i.data, "plans", "shard-*.json"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, lost := range append(kept, filepath.Join(folder, name)) {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
	}
	i.upWith("Some_workspace=" + folder)
	within(t, time.Minute, "the lost plan is written again", func() bool { return plansIn(t, folder)[name] == document })
	if found := plansIn(t, folder); strings.Join(values(found), "") != strings.Join(values(held), "") {
		t.Errorf("%v", found)
	}
	i.stop()
	i.verify()

	command := exec.CommandContext(t.Context(), binary(t), "up", "-c", i.config, "--data", i.data)
	command.Env = append(os.Environ(), "Some_workspace=/dev/null/plans")
	if said, err := command.CombinedOutput(); err == nil || !strings.Contains(string(said), "profiles.desk.outputs.plans") {
		t.Errorf("%v\n%s", err, said)
	}
}

// values are those of a map in the order of its keys.
func values(of map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[name])
	}
	return all
}

// TestTwoPlansOfOneSecond have two files.
func TestTwoPlansOfOneSecond_O25(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 12, 22, 10, 30, 0, 0, time.UTC)
	first, second := workflow.RunHistory{ID: "5f0c-1", Run: workflow.Run{Planned: at}}, workflow.RunHistory{ID: "5f0c-2", Run: workflow.Run{Planned: at.Add(time.Millisecond)}}
	if one, other := taskplan.Name(&first), taskplan.Name(&second); one != "task_plan_20251222_103000_5f0c-1.md" || other != "task_plan_20251222_103000_5f0c-2.md" {
		t.Errorf("%s and %s", one, other)
	}
}

// TestWorkspace: the profile's directory of plans is that of the variable, and has a default.
func TestWorkspace_O32(t *testing.T) { //nolint:paralleltest // it changes the environment
	for value, want := range map[string]string{"": "/OHMind_workspace", "/srv/plans": "/srv/plans"} {
		t.Setenv("OHMind_workspace", value)
		settings, err := config.Load(filepath.Join(assistantProfile, "podium.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range settings.Profiles {
			if profile.Outputs.Plans != want {
				t.Errorf("%q: %q, want %q", value, profile.Outputs.Plans, want)
			}
		}
	}
}
