package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/daybudget"
	"podium/schemas"
)

const budgetConfig = `
agents:
  coder:
    kind: exec
    command: [sh, -c, 'cat >/dev/null; echo "{\"status\":\"completed\",\"result\":{\"text\":\"Coded.\"},\"resource_usage\":{\"tokens_used\":900,\"cost_micros\":2500000}}"']
  writer:
    kind: exec
    command: [sh, -c, 'cat >/dev/null; echo "{\"status\":\"failed\",\"issues_encountered\":[{\"severity\":\"high\",\"description\":\"No ink.\",\"resolution\":\"escalated\"}],\"resource_usage\":{\"tokens_used\":300}}"']
profiles:
  team:
    language: en
    agents: [coder, writer]
    routers: [{kind: assigned}]
    execution: {mode: dag}
    planner:
      kind: template
      templates:
        - name: both
          tasks:
            - {task: code, agent: coder, description: Code it., tokens: 800}
            - {task: write, agent: writer, description: Write it., tokens: 500, dependencies: [code], optional: true}
            - {task: test, agent: coder, description: Test it., tokens: 600, dependencies: [code]}
    budget: {run: {tokens: 1000}, day: {tokens: 5000, money: 100}, agent_day: {writer: {tokens: 600}}, reserve: 50, reserve_money: 1, exhausted: ask, people: [requester]}
`

// TestRaise_P19: a run that has used up its budget asks whoever wrote for more. What is raised by a command or by their own word goes on; what agents have used is told for each of them,
// also where it came to nothing, and people who say no get what is there.
func TestRaise_P19(t *testing.T) {
	t.Parallel()
	i := install(t, budgetConfig)
	i.up()
	ask := func(thread string) waitingInquiry {
		t.Helper()
		waits := i.podium("send", "Please do it.", "--thread", thread, "--wait", "--timeout", "1m", "-o", "json")
		asked := lines[waitingInquiry](t, outcome{stdout: waits.stdout})
		if waits.code != exitAsks || len(asked) != 1 || asked[0].Kind != schemas.HumanTaskBudget || asked[0].Answer != "podium raise "+asked[0].ID {
			t.Fatalf("who waits sees %d %q\n%s", waits.code, waits.stdout, waits.stderr)
		}
		return asked[0]
	}
	first := ask("one")
	if want := "Of 1000 tokens there are 900 tokens used or reserved, and the next step needs 600 tokens"; !strings.Contains(first.Question, want) {
		t.Errorf("it asks %q", first.Question)
	}
	open := lines[openInquiry](t, i.podium("inbox", "-o", "json").succeeds(t))
	if len(open) != 1 || open[0].Shortage == nil || open[0].Shortage.Offer.Tokens != 500 || open[0].Task != "test" {
		t.Errorf("the inbox has %+v", open)
	}
	if said := i.podium("approve", first.ID); said.code != exitFailed || !strings.Contains(said.stderr, "podium raise "+first.ID) {
		t.Errorf("another word: %d %s", said.code, said.stderr)
	}
	for _, amount := range [][]string{{"--tokens=-5"}, {"--tokens", "0"}, {"--seconds", "0"}, {"--money", "0"}, {"--money", "nan"}, {"--tokens", "100", "--seconds", "0"}} {
		if said := i.podium(append([]string{"raise", first.ID}, amount...)...); said.code != exitUsage || !strings.Contains(said.stderr, "write one above 0") {
			t.Errorf("by %v: %d %s", amount, said.code, said.stderr)
		}
	}
	if said := i.podium("raise", first.ID, "--tokens", "2000").succeeds(t); !strings.Contains(said.stdout, "is decided") {
		t.Errorf("it says %q", said.stdout)
	}
	i.podium(strings.Fields(first.Follow)[1:]...).succeeds(t)
	if again := i.podium("raise", first.ID); again.code != exitFailed || !strings.Contains(again.stderr, "decided already: raised") {
		t.Errorf("once more: %d %s", again.code, again.stderr)
	}
	shown := i.podium("runs", "show", first.Run).succeeds(t).stdout
	for _, words := range []string{"used      1800 tokens", "a cost of 5.00; its budget was raised by 2000 tokens\n"} {
		if !strings.Contains(shown, words) {
			t.Errorf("it shows\n%s", shown)
		}
	}

	second := ask("two")
	said := i.podium("send", "raise 700", "--thread", "two", "--wait", "--timeout", "1m")
	if said.code != exitOK || !strings.Contains(said.stdout, "Coded.") {
		t.Errorf("by their own word: %d %s%s", said.code, said.stdout, said.stderr)
	}
	third := ask("three")
	i.podium("reject", third.ID).succeeds(t)
	if o := i.podium("runs", "watch", third.Run); !strings.Contains(o.stdout, "The budget of this work is used up.") || !strings.Contains(o.stdout, "Coded.") {
		t.Errorf("who has said no sees %d\n%s", o.code, o.stdout)
	}
	for id, want := range map[string]schemas.StopReason{first.Run: schemas.StopCompleted, second.Run: schemas.StopCompleted, third.Run: schemas.StopBudget} {
		if run := i.run(id); run.Reason != want {
			t.Errorf("run %s ends %s (%s), want %s", id, run.Status, run.Reason, want)
		}
	}
	dayOf := func(told outcome) map[string]daybudget.Line {
		of := map[string]daybudget.Line{}
		for _, line := range lines[daybudget.Line](t, told.succeeds(t)) {
			of[line.Agent] = line
		}
		return of
	}
	used := dayOf(i.podium("budget", "-o", "json"))
	if all := used[""]; all.Profile != "team" || all.Used.Tokens == 0 || all.Used.Tokens != used["coder"].Used.Tokens+used["writer"].Used.Tokens || all.Limit.Tokens != 5000 || used["writer"].Limit.Tokens != 600 || all.Requests != 0 {
		t.Errorf("of the day it says %+v", used)
	}
	if table := i.podium("budget").succeeds(t).stdout; !strings.Contains(table, "(all)") || !strings.Contains(table, " tokens, a cost of 100.00") {
		t.Errorf("of the day it says\n%s", table)
	}
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "podium.yaml"), []byte(strings.Replace(budgetConfig, "day: {tokens: 5000", "day: {tokens: 70000", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	budgetThere := func() string {
		said := exec.CommandContext(t.Context(), binary(t), "--data", i.data, "budget")
		said.Dir = elsewhere
		out, err := said.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	if table := budgetThere(); !strings.Contains(table, "5000 tokens") || !strings.Contains(table, "limits by "+i.instance().Config+"\n") || used[""].Config != i.instance().Config {
		t.Errorf("in the folder of another project, while it runs by %s, it says %s\n%s", i.instance().Config, used[""].Config, table)
	}
	if o := i.podium("budget", "--day", "2020-02-02", "other"); o.code != exitNotFound {
		t.Errorf("of a day without any: %d %s", o.code, o.stderr)
	}
	i.stop()
	if atRest := dayOf(i.podium("budget", "-o", "json")); atRest[""].Used != used[""].Used {
		t.Errorf("at rest it says %+v", atRest)
	}
	if table := budgetThere(); !strings.Contains(table, "70000 tokens") || !strings.Contains(table, "limits by podium.yaml\n") {
		t.Errorf("in the folder of another project, at rest, it says\n%s", table)
	}
	i.verify()
}
