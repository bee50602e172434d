package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

const scriptedExample = "../../deploy/examples/scripted/"

// scriptedInstallation is the example of scripts as its readers run it.
func scriptedInstallation(t *testing.T) *deployment {
	t.Helper()
	files, err := filepath.Glob(scriptedExample + "*")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(body)
	}
	i := install(t, texts["podium.yaml"])
	for name, text := range texts {
		if name != "podium.yaml" {
			i.write(name, text)
		}
	}
	return i
}

// asksInVain sends words whose run does not complete, and returns it with what is said.
func (i *deployment) asksInVain(words string) (run workflow.RunHistory, answer string) {
	i.t.Helper()
	sent := i.podium("send", "--wait", "-o", "json", words)
	var said struct{ Run, Answer string }
	if err := json.Unmarshal([]byte(sent.stdout), &said); err != nil || sent.code == exitOK {
		i.t.Fatalf("send %s: exit code %d, %v\n%s%s", words, sent.code, err, sent.stdout, sent.stderr)
	}
	return i.run(said.Run), said.Answer
}

// asksBack sends words that lead to a question, and has the console answer it.
func (i *deployment) asksBack(words, question, answer string) workflow.RunHistory {
	i.t.Helper()
	i.podium("send", words).succeeds(i.t)
	var open struct{ ID, Question string }
	within(i.t, patience, "a question is open", func() bool {
		said := i.podium("inbox", "-o", "json").succeeds(i.t).stdout
		return json.Unmarshal([]byte(said), &open) == nil && open.Question == question
	})
	i.podium("answer", open.ID, answer).succeeds(i.t)
	id, _, _ := strings.Cut(open.ID, ".")
	within(i.t, patience, "the run has ended", func() bool { return i.run(id).Phase == workflow.PhaseComplete })
	return i.run(id)
}

// TestScriptedExample plays the example: a plan, an agent that fails at first and acts with a permit then, one
// whose part is all there is, with data, a file and advice, one that needs to know more, one that has nothing
// to say, and a plan that is none.
func TestScriptedExample(t *testing.T) {
	t.Parallel()
	i := scriptedInstallation(t)
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	run, answer := i.asksInVain("An appointment on Monday and my findings, please")
	if run.Status != schemas.RunPartial || len(run.Tasks) != 2 || answer != "Only part of the work could be done. These are the results so far:\n\nYou have an appointment at ten. (2 attempts) One of two findings is there.\n\n"+
		"It is recommended:\n- Ask the laboratory for the other one." {
		t.Fatalf("%s, %d tasks, answered %q", run.Status, len(run.Tasks), answer)
	}
	book, look := run.Tasks[0], run.Tasks[1]
	if book.Attempt != 2 || book.Permit == "" || book.Tokens != 42 || book.Partial || book.Failure().Detail != "The calendar is away." {
		t.Errorf("the appointment: %+v", book)
	}
	said := look.Said()
	if look.Attempt != 1 || look.Permit != "" || !look.Partial || string(look.Result.Data) != `{"findings":[{"date":"2026-11-02","name":"blood count"}]}` ||
		!slices.Equal(said.Recommendations, []string{"Ask the laboratory for the other one."}) || len(said.ValidationResults) != 1 || said.ValidationResults[0].Validator != "register" {
		t.Errorf("the findings: %+v, %+v", look, said)
	}
	var file schemas.Artifact
	if len(look.Deliverables) != 1 || look.Deliverables[0].Path != "findings.txt" || schemas.Unmarshal(look.Deliverables[0].Metadata, &file) != nil || file.Size != 30 {
		t.Errorf("the file: %+v", look.Deliverables)
	}
	run = i.asksBack("Ask the laboratory", "Which laboratory?", "The one in Hall Street")
	if run.Status != schemas.RunCompleted || len(run.Tasks) != 1 || run.Tasks[0].Attempt != 2 || run.Answer[0].Body.Text != "Asked: The one in Hall Street" {
		t.Errorf("what needs to know more: %s, %+v", run.Status, run.Tasks)
	}
	if run = i.asksBack("Ask the laboratory once more", "Which laboratory?", "The one at the sea"); run.Status != schemas.RunCompleted || run.Answer[0].Body.Text != "There is no such laboratory: The one at the sea" {
		t.Errorf("what it is answered to another one: %s, %+v", run.Status, run.Tasks)
	}
	run, answer = i.asksInVain("Coffee")
	if run.Status != schemas.RunFailed || run.Tasks[0].Attempt != 1 || answer != "This could not be done. The script has nothing for: Look for anything else" {
		t.Errorf("what no case is for: %s, %q", run.Status, answer)
	}
	run, _ = i.asksInVain("Garbage")
	if run.Status != schemas.RunFailed || run.Reason != schemas.StopInvalidPlan || len(run.PlanFaults) == 0 {
		t.Errorf("a plan that is none: %s, %s, %v", run.Status, run.Reason, run.PlanFaults)
	}
	i.stop()
	i.verify()
}

// troublesConfig has agents whose scripts are trouble.
const troublesConfig = `
agents:
  garbage: {kind: scripted, script: garbage.yaml, output_schema: {type: object, required: [total]}}
  slow: {kind: scripted, script: slow.yaml}
  letters: {kind: scripted, script: letters.yaml, side_effects: external}
profiles:
  desk:
    agents: [garbage, {name: slow, work: 1s}, {name: letters, on_unknown: ask, on_tainted: allow}]
    routers: [{kind: keywords, groups: [{agent: garbage, keywords: [garbage]}, {agent: slow, keywords: [slow]}]}, {kind: default, agent: letters}]
    retry: {attempts: 2, wait: 50ms}
`

// TestScriptedTroubles: garbage is refused by the agent's own schema, a delay beyond the deadline is an agent that
// hangs, and of an effect that nobody knows of a person is asked.
func TestScriptedTroubles(t *testing.T) {
	t.Parallel()
	i := install(t, troublesConfig)
	i.write("garbage.yaml", "cases:\n  - {attempt: 1, data: {sum: 7}}\n  - {text: Seven., data: {total: 7}}\n")
	i.write("slow.yaml", "cases:\n  - {attempt: 1, delay: 1h}\n  - {text: Here I am.}\n")
	i.write("letters.yaml", "cases:\n  - {acts: true, fail: unknown, text: The post office is on fire.}\n")
	i.up()
	run, answer := i.answered("garbage, please")
	if answer != "Seven." || run.Tasks[0].Attempt != 2 || run.Tasks[0].Failure().Cause != schemas.FailureInvalidResult || !strings.Contains(run.Tasks[0].Failure().Detail, "total") {
		t.Errorf("garbage is answered %q after %+v", answer, run.Tasks[0].Failure())
	}
	run, answer = i.answered("slow, please")
	if answer != "Here I am." || run.Tasks[0].Attempt != 2 || run.Tasks[0].Failure().Cause != schemas.FailureTimeout {
		t.Errorf("what hangs is answered %q after %+v", answer, run.Tasks[0].Failure())
	}
	run, _ = i.asksInVain("A letter, please")
	if run.Tasks[0].Attempt != 1 || run.Tasks[0].Permit == "" || run.Tasks[0].Failure().Cause != schemas.FailureUnknownEffect || !strings.Contains(run.Tasks[0].Failure().Detail, "The post office is on fire.") {
		t.Errorf("what nobody knows of ends %s (%s): %+v", run.Status, run.Reason, run.Tasks[0])
	}
	i.stop()
	i.verify()
}

// TestCheckScripts: mistakes in scripts are named with those of the configuration's other files, each with its
// place.
func TestCheckScripts(t *testing.T) {
	t.Parallel()
	i := scriptedInstallation(t)
	i.write("records.yaml", "cases:\n  - match: [findings]\n    test: Nothing.\n")
	i.write("calendar.yaml", "cases:\n  - {fail: unknown, text: \"{{.wrods}}\"}\n")
	o := i.podium("check", "-c", i.config)
	for _, want := range []string{
		`calendar.yaml:2:5: cases[0]: fail: unknown is for a case that acts: write acts: true`, `calendar.yaml:2:27: cases[0].text: unknown {{.wrods}}; it can be: words,`,
		`records.yaml:3:5: cases[0]: unknown key "test"; did you mean "text"?`,
	} {
		if o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%q is not said; exit code %d\n%s", want, o.code, o.stderr)
		}
	}
	if up := i.podium("up", "-c", i.config); up.code != exitUsage || !strings.Contains(up.stderr, "records.yaml:3:5") {
		t.Errorf("it starts all the same: exit code %d\n%s", up.code, up.stderr)
	}
}
