package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/bus/registry"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestRunsTellOfTheAnswer: a run whose work is done, and whose answer nobody has
// got, is not listed as one that has completed.
func TestRunsTellOfTheAnswer(t *testing.T) {
	t.Parallel()
	delivery := func(state workflow.TaskState) *workflow.Task { return &workflow.Task{State: state} }
	for want, run := range map[string]*workflow.RunHistory{
		"  executing  ":  {Run: workflow.Run{Phase: workflow.PhaseExecuting}},
		"  assembling  ": {Run: workflow.Run{Phase: workflow.PhaseAssembling, Status: schemas.RunCompleted, Delivery: delivery(workflow.TaskRunning)}},
		"  assembling, its answer waits until 2026-01-01 13:00:00 (reply budget)  ": {Run: workflow.Run{
			Phase: workflow.PhaseAssembling, Status: schemas.RunCompleted,
			Delivery: &workflow.Task{State: workflow.TaskWaiting, Due: time.Date(2026, 1, 1, 13, 0, 0, 0, time.Local)},
		}},
		"  completed  ":                {Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Delivery: delivery(workflow.TaskCompleted)}},
		"  completed, answer failed  ": {Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Delivery: delivery(workflow.TaskFailed)}},
		"  completed, answer given up  ": {Run: workflow.Run{
			Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Reason: schemas.StopGivenUp, Delivery: delivery(workflow.TaskCancelled),
		}},
		"  completed, answer withheld  ": {Withheld: &schemas.ReplyWithheld{}, Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted}},
	} {
		var out bytes.Buffer
		if err := (&environment{stdout: &out}).printRuns([]*workflow.RunHistory{run}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

const roomConfig = `
agents:
  slow: {kind: exec, command: [sh, -c, 'cat >/dev/null; while [ ! -e go ]; do sleep 0.05; done; echo Done.'], concurrency: 1}
profiles:
  desk: {agents: [slow], routers: [{kind: default, agent: slow}], deadlines: {queue: 10m, work: 10m}}
`

// TestRunsShowWhyThereIsNoRoom: a run whose agent has as much as it can take is listed as waiting for room, and shown with why there is none.
func TestRunsShowWhyThereIsNoRoom(t *testing.T) {
	t.Parallel()
	i := install(t, roomConfig, "ledger: {shards: 1}")
	i.up()
	for range 4 { // one is at work, and two stand in its queue
		i.podium("send", "Please.").succeeds(t)
	}
	const waits = "waits for slow to have room"
	var listed string
	eventually(t, "one run waits for room", func() bool {
		listed = i.podium("runs").succeeds(t).stdout
		return strings.Count(listed, "executing, "+waits) == 1
	})
	if o := i.podium("runs", "--limit", "3").succeeds(t); strings.Count(o.stdout, "\n") != 4 || o.stderr != "1 older ones are not listed; --limit 4 lists all\n" {
		t.Errorf("three of four are\n%s%s", o.stdout, o.stderr)
	}
	if o := i.podium("runs", "--limit", "4").succeeds(t); strings.Count(o.stdout, "\n") != 5 || o.stderr != "" {
		t.Errorf("four of four are\n%s%s", o.stdout, o.stderr)
	}
	at := strings.Index(listed, "executing, "+waits)
	run, _, _ := strings.Cut(listed[strings.LastIndexByte(listed[:at], '\n')+1:], " ")
	shown := i.podium("runs", "show", run).succeeds(t).stdout
	for _, line := range []string{"state     executing, " + waits, "waits     slow has no room: it works on 1 at a time", "           " + waits} {
		if !strings.Contains(shown, "\n"+line+"\n") {
			t.Errorf("%q is not in\n%s", line, shown)
		}
	}
	i.write("go", "")
	eventually(t, "all have had their turn", func() bool { return strings.Count(i.podium("runs").stdout, "  completed  ") == 4 })
	i.stop()
	i.verify()
}

// TestRunsAreShownWithoutTheSeal: what only the agent that delivers the answer can open is
// nothing to whoever reads runs, and stays what it is in the history itself.
func TestRunsAreShownWithoutTheSeal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	reply := &schemas.Reply{Agent: "chat", Channel: "web", ReplyRef: "sealed-for-another"}
	run := &workflow.RunHistory{ID: "5f0c-1", Run: workflow.Run{Message: schemas.Incoming{Reply: reply}}}
	if err := (&environment{stdout: &out}).printLines([]*workflow.RunHistory{run}); err != nil {
		t.Fatal(err)
	}
	if said := out.String(); !strings.Contains(said, `"channel":"web"`) || strings.Contains(said, "sealed-for-another") {
		t.Errorf("%s", said)
	}
	if run.Message.Reply.ReplyRef == "" {
		t.Error("showing a run has changed it")
	}
}

// TestRunsShowWhoServesNow: what a run says of an agent that nobody served is as old as
// its record; whoever looks is told what is known now.
func TestRunsShowWhoServesNow(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	later := before.Add(time.Hour)
	for name, c := range map[string]struct {
		told    time.Time
		now     registry.Presence
		resting bool
		want    string
	}{
		"nobody, ever":           {want: "nobody serves clerk, and no sign of life of it is on record"},
		"since then":             {told: before, now: registry.Presence{LastSeen: before}, want: "nobody serves clerk since 2026-01-01 12:00:00"},
		"it came and went":       {now: registry.Presence{LastSeen: later}, want: "nobody serves clerk since 2026-01-01 13:00:00"},
		"it came and went again": {told: before, now: registry.Presence{LastSeen: later}, want: "nobody serves clerk since 2026-01-01 13:00:00"},
		"it is there":            {told: before, now: registry.Presence{Served: true, LastSeen: later}},
		"it was there":           {told: before, now: registry.Presence{Served: true, LastSeen: later}, resting: true, want: "nobody serves clerk since 2026-01-01 13:00:00"},
		"it is forgotten":        {told: before, want: "nobody serves clerk since 2026-01-01 12:00:00"},
	} {
		waits := workflow.Task{Agent: "clerk", State: workflow.TaskDispatched, Unserved: &workflow.Unserved{Since: c.told}}
		run := &workflow.RunHistory{Run: workflow.Run{Phase: workflow.PhaseExecuting, DecisionTasks: []*workflow.Task{&waits}, Tasks: []*workflow.Task{&waits, {Agent: "echo"}}, Delivery: &waits}}
		if err := waitsNow(run, !c.resting, func(agent string) (registry.Presence, error) {
			if agent != "clerk" {
				return registry.Presence{}, errors.New("nothing waits for it")
			}
			return c.now, nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		told := view.Run(run, nil, "")
		if said := strings.Count(told, "nobody serves"); c.want == "" && said > 0 || c.want != "" && strings.Count(told, c.want+"\n") != 4 { // each task, and the run
			t.Errorf("%s: %q is not what is told:\n%s", name, c.want, told)
		}
	}
}

const makingConfig = `
agents:
  maker: {kind: exec, command: [sh, -c, 'cat >/dev/null; mkdir -p "$PODIUM_DIR/out/src"; echo one >"$PODIUM_DIR/out/src/a.txt"; echo two >"$PODIUM_DIR/out/b.txt"; echo Done.']}
profiles:
  desk: {agents: [maker], routers: [{kind: default, agent: maker}]}
`

// TestRunFiles: what a run has made is listed, and written with its folders, while the service runs and when it does not.
func TestRunFiles(t *testing.T) {
	t.Parallel()
	i := install(t, makingConfig)
	i.up()
	i.podium("send", "--wait", "Please.").succeeds(t)
	run := i.runs()[0].ID
	made := filepath.Join(i.folder, "made")
	files := func(code int, want string, arguments ...string) {
		t.Helper()
		o := i.podium(append([]string{"runs", "files", run}, arguments...)...)
		if o.code != code || !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("runs files %q: exit code %d, %q is not in\n%s%s", arguments, o.code, want, o.stdout, o.stderr)
		}
	}
	files(exitOK, "src/a.txt  4 ")
	files(exitOK, filepath.Join(made, "src", "a.txt"), "src", "--out", made)
	files(exitNotFound, `has no file "c.txt"`, "c.txt")
	files(exitNotFound, `has no task "t9"`, "--task", "t9")
	files(exitUsage, "--out", "--force")
	i.stop()
	if err := os.WriteFile(filepath.Join(made, "b.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files(exitFailed, "b.txt is there with another content", "--out", made)
	files(exitOK, `a.txt","kept":true}`, "--out", made, "--force", "-o", "json")
	for name, want := range map[string]string{"src/a.txt": "one\n", "b.txt": "two\n"} {
		if is, err := os.ReadFile(filepath.Join(made, name)); err != nil || string(is) != want {
			t.Errorf("%s is %q, %v", name, is, err)
		}
	}
}
