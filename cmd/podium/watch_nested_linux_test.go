package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/schemas/workflow"
	"podium/supervisor/say"
)

const teamConfig = `
agents: {alpha: {kind: external}, team: {kind: supervisor, profile: inner}}
profiles:
  desk: {language: en, agents: [team], routers: [{kind: default, agent: team}], retry: {attempts: 1}}
  inner: {language: en, agents: [alpha], routers: [{kind: default, agent: alpha}], retry: {attempts: 1}}
`

// A watchedLine is what runs watch -o json prints on a line.
type watchedLine struct {
	Event, Run, Parent, Phase, Status, Reason string

	ParentTask string `json:"parent_task"`
	Answer     *string
	Why, Said  []string
	Tasks      []*workflow.Task
}

// watchedLines reads the whole lines that were printed so far.
func watchedLines(t *testing.T, printed string) (told []watchedLine) {
	t.Helper()
	for line := range strings.Lines(printed[:strings.LastIndexByte(printed, '\n')+1]) {
		var one watchedLine
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		told = append(told, one)
	}
	return told
}

// TestNestedRunsAreWatched: what a supervisor below has begun is shown while it goes on,
// beneath its task, as lines, and to programs; in the end with why it has failed, also to
// whoever looks later.
func TestNestedRunsAreWatched(t *testing.T) {
	t.Parallel()
	i := install(t, teamConfig)
	i.up()
	agent := connectPlain(t, i, "alpha")
	i.podium("send", "--profile", "desk", "otters").succeeds(t)
	request := agent.pull()
	runs := i.runs()
	parent := slices.IndexFunc(runs, func(run workflow.RunHistory) bool { return run.Message.Upstream == nil })
	id, child := runs[parent].ID, runs[1-parent].ID
	drawn := i.inTerminal(100, 24, nil, "runs", "watch", id)
	told := spawn(t, "--data", i.data, "runs", "watch", id)
	programs := spawn(t, "--data", i.data, "runs", "watch", id, "-o", "json")
	agent.publish("podium.agent.alpha.progress", request.progress("alpha", 40, "reading on"))
	drawn.waitsFor("▸ t1   team", "↳ inner 0 %  executing, run "+child, "    ▸ t1   alpha running", "40 %: reading on")
	told.says(t, "  t1 › t1: 40 % reading on\n")
	programs.says(t, "reading on")
	progressed := func(line watchedLine) bool {
		return line.Event == "change" && line.Run == child && line.Parent == id && line.ParentTask == "t1" && line.Phase == "executing" &&
			slices.Contains(line.Said, "t1: 40 % reading on") && len(line.Tasks) == 1 && line.Tasks[0].Agent == "alpha" && line.Tasks[0].Message == "reading on"
	}
	eventually(t, "programs are told of the change", func() bool {
		return slices.ContainsFunc(watchedLines(t, programs.stdout.String()), progressed)
	})
	agent.publish(request.replyTo, strings.Replace(request.response("alpha", "failed", ""), `"payload":{`, `"payload":{"issues_encountered":[{"issue_id":"i","severity":"high",`+
		`"description":"the page is torn","resolution":"deferred"}],`, 1))
	agent.acknowledge(request)
	lines, _ := drawn.left(exitFailed)
	for _, want := range []string{"  ✗ t1    team failed", "    ↳ inner 0 %  failed (task_failed), run " + child, "      ✗ t1   alpha failed", "attempt 1: agent_failed the page is torn"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("%q is not in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	told.ends(t, exitFailed)
	if all := told.stdout.String(); !strings.Contains(all, "  t1 › settled: failed (task_failed): The task t1 of the agent alpha has failed: agent_failed.\n") {
		t.Errorf("as lines it says\n%s", all)
	}
	programs.ends(t, exitFailed)
	later := i.podium("runs", "watch", id, "-o", "json")
	for name, printed := range map[string]string{"while it went on": programs.stdout.String(), "later": later.stdout} {
		all := watchedLines(t, printed)
		if last := all[len(all)-1]; last.Event != "outcome" || last.Run != id || last.Status != "failed" || last.Answer == nil || len(last.Why) == 0 {
			t.Errorf("%s the last line is %+v", name, last)
		}
		if !slices.ContainsFunc(all, progressed) || !slices.ContainsFunc(all, func(line watchedLine) bool {
			return line.Run == child && line.Phase == "complete" && slices.Contains(line.Why, "The task t1 of the agent alpha has failed: agent_failed.")
		}) {
			t.Errorf("%s programs are told\n%s", name, printed)
		}
	}
	i.stop()
	i.verify()
}

// TestRefusedPlanIsWatched: whoever watches reads every fault of the plan.
func TestRefusedPlanIsWatched(t *testing.T) {
	t.Parallel()
	i := install(t, manyConfig)
	i.up()
	var tasks []string
	for n := range 40 {
		tasks = append(tasks, fmt.Sprintf(`{"task_id":"t%d","description":"d","assigned_to":"nobody%d","dependencies":[]}`, n, n))
	}
	i.write("refused.json", `{"tasks":[`+strings.Join(tasks, ",")+`]}`)
	lines, _ := i.inTerminal(80, 24, nil, "send", "--profile", "desk", "--plan", i.folder+"/refused.json", "--wait").left(exitFailed)
	run := i.runs()[0]
	if len(run.PlanFaults) < 10 {
		t.Fatalf("the plan has the faults %q", run.PlanFaults)
	}
	watched := i.podium("runs", "watch", run.ID)
	programs := watchedLines(t, i.podium("runs", "watch", run.ID, "-o", "json").stdout)
	unbroken := strings.Join(lines, "")
	for _, of := range run.PlanFaults {
		fault := say.Reason(say.English(), of)
		if !strings.Contains(unbroken, fault) || !strings.Contains(watched.stdout, fault) ||
			!slices.ContainsFunc(programs, func(line watchedLine) bool { return line.Event == "change" && slices.Contains(line.Why, fault) }) {
			t.Errorf("%q is not told:\n%s\n%s\n%+v", fault, strings.Join(lines, "\n"), watched.stdout, programs)
		}
	}
	i.stop()
}
