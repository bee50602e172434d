package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"podium/schemas"
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
// second round passes. The documented response and progress go out: what stands, and by what it was checked.
func TestTacticalPlan(t *testing.T) {
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
}
