package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
)

// A programRun is what a program of the profile has made of one request, without a service around it.
type programRun struct {
	schemas.ResponsePayload
	folder string // PODIUM_DIR
	code   int
	says   string // on standard error
}

// runsProgram gives a program of the profile one request: the kind and the constraints of its task, its arguments, and files that have been made by path.
func runsProgram(t *testing.T, command, context string, made map[string]string, environment ...string) (ran programRun) {
	t.Helper()
	ran.folder = t.TempDir()
	type attachment struct {
		File   string `json:"file"`
		SHA256 string `json:"sha256"`
	}
	listed, files := []attachment{}, []attachment{}
	if err := errors.Join(os.Mkdir(filepath.Join(ran.folder, "in"), 0o700), os.Mkdir(filepath.Join(ran.folder, "out"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, content := range made {
		sum := sha256.Sum256([]byte(content))
		name := filepath.Join("in", hex.EncodeToString(sum[:]))
		listed = append(listed, attachment{name, filepath.Base(name)})
		files = append(files, attachment{path, filepath.Base(name)})
		if err := os.WriteFile(filepath.Join(ran.folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index, _ := json.Marshal(listed)
	if err := os.WriteFile(filepath.Join(ran.folder, "in", "index.json"), index, 0o600); err != nil {
		t.Fatal(err)
	}
	input, _ := json.Marshal(files)
	input = []byte(strings.ReplaceAll(string(input), `"file"`, `"path"`))
	words := strings.Fields(command)
	asked := exec.CommandContext(t.Context(), "/usr/bin/python3", append([]string{"-B"}, words...)...)
	asked.Dir = tacticalProfile
	asked.Env = append([]string{"PODIUM_DIR=" + ran.folder, "PODIUM_ATTEMPT=1", "PATH=" + os.Getenv("PATH")}, environment...)
	asked.Stdin = strings.NewReader(`{"payload": {"tasks": [{"task_id": "T", "description": "d", "dependencies": ["before"],
		"context": {"inputs": {"before": {"data": {"files": ` + string(input) + `}}}, ` + context + `}}]}}`)
	said, err := asked.Output()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		ran.code, ran.says = failed.ExitCode(), string(failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	if len(said) > 0 {
		if err = json.Unmarshal(said, &ran.ResponsePayload); err != nil {
			t.Fatalf("%s: %v: %s", command, err, said)
		}
	}
	return ran
}

// TestTacticalNamesStayInside: a name in a plan becomes the name of a file, or a line of one. The check refuses one that leads elsewhere, and so does the program itself, which then writes nothing.
func TestTacticalNamesStayInside(t *testing.T) {
	t.Parallel()
	const coded = `"constraints": {"project_type": "ml"}, "arguments": {"functions": ["mean"], "module": `
	const made = `"constraints": {"project_type": "frontend"}, "arguments": {"record": "R", "fields": [{"name": "n", "type": "number"}], "module": `
	folder := t.TempDir()
	var tasks, places []string
	for i, c := range []struct{ agent, context, place string }{
		{"python_ml", coded + `"../../../../victim"}`, "module"},
		{"python_ml", coded + `"` + folder + `/absolute"}`, "module"},
		{"python_ml", coded + `"conftest"}`, "module"},
		{"python_ml", coded + `"a\nb"}`, "module"},
		{"python_ml", coded + `"json"}`, ""},
		{"frontend_coder", made + `"../admin"}`, "module"},
		{"frontend_coder", made + `"index"}`, "module"},
		{"frontend_coder", strings.Replace(made, `"n"`, `"n: number } eval(0) //"`, 1) + `"admin"}`, "fields"},
		{"spec_kit", `"constraints": {"project_type": "ml"}, "arguments": {"name": "N", "index": true, "modules": ["m]\n[flake8]\nexclude = *.py"]}`, "modules"},
		{"spec_kit", `"constraints": {"project_type": "ml"}, "arguments": {"name": "N\n"}`, "name"},
	} {
		if ran := runsProgram(t, c.agent+".py", c.context, nil); ran.code != 65 || strings.Contains(ran.says, "Traceback") || len(filesBelow(t, ran.folder)) != 1 {
			t.Errorf("%s with %s: exit code %d, %q, %s, made %q", c.agent, c.context, ran.code, ran.says, ran.Status, filesBelow(t, ran.folder))
		}
		tasks = append(tasks, fmt.Sprintf(`{"task_id": "T%d", "description": "d", "assigned_to": "%s", "context": {%s}}`, i, c.agent, c.context))
		if c.place != "" {
			places = append(places, fmt.Sprintf("tasks[%d].context.arguments.%s: ", i, c.place))
		}
	}
	plan := filepath.Join(folder, "plan.json")
	if err := os.WriteFile(plan, []byte(`{"tasks": [`+strings.Join(tasks, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	checked := in(t, "", "check", "--plan", plan, "-c", filepath.Join(tacticalProfile, "podium.yaml"), "--profile", "tactical")
	for _, place := range places {
		if !strings.Contains(checked.stderr, place) {
			t.Errorf("%q is not in\n%s%s", place, checked.stdout, checked.stderr)
		}
	}
	// A merged file, and one that a check looks at, may have been named by an agent of any kind.
	for _, path := range []string{"../victim.py", "/tmp/victim.py", "a/../../victim.py", "node_modules/victim.py"} {
		digest := hex.EncodeToString(make([]byte, 32))
		sum := sha256.Sum256([]byte("x"))
		context := strings.ReplaceAll(`"arguments": {"deliverables": [{"path": "PATH", "metadata": {"sha256": "SUM"}}], "merges": [{"path": "PATH", "base": "`+digest+
			`", "versions": [{"path": "PATH", "type": "code", "metadata": {"sha256": "SUM"}}]}]}`, "PATH", path)
		context = strings.ReplaceAll(context, "SUM", hex.EncodeToString(sum[:]))
		if ran := runsProgram(t, "merge.py", context, map[string]string{"v": "x"}); ran.code == 0 && !strings.HasPrefix(path, "node_modules/") {
			t.Errorf("%s is merged", path)
		}
		ran := runsProgram(t, "validate.py documentation", context, map[string]string{"v": "x"})
		if len(ran.ValidationResults) != 1 || ran.ValidationResults[0].Status != "failed" || ran.ValidationResults[0].Issues[0].File != path {
			t.Errorf("%s is looked at: exit code %d %s, %+v", path, ran.code, ran.says, ran.ValidationResults)
		}
	}
}

// filesBelow are the regular files below a folder, but for those that a program works with.
func filesBelow(t *testing.T, folder string) (files []string) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// TestTacticalNothingIsLeft: what a check works with lies in the folder of its request, so that it is gone with that when the check is killed.
func TestTacticalNothingIsLeft(t *testing.T) {
	t.Parallel()
	needs(t, "flake8")
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "tools", ".bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	killer := "#!/bin/sh\ntouch \"$TMPDIR/its-own\" \"$HOME/of-the-user\"\nkill -9 $PPID\n"
	if err := os.WriteFile(filepath.Join(folder, "tools", ".bin", "flake8"), []byte(killer), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	ran := runsProgram(t, "validate.py flake8", `"arguments": {}`, map[string]string{"a.py": "pass\n"}, "TACTICAL_TOOLS="+filepath.Join(folder, "tools"), "TMPDIR="+folder)
	left := strings.Join(filesBelow(t, filepath.Join(ran.folder, "work")), " ")
	if ran.code == 0 || !strings.Contains(left, "a.py") || !strings.Contains(left, "its-own") || !strings.Contains(left, "of-the-user") {
		t.Errorf("exit code %d: in its folder are %q", ran.code, left)
	}
	if elsewhere := filesBelow(t, folder); len(elsewhere) != 1 {
		t.Errorf("elsewhere are %q", elsewhere)
	}
}

// TestTacticalWithoutSettings: a project without the settings that a tool goes by is told so; the tool is not asked, which would look for them in the folders around it.
func TestTacticalWithoutSettings(t *testing.T) {
	t.Parallel()
	for tool, settings := range map[string]string{"tsc": "tsconfig.json", "eslint": "eslint.config.js", "jest": "package.json"} {
		ran := runsProgram(t, "validate.py "+tool, `"arguments": {}`, map[string]string{"src/a.ts": "export const a = 1;\n"})
		if len(ran.ValidationResults) != 1 || ran.ValidationResults[0].Status != "failed" || !strings.Contains(ran.Result.Text, "the project has no "+settings+", which ") {
			t.Errorf("%s: exit code %d %s, %+v", tool, ran.code, ran.says, ran.ValidationResults)
		}
		if ran = runsProgram(t, "validate.py "+tool, `"arguments": {}`, map[string]string{"README.md": "# A\n"}); len(ran.ValidationResults) != 1 || ran.ValidationResults[0].Status != "passed" {
			t.Errorf("%s without code: exit code %d %s, %+v", tool, ran.code, ran.says, ran.ValidationResults)
		}
	}
}
