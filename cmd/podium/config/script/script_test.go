package script_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cockroachdb/datadriven"

	"podium/agents/scripted"
	"podium/bus/agent"
	"podium/cmd/podium/config/script"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// lookup knows the one variable that the scripts name.
func lookup(name string) (string, bool) { return "words", name == "WORDS" }

// TestScriptProblems shows what each mistake in a script is answered with.
func TestScriptProblems(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/script_problems", func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		folder, err := os.OpenRoot("testdata")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = folder.Close() }()
		_, err = script.Read([]byte(d.Input), "script.yaml", lookup, folder.FS())
		if err == nil {
			return "accepted"
		}
		if len(diagnostic.ProblemsOf(err)) == 0 {
			t.Errorf("%s: the error is %T", d.Pos, err)
		}
		return err.Error()
	})
}

// TestFullScript: every key means what it says.
func TestFullScript(t *testing.T) {
	t.Parallel()
	answers, err := script.Read(readFile(t, "testdata/script.yaml"), "script.yaml", lookup, os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]bool{
		"Weatherman": true, "the weather": true, "is it raining?": true, "a snowstorm": true, "snowballs": false, "rain": false, "Schneewetter": false,
	} {
		if answers.Cases[0].Words(words) != want {
			t.Errorf("%q is taken for the opposite", words)
		}
	}
	first, second, known, third := &answers.Cases[0], &answers.Cases[1], &answers.Cases[2], &answers.Cases[3]
	for name, pair := range map[string][2]any{
		"conditions":  {[3]any{first.Kind, string(first.Arguments), first.Attempt}, [3]any{schemas.KindWork, `{"days":[1,2],"town":"Graz"}`, 1}},
		"failure":     {[3]any{first.Fails, first.Delay, first.Place}, [3]any{scripted.FailsTemporary, 500 * time.Millisecond, "cases[0]"}},
		"usage":       {first.Made.Usage, &schemas.ResourceUsage{TokensUsed: new(12), TimeElapsedSeconds: 1.5}},
		"status":      {second.Made.Status, schemas.StatusPartial},
		"result":      {second.Made.Result, schemas.Result{Data: []byte(`{"hours":[6,7.5],"rain":true}`), MediaType: "text/markdown"}},
		"recommended": {second.Made.Recommendations, []string{"Take an umbrella."}},
		"issues": {second.Made.Issues, []schemas.Issue{{
			Severity: "low", Description: "The radar was down.", Resolution: schemas.ResolutionDeferred, ResolutionDetails: "It is read again.", Category: schemas.CategoryDependency,
		}}},
		"checks": {second.Made.ValidationResults, []schemas.ValidationResult{{
			Validator: "radar", Status: "failed", Details: "It was down.", Issues: []schemas.ValidationIssue{{Severity: "error", Message: "No picture.", File: "radar.go", Line: 7}},
		}}},
		"files": {second.Files, []scripted.File{{MediaType: "text/plain", Content: []byte("An offer.\n"), About: schemas.Deliverable{
			Type: "report", Path: "forecast.txt", Description: "The forecast.", ValidationStatus: "skipped",
		}}}},
		"needs": {third.Made.Needs, []schemas.Need{{
			Name: "umbrella.color", Question: map[string]string{"en": "Which color?", "de": "Welche Farbe?"}, Schema: []byte(`{"type":"string"}`), From: schemas.NeededFromRequester,
		}}},
		"operation": {third.Made.Operation, &schemas.Operation{Name: "order", Arguments: []byte(`{"count":1}`), Summary: "Order an umbrella.", Recipients: []string{"shop"}}},
		"answered":  {[3]any{known.Answered("Blueish"), known.Answered("red"), string(known.Values)}, [3]any{true, false, `{"umbrella":{"color":"blue"}}`}},
		"acts":      {answers.Cases[4].Acts, true},
		"plan":      {answers.Cases[5].Kind, schemas.KindPlan},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: %+v, want %+v", name, pair[0], pair[1])
		}
	}
	answering, err := scripted.New(scripted.Config{Script: answers})
	if err != nil {
		t.Fatal(err)
	}
	request := &agent.Request{Attempt: 3, ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{{Description: "tea"}}}}}
	if made, err := answering.Handle(t.Context(), request, func(int, string) {}); err != nil || made.Text != "I know nothing of tea." {
		t.Errorf("otherwise: %q, %v", made.Text, err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestLinksLeadNowhere: what comes with an answer lies beside the script, whatever a link says.
func TestLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.txt")
	for path, text := range map[string]string{outside: "secret", filepath.Join(folder, "web.yaml"): "cases: [{text: x, deliverables: [{file: link.txt}]}]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Load(filepath.Join(folder, "web.yaml")); err == nil || !strings.Contains(err.Error(), "cases[0].deliverables[0].file: it cannot be read") {
		t.Errorf("%v", err)
	}
}

// FuzzReadScript: whatever stands in a script, it is an agent's or named mistakes.
func FuzzReadScript(f *testing.F) {
	body, err := os.ReadFile("testdata/script.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(body))
	f.Add("cases: [{match: [/(/], text: '{{.x}}'}]")
	f.Add("{cases: [&a {text: x}, *a], otherwise: *a}")
	folder := fstest.MapFS{"offer.txt": &fstest.MapFile{Data: []byte("An offer.")}}
	f.Fuzz(func(t *testing.T, text string) {
		answers, err := script.Read([]byte(text), "script.yaml", lookup, folder)
		if err != nil {
			if len(diagnostic.ProblemsOf(err)) == 0 {
				t.Errorf("not Problems: %v", err)
			}
			return
		}
		for i := range answers.Cases {
			if answers.Cases[i].Words != nil {
				answers.Cases[i].Words(text)
			}
			if _, err := schemas.Marshal(answers.Cases[i].Made); err != nil {
				t.Error(err)
			}
		}
	})
}
