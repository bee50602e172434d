package config

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
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

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
		_, err = readScript([]byte(d.Input), "script.yaml", lookup, folder.FS())
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
	script, err := readScript(readFile(t, "testdata/script.yaml"), "script.yaml", lookup, os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]bool{
		"Weatherman": true, "the weather": true, "is it raining?": true, "a snowstorm": true, "snowballs": false, "rain": false, "Schneewetter": false,
	} {
		if script.Cases[0].Words(words) != want {
			t.Errorf("%q is taken for the opposite", words)
		}
	}
	first, second, known, third := &script.Cases[0], &script.Cases[1], &script.Cases[2], &script.Cases[3]
	for name, pair := range map[string][2]any{
		"conditions":  {[3]any{first.Kind, string(first.Arguments), first.Attempt}, [3]any{schemas.KindWork, `{"days":[1,2],"town":"Graz"}`, 1}},
		"failure":     {[3]any{first.Fails, first.Delay, first.Place}, [3]any{scripted.FailsTemporary, 500 * time.Millisecond, "cases[0]"}},
		"usage":       {first.Made.Usage, &schemas.ResourceUsage{TokensUsed: 12, TimeElapsedSeconds: 1.5}},
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
		"operation": {third.Made.Operation, &schemas.Operation{Name: "order", Arguments: []byte(`{"count":1}`), Summary: "Order an umbrella."}},
		"answered":  {[3]any{known.Answered("Blueish"), known.Answered("red"), string(known.Values)}, [3]any{true, false, `{"umbrella":{"color":"blue"}}`}},
		"acts":      {script.Cases[4].Acts, true},
		"plan":      {script.Cases[5].Kind, schemas.KindPlan},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: %+v, want %+v", name, pair[0], pair[1])
		}
	}
	answering, err := scripted.New(scripted.Config{Script: script})
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

// TestLoadReadsScripts: a script is beside the configuration, and what is wrong with either is named at once.
func TestLoadReadsScripts(t *testing.T) {
	t.Parallel()
	const profile = "profiles: {desk: {agents: [web], routers: [{kind: default, agent: web}]}}\n"
	for _, test := range []struct{ name, agents, script, want string }{
		{"right", "web: {kind: scripted, script: ./web.yaml}", "cases: [{text: x}]", ""},
		{"no script", "web: {kind: scripted, script: web.yml}", "", "podium.yaml:1:40: agents.web.script: there is no file web.yml"},
		{"a folder", "web: {kind: scripted, script: .}", "", "agents.web.script: "},
		{"mistakes of two scripts", "{web: {kind: scripted, script: web.yaml}, more: {kind: scripted, script: web.yaml}}", "cases: [{txt: x}]", "web.yaml:1:10: cases[0]: unknown key \"txt\"; did you mean \"text\"?\n"},
		{"nobody asks for it", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x}, {kind: plan, data: 1}]", "agents.web: its script has a case of kind plan, which it is never asked: write kinds: [work, plan]"},
		{"nothing to say", "web: {kind: scripted, script: web.yaml, kinds: [work, route]}", "cases: [{text: x}]", "agents.web.kinds[1]: its script has no case of kind route, and no otherwise"},
		{"otherwise is for all", "web: {kind: scripted, script: web.yaml, kinds: [work, route]}", "{cases: [{match: [x], text: x}], otherwise: {data: 1}}", ""},
		{"without a permit", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x, acts: true}]", "agents.web: cases[0] of its script acts: write side_effects: external"},
		{"otherwise acts", "web: {kind: scripted, script: web.yaml}", "{cases: [{match: [x], text: x}], otherwise: {text: x, acts: true}}", "agents.web: otherwise of its script acts: write side_effects: external"},
		{"with one", "web: {kind: scripted, script: web.yaml, side_effects: external}", "cases: [{text: x, acts: true}]", ""},
		{"too large", "web: {kind: scripted, script: web.yaml}", "cases: [{text: x}] #" + strings.Repeat("x", maxScript), "agents.web.script: web.yaml has 1048596 bytes; it may have 1048576"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			agents := test.agents
			if !strings.HasPrefix(agents, "{") {
				agents = "{" + agents + "}"
			}
			for name, text := range map[string]string{"podium.yaml": "agents: " + agents + "\n" + profile, "web.yaml": test.script} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			loaded, err := Load(filepath.Join(folder, "podium.yaml"))
			switch {
			case test.want == "" && (err != nil || loaded.Agents["web"].Answers == nil):
				t.Errorf("%v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || diagnostic.ProblemsOf(err) == nil):
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
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
	if _, err := loadScript(filepath.Join(folder, "web.yaml")); err == nil || !strings.Contains(err.Error(), "cases[0].deliverables[0].file: it cannot be read") {
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
		script, err := readScript([]byte(text), "script.yaml", lookup, folder)
		if err != nil {
			if len(diagnostic.ProblemsOf(err)) == 0 {
				t.Errorf("not Problems: %v", err)
			}
			return
		}
		for i := range script.Cases {
			if script.Cases[i].Words != nil {
				script.Cases[i].Words(text)
			}
			if _, err := schemas.Marshal(script.Cases[i].Made); err != nil {
				t.Error(err)
			}
		}
	})
}
