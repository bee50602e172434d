package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"podium/agents/llm/modelserver"
	"podium/schemas"
	"podium/supervisor/score"
)

const tacticalProfile = "../../deploy/profiles/tactical"

func tactical(t *testing.T, replaced ...string) *deployment {
	t.Helper()
	needs(t, "git", "flake8")
	return installTree(t, tacticalProfile, append(replaced, `http: {listen: "127.0.0.1:8080"}`, "")...)
}

// planOf is a plan of the profile, in which some words are replaced, as a message of its own.
func (i *deployment) planOf(name string, replaced ...string) []byte {
	i.t.Helper()
	body, err := os.ReadFile(filepath.Join(tacticalProfile, "plans", name))
	if err != nil {
		i.t.Fatal(err)
	}
	var plan map[string]json.RawMessage
	if err = json.Unmarshal([]byte(strings.NewReplacer(replaced...).Replace(string(body))), &plan); err != nil {
		i.t.Fatal(err)
	}
	plan["message_id"], _ = json.Marshal(uuid.NewString())
	body, err = json.Marshal(plan)
	if err != nil {
		i.t.Fatal(err)
	}
	return body
}

// plans sends a plan to the profile's supervisor as a planner does that knows nothing but NATS, and returns the documented response with the progress before it.
func (i *deployment) plans(body []byte) (response schemas.ExecutionResponse, progress []schemas.ProgressUpdate) {
	i.t.Helper()
	conn := connectCore(i.t, i)
	responses, err := conn.SubscribeSync("podium.agent.supervisor.response")
	if err != nil {
		i.t.Fatal(err)
	}
	updates, err := conn.SubscribeSync("podium.agent.supervisor.progress")
	if err != nil {
		i.t.Fatal(err)
	}
	if _, err = conn.RequestMsg(&nats.Msg{Subject: "podium.agent.supervisor.request", Data: body}, patience); err != nil {
		i.t.Fatal(err)
	}
	said, err := responses.NextMsg(5 * patience)
	if err != nil {
		i.t.Fatalf("no response: %v", err)
	}
	if response, err = schemas.DecodeExecutionResponse(said.Data); err != nil {
		i.t.Fatalf("%v: %s", err, said.Data)
	}
	for {
		update, err := updates.NextMsg(patience / 100)
		if err != nil {
			return response, progress
		}
		told, err := schemas.DecodeProgressUpdate(update.Data)
		if err != nil {
			i.t.Fatalf("%v: %s", err, update.Data)
		}
		progress = append(progress, told)
	}
}

// TestTacticalPlan: a documented plan comes in by NATS. What pytest, flake8 and the check of documents find goes back to who has made it, with file and line, and the
// second round passes. The documented response and progress go out: what stands, and by what it was checked. Of its measures those that no clock decides meet their goals: tasks
// that complete, failures that are mended, findings that come from checks.
func TestTacticalPlan_M49_M51_M52(t *testing.T) {
	t.Parallel()
	i := tactical(t)
	i.up()
	response, progress := i.plans(i.planOf("model.json"))
	payload := &response.Payload
	if payload.Status != schemas.StatusCompleted || payload.PlanID != "6f1c2b7e-5a0d-4c1e-9a53-3f1a0b8d4e11" || payload.ExecutionSummary.TasksCompleted != 6 {
		t.Errorf("%s of %s: %+v", payload.Status, payload.PlanID, payload.ExecutionSummary)
	}
	var made, checked []string
	for _, file := range payload.Deliverables {
		made = append(made, file.TaskID+" "+file.Type+" "+file.Path)
		if file.ValidationStatus != schemas.ValidationPassed {
			t.Errorf("%s has passed the review, and is told to be %q", file.Path, file.ValidationStatus)
		}
	}
	for _, result := range payload.ValidationResults {
		checked = append(checked, result.Validator+" "+result.Status)
	}
	slices.Sort(made)
	want := []string{
		"ML-1 config setup.cfg", "ML-1 documentation docs/spec.md", "ML-3 documentation docs/research.md",
		"fix1.ML-2 code model.py", "fix1.ML-2 code tests/test_model.py", "fix1.ML-4 documentation README.md",
	}
	if !slices.Equal(made, want) {
		t.Errorf("made: %q", made)
	}
	if want := []string{"files passed", "flake8 passed", "pytest passed", "documentation passed", "supervisor passed"}; !slices.Equal(checked, want) {
		t.Errorf("checked: %q", checked)
	}
	if len(progress) == 0 {
		t.Error("no progress is told")
	}
	told := strings.Join(strings.Fields(i.podium("runs", "watch", i.runs()[0].ID).succeeds(t).stdout), " ")
	for _, want := range []string{
		"model.py:1: error: F401 'os' imported but unused", "model.py:6: error: test_mean_of_nothing: ZeroDivisionError: division by zero",
		"README.md:8: error: link to a file that does not exist: docs/setup.md", "plan changed, change 1: 2 new", "review, round 2: passed",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told of the run\n%s", want, told)
		}
	}
	i.stop()
	i.verify()
	profiles := lines[score.Profile](t, i.podium("score", "-o", "json", "--data", i.data, "--profile", "tactical"))
	if len(profiles) != 1 || len(profiles[0].Measures) != 7 {
		t.Fatalf("it scores %+v", profiles)
	}
	for _, measure := range profiles[0].Measures {
		goal := slices.Contains([]string{"M-49", "M-51", "M-52"}, measure.Item) // times are those of the machine
		if tokens := measure.Name == "tokens used, of those estimated"; tokens != (measure.Value == nil) || goal && !*measure.Met {
			t.Errorf("%s, %s: %v of %v", measure.Item, measure.Name, measure.Part, measure.Whole)
		}
	}
}

// TestTacticalResponses_M07: a plan that is carried out is answered as completed, one that an agent could do a part of as partial, one whose checks still find something after all rounds
// as failed, with what they have found, and one that lacks something as blocked, with what is lacking. So is one that nobody here can mend, and one that does not fit the budget: whoever
// is upstream decides. Each names its plan.
func TestTacticalResponses_M07(t *testing.T) {
	t.Parallel()
	i := tactical(t)
	i.up()
	for _, c := range []struct {
		plan     string
		replaced []string
		status   schemas.ResponseStatus
		says     []string
	}{
		{"library.json", nil, schemas.StatusCompleted, nil},
		{"survey.json", []string{`"project_type": "data_science"}}`, `"project_type": "data_science"}, "arguments": {"subject": "mistake", "least": 4}}`}, schemas.StatusPartial, nil},
		{"model.json", []string{`"unused"]`, `"unused"], "deaf": true`}, schemas.StatusFailed, []string{"model.py:6: test_mean_of_nothing: ZeroDivisionError: division by zero", "model.py:1: F401 'os' imported but unused"}},
		{"survey.json", nil, schemas.StatusBlocked, []string{"It needs a subject, which the plan does not name."}},
		{"survey.json", []string{`"project_type": "data_science"}}`, `"project_type": "data_science"}, "arguments": {"subject": "zebra"}}`}, schemas.StatusBlocked, []string{"None of the documents says anything of this: zebra."}},
		{"library.json", []string{`"estimated_tokens": 2000`, `"estimated_tokens": 20000`}, schemas.StatusBlocked, nil},
	} {
		body := i.planOf(c.plan, c.replaced...)
		asked, err := schemas.DecodeExecutionRequest(body)
		if err != nil {
			t.Fatal(err)
		}
		response, progress := i.plans(body)
		payload := &response.Payload
		if payload.Status != c.status || payload.PlanID != asked.Payload.PlanID || response.InReplyTo != asked.MessageID || len(progress) == 0 && c.status != schemas.StatusBlocked {
			t.Errorf("%s: %s of %s, %d updates", c.plan, payload.Status, payload.PlanID, len(progress))
		}
		var said []string
		for _, issue := range payload.IssuesEncountered {
			said = append(said, issue.Description)
		}
		for _, result := range payload.ValidationResults {
			for _, issue := range result.Issues {
				said = append(said, fmt.Sprintf("%s:%d: %s", issue.File, issue.Line, issue.Message))
			}
		}
		for _, want := range c.says {
			if !slices.Contains(said, want) {
				t.Errorf("%s: %q is not in %q", c.plan, want, said)
			}
		}
		for _, file := range payload.Deliverables {
			if wrong := file.ValidationStatus == schemas.ValidationFailed; wrong != (c.status == schemas.StatusFailed && file.Path == "model.py") {
				t.Errorf("%s: %s is told to be %q", c.plan, file.Path, file.ValidationStatus)
			}
		}
	}
	i.stop()
	i.verify()
}

// TestTacticalMerges_M37: two agents write beside each other into files of every type; each file is merged, and the answer tells all that stands by its type. Where both change the same
// lines nothing is merged, and the planner is answered that this failed, in which file, between whom and by which tasks; the plan
// of the run shows neither of these as done.
func TestTacticalMerges_M37(t *testing.T) {
	t.Parallel()
	i := tactical(t)
	i.up()
	response, _ := i.plans(i.planOf("library.json"))
	want := "10 files stand.\n\ncode: fits.py, means.py, modules.py, tests/test_fits.py, tests/test_means.py\n" +
		"documentation: README.md, docs/modules.md, docs/spec.md\nconfig: setup.cfg\nreport: reports/functions.txt"
	if response.Payload.Status != schemas.StatusCompleted || response.Payload.Result == nil || response.Payload.Result.Text != want {
		t.Errorf("%s: %+v", response.Payload.Status, response.Payload.Result)
	}
	merged := map[string]bool{}
	for _, made := range response.Payload.Deliverables {
		if made.Agent == "merge" {
			merged[made.Type+" "+made.Path] = true
		}
	}
	for _, file := range []string{"code modules.py", "documentation docs/modules.md", "config setup.cfg", "report reports/functions.txt"} {
		if !merged[file] {
			t.Errorf("%s is not merged: %v", file, merged)
		}
	}
	response, _ = i.plans(i.planOf("toolbox.json"))
	escalated := slices.ContainsFunc(response.Payload.IssuesEncountered, func(issue schemas.Issue) bool {
		return issue.Description == "Conflict in modules.py between [python_ml, python_ml] (tasks BOX-2, BOX-3)" && issue.Resolution == schemas.ResolutionEscalated
	})
	if response.Payload.Status != schemas.StatusFailed || !escalated {
		t.Errorf("%s: %+v", response.Payload.Status, response.Payload.IssuesEncountered)
	}
	told := i.podium("plan", i.runs()[0].ID).succeeds(t).stdout
	for _, want := range []string{
		"1. **Initialize project** `spec_kit` (completed)\n   - id: `BOX-1`\n2. **Implement means** `python_ml` (completed, and not right)\n   - id: `BOX-2`, after `BOX-1`\n   - why: Conflict in setup.cfg between",
		"`python_ml` (completed, and not right)\n   - id: `BOX-3`, after `BOX-1`\n", "`reporter` (completed)\n   - id: `BOX-4`, after `BOX-1`, `BOX-2`, `BOX-3`\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in the plan\n%s", want, told)
		}
	}
	i.stop()
	i.verify()
}

// TestTacticalTiers: a person says yes to the coordinator, which hands the work to the planner, and that its plan to the supervisor. What cannot be merged, and what lacks something, goes
// back up to the planner, which plans anew. What no plan helps, and what does not fit a budget, comes up to the coordinator, who asks the person: they have it tried once more, grant more, or
// say the result themselves. The tactical tier itself plans nothing, decides of no go or no-go, writes no file, and talks to nobody but the tier above.
func TestTacticalTiers_M20_M21(t *testing.T) {
	t.Parallel()
	i := tactical(t)
	i.up()
	for _, s := range readScenarios(t, filepath.Join(tacticalProfile, "scenarios.yaml")) {
		if s.Profile != "" { // words, and not plans
			i.play("", &s)
		}
	}
	i.play("", &scenario{
		Say: "Build the survey", Profile: "coordinator", Agents: []string{"project_planner"}, Reply: "reject", Status: schemas.RunFailed,
		Asks: "May an agent do this?\n\nThe agent: Makes plans\n\n> Build the survey\n\nPlease reply with one word alone in the first line: “approve” or “reject”. A question is no answer. Nothing is done before.",
	})
	if sent := i.podium("send", "--wait", "--profile", "tactical", "Build the survey"); sent.code != exitFailed {
		t.Errorf("what is no plan: exit code %d\n%s", sent.code, sent.stdout)
	}
	var ended []string
	for _, run := range i.runs() {
		if run.Profile != "tactical" || run.Message.Channel != schemas.ChannelAgent {
			continue
		}
		ended = append(ended, string(run.Status))
		if run.Source != schemas.PlannerAgent || run.Replied != "" || len(run.Inquiries) > 0 {
			t.Errorf("run %s: planned by %s, replied %q, asks %d", run.ID, run.Source, run.Replied, len(run.Inquiries))
		}
		for _, task := range run.Tasks {
			if len(task.Deliverables) > 0 && !slices.Contains([]string{"spec_kit", "python_ml", "research", "reporter"}, task.Agent) {
				t.Errorf("%s of %s has made files", task.ID, task.Agent)
			}
		}
	}
	slices.Sort(ended)
	if want := []string{"blocked", "completed", "completed", "completed", "failed", "failed", "failed"}; !slices.Equal(ended, want) {
		t.Errorf("plans have ended %q", ended)
	}
	i.stop()
	i.verify()
}

// TestTacticalFiles: the only thing that is looked at without anybody's tools is whether files are there, and are what was said. It is done by a program that reads, and writes nothing.
func TestTacticalFiles_M48(t *testing.T) {
	t.Parallel()
	i := tactical(t)
	i.up()
	response, _ := i.plans(i.planOf("model.json", `"unused"]`, `"absent"]`))
	told := i.podium("runs", "watch", i.runs()[0].ID).succeeds(t).stdout
	if response.Payload.Status != schemas.StatusCompleted || !strings.Contains(told, "tests/test_model.py: error: it was not made: there is no such file") {
		t.Errorf("%s\n%s", response.Payload.Status, told)
	}
	i.stop()
	i.verify()
	folder := t.TempDir()
	for name, content := range map[string]string{"index.json": `[{"file":"in/01.py","sha256":"` + strings.Repeat("a", 64) + `"}]`, "01.py": "pass\n"} {
		if err := os.MkdirAll(filepath.Join(folder, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "in", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "files.py")
	command.Dir = tacticalProfile
	command.Env = []string{"PODIUM_DIR=" + folder}
	command.Stdin = strings.NewReader(`{"payload": {"tasks": [{"task_id": "check:files:1", "description": "", "context": {"arguments": {"deliverables": [
		{"path": "a.py", "metadata": {"size": 5, "sha256": "` + strings.Repeat("a", 64) + `"}}, {"path": "b.py", "metadata": {"size": 5, "sha256": "` + strings.Repeat("b", 64) + `"}}]}}}]}}`)
	said, err := command.Output()
	if err != nil || !strings.Contains(string(said), `"its file is another one than was said", "file": "a.py"`) || !strings.Contains(string(said), `"its file cannot be read", "file": "b.py"`) {
		t.Errorf("%v: %s", err, said)
	}
}

// TestTacticalHangs: a specialist that hangs is stopped when its time is over, and has half as much more for each further attempt. The hour of its program never comes before that, nor does that of a check.
func TestTacticalHangs(t *testing.T) {
	t.Parallel()
	i := tactical(t, "[/usr/bin/python3, -B, reporter.py]", "[/bin/sleep, '61.5']", "{name: reporter, work: 1m}", "{name: reporter, work: 200ms}", "wait: 1s", "wait: 10ms")
	i.up()
	response, _ := i.plans([]byte(`{"message_id": "` + uuid.NewString() + `", "from": "planner", "to": "supervisor", "type": "execution_request", "timestamp": "2026-11-26T09:00:00Z",
		"payload": {"plan_id": "` + uuid.NewString() + `", "request_id": "HANG", "tasks": [{"task_id": "H", "description": "Hang", "assigned_to": "reporter"}]}}`))
	run := i.runs()[0].ID
	told := i.podium("runs", "watch", run).stdout
	if response.Payload.Status == schemas.StatusCompleted || strings.Count(told, "failed (timeout)") != 3 {
		t.Errorf("%s\n%s", response.Payload.Status, told)
	}
	var worked []time.Duration
	for _, line := range lines[replayed](t, i.podium("replay", "--run", run, "-o", "json")) {
		var event struct {
			Time time.Time
			Data struct {
				Transitions []struct {
					Facts []struct {
						Started schemas.TaskStarted `json:"task_started"`
					}
				}
			}
		}
		_ = json.Unmarshal(line.Event, &event) // others are no records
		for _, transition := range event.Data.Transitions {
			for _, fact := range transition.Facts {
				if fact.Started.Task == "H" {
					worked = append(worked, fact.Started.Deadline.Sub(event.Time))
				}
			}
		}
	}
	if !slices.Equal(worked, []time.Duration{200 * time.Millisecond, 300 * time.Millisecond, 450 * time.Millisecond}) {
		t.Errorf("attempts have %v", worked)
	}
	i.stop()
	i.verify()
}

// TestTacticalByACritic: a model looks as well, and what it finds goes back to whoever has made the file, as what tools find does.
func TestTacticalByACritic(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, func(call *modelserver.Call) modelserver.Answer {
		switch {
		case call.IsProbe():
			return modelserver.Obeying(call)
		case strings.Contains(call.User, "fix1.LIB-4"):
			return modelserver.Answer{Text: `{"status": "passed", "details": "It says what there is.", "issues": []}`, Tokens: 10}
		}
		return modelserver.Answer{Text: `{"status": "failed", "details": "It says too little.", "issues": [{"severity": "error", "message": "It does not say what it is for.", "file": "README.md", "line": 1}]}`, Tokens: 10}
	})
	i := tactical(t, "#m ", "", "${OPENAI_BASE_URL:-http://127.0.0.1:11434/v1}", server.URL)
	i.up()
	response, _ := i.plans(i.planOf("library.json"))
	run := i.runs()[0]
	want := []string{"LIB-1 spec_kit completed", "LIB-2 python_ml completed", "LIB-3 python_ml completed", "LIB-4 reporter completed", "fix1.LIB-4 reporter completed"}
	if got := did(&run); !slices.Equal(got, want) || response.Payload.Status != schemas.StatusCompleted {
		t.Errorf("%s: %q", response.Payload.Status, got)
	}
	if told := i.podium("runs", "watch", run.ID).succeeds(t).stdout; !strings.Contains(told, "README.md:1: error: It does not say what it is for.") {
		t.Errorf("the finding is not told\n%s", told)
	}
	i.stop()
	i.verify()
}
