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
	"strconv"
	"strings"
	"testing"

	"podium/schemas"
)

// A programRun is what a program of the profile has made of one request, without a service around it.
type programRun struct {
	schemas.ResponsePayload
	data struct { // of those that answer nothing else
		Response          string
		Tasks             []plannedPart
		ValidationResults []schemas.ValidationResult `json:"validation_results"`
	}
	folder string // PODIUM_DIR
	code   int
	says   string // on standard error
}

// A plannedPart is a task of a plan that a program has made, and has a plan itself where it is for a tier below.
type plannedPart struct {
	TaskID          string   `json:"task_id"`
	AssignedTo      string   `json:"assigned_to"`
	Dependencies    []string `json:"dependencies"`
	EstimatedTokens int      `json:"estimated_tokens"`
	Context         struct {
		Arguments struct {
			Subject string        `json:"subject"`
			Tasks   []plannedPart `json:"tasks"`
		} `json:"arguments"`
	} `json:"context"`
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
		"context": {"inputs": {"before": {"data": {"files": ` + string(input) + `}}}, ` + context + `}}]}}`) // where one names inputs of its own, those count
	said, err := asked.Output()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		ran.code, ran.says = failed.ExitCode(), string(failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	if len(said) > 0 {
		if err = errors.Join(json.Unmarshal(said, &ran.ResponsePayload), json.Unmarshal(said, &struct{ Data any }{&ran.data})); err != nil {
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

// TestTacticalLinksLeadNowhere: a file is made in its folder, and neither through a link there nor in its place.
func TestTacticalLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := errors.Join(os.Symlink(t.TempDir(), filepath.Join(folder, "away")), os.Symlink(filepath.Join(t.TempDir(), "victim.py"), filepath.Join(folder, "link.py"))); err != nil {
		t.Fatal(err)
	}
	asked := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-c", "import sys; from specialist import place; print([place(sys.argv[1], name) is not None for name in sys.argv[2:]])",
		folder, "away/a.py", "link.py", "new/a.py", ".hidden", "/etc/a.py", "../a.py", "a//b.py", "a\\b.py", "a\n.py", "")
	asked.Dir = tacticalProfile
	if said, err := asked.Output(); err != nil || string(said) != "[False, False, True, True, False, False, False, False, False, False]\n" {
		t.Errorf("%v: %s", err, said)
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

// TestTacticalTypesOfProject: code is written only where its task names a type of project in which tools look at it, and what is wanted beside that is told as looked for by none.
func TestTacticalTypesOfProject(t *testing.T) {
	t.Parallel()
	const arguments = `"arguments": {"module": "m", "record": "R", "fields": [{"name": "n", "type": "number"}], "functions": `
	for _, c := range []struct{ program, constraints, functions string }{
		{"python_ml.py", `{}`, `["mean"]`},
		{"python_ml.py", `{"language": "en", "project_type": "data-science"}`, `["mean"]`},
		{"python_ml.py", `{"project_type": "fullstack"}`, `["mean"]`},
		{"frontend_coder.py", `{"project_type": "audited"}`, `[]`},
		{"r_analytics.py", `{"project_type": "ml"}`, `["growth"]`},
	} {
		ran := runsProgram(t, c.program, `"constraints": `+c.constraints+`, `+arguments+c.functions+`}`, nil)
		if ran.code != 65 || !strings.HasPrefix(ran.says, "Nothing would check this code: context.constraints.project_type of its task is ") {
			t.Errorf("%s in %s: exit code %d, %q", c.program, c.constraints, ran.code, ran.says)
		}
	}
	const unanswered = "All tests pass.; it compiles; its files are there; the mean of nothing is 0"
	for kind, want := range map[string]string{
		"python_ml.py ml": "it compiles; its files are there; the mean of nothing is 0", "frontend_coder.py frontend": "its files are there; the mean of nothing is 0", "research.py ml": "it compiles; its files are there; the mean of nothing is 0", "research.py zoo": unanswered,
	} {
		program, project, _ := strings.Cut(kind, " ")
		ran := runsProgram(t, program, `"constraints": {"project_type": "`+project+`"}, `+strings.Replace(arguments, "{", `{"subject": "mistake", `, 1)+`["mean"]}}, "validation_criteria": ["`+
			strings.ReplaceAll(unanswered, "; ", `", "`)+`", "no link leads nowhere"], "x": {`, nil)
		if ran.code != 0 || ran.Result == nil || !strings.HasSuffix(ran.Result.Text, "\n\nChecked by no tool: "+want) {
			t.Errorf("%s: exit code %d %s, %+v", kind, ran.code, ran.says, ran.Result)
		}
	}
}

// TestTacticalSummary: what is told of a plan that is carried out has what was left out, and what is wanted and no tool looks for.
func TestTacticalSummary(t *testing.T) {
	t.Parallel()
	ran := runsProgram(t, "summary.py", `"inputs": {"a": {"data": {"unchecked": ["it is fast", "it is fine"]}}, "b": {"data": {"unchecked": ["it is fine"]}}, "c": {"text": "t"}}, "arguments": {
		"deliverables": [{"path": "a.py", "type": "code"}], "tasks": [{"task": "A", "agent": "python_ml", "state": "completed"},
		{"task": "B", "agent": "research", "state": "skipped", "failure": {"detail": "None of the documents says anything of this: zebra."}}]}`, nil)
	const want = "1 files stand.\n\ncode: a.py\n\nleft out: B of research: None of the documents says anything of this: zebra.\n\nChecked by no tool: it is fast; it is fine"
	if ran.data.Response != want {
		t.Errorf("exit code %d %s: %q", ran.code, ran.says, ran.data.Response)
	}
}

// TestTacticalEndless: a tool that does not come to an end is a finding about the project, and no failure of the check.
func TestTacticalEndless(t *testing.T) {
	t.Parallel()
	needs(t, "flake8")
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".bin", "flake8"), []byte("#!/bin/sh\nulimit -c 0\nkill -XCPU $$\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	ran := runsProgram(t, "validate.py flake8", `"arguments": {}`, map[string]string{"a.py": "pass\n"}, "TACTICAL_TOOLS="+folder)
	if len(ran.ValidationResults) != 1 || ran.ValidationResults[0].Status != "failed" || !strings.Contains(ran.Result.Text, "flake8 did not come to an end") {
		t.Errorf("exit code %d %s, %+v", ran.code, ran.says, ran.ValidationResults)
	}
}

// TestTacticalPlansAnew: two tasks that have changed the same lines work one behind the other in the next plan, by what they depend on; research without a subject gets the words of the
// message for one. What was planned anew before is what counts, what waits is kept, and of what no plan helps there is none.
func TestTacticalPlansAnew(t *testing.T) {
	t.Parallel()
	const tasks = `{"tasks": [{"task_id": "A", "assigned_to": "spec_kit", "dependencies": [], "estimated_tokens": 5, "context": {}}, {"task_id": "B", "assigned_to": "python_ml", "dependencies": ["A"],
		"estimated_tokens": 7, "context": {}}, {"task_id": "C", "assigned_to": "python_ml", "dependencies": ["A"], "context": {}}, {"task_id": "D", "assigned_to": "research", "dependencies": ["A"], "context": {}},
		{"task_id": "E", "assigned_to": "research", "dependencies": ["B", "C"], "context": {"arguments": {"subject": "price"}}}]}`
	failed := func(task, state, why string) string {
		return `{"task": "` + task + `", "description": "Build it.", "state": "` + state + `", "arguments": ` + tasks + `, "failure": {"detail": "` + why + `"}}`
	}
	const conflict = "Conflict in setup.cfg between [python_ml, python_ml] (tasks B, C)"
	for name, c := range map[string]struct {
		told []string
		want []string // of each task the id; of a plan its estimate, and of its tasks what each depends on and its subject
	}{
		"a conflict":            {[]string{failed("box", "failed", conflict)}, []string{"box-anew 12 A:[] B:[A] C:[A B] D:[A] E:[B C]price"}},
		"no subject":            {[]string{failed("box", "failed", "It needs a subject, which the plan does not name.")}, []string{"box-anew 12 A:[] B:[A] C:[A] D:[A]Build the box E:[B C]price"}},
		"one waits":             {[]string{failed("box", "failed", conflict), failed("mill", "pending", "")}, []string{"mill", "box-anew 12 A:[] B:[A] C:[A B] D:[A] E:[B C]price"}},
		"it was planned anew":   {[]string{failed("box", "failed", conflict), failed("c1.box-anew", "completed", "")}, nil},
		"it has failed anew":    {[]string{failed("box", "failed", "x"), failed("c1.box-anew", "failed", conflict)}, []string{"box-anew 12 A:[] B:[A] C:[A B] D:[A] E:[B C]price"}},
		"no plan helps with it": {[]string{failed("box", "failed", "The disk is full.")}, nil},
	} {
		ran := runsProgram(t, "architect.py", `"kind": "judge", "request": "Build the box", "arguments": {"tasks": [`+strings.Join(c.told, ",")+`]}`, nil)
		var planned []string
		for _, part := range ran.data.Tasks {
			words := []string{part.TaskID}
			if part.AssignedTo == "supervisor" {
				words = append(words, strconv.Itoa(part.EstimatedTokens))
			}
			for _, task := range part.Context.Arguments.Tasks {
				words = append(words, fmt.Sprintf("%s:%v%s", task.TaskID, task.Dependencies, task.Context.Arguments.Subject))
			}
			planned = append(planned, strings.Join(words, " "))
		}
		if refused := len(ran.data.ValidationResults) == 1 && ran.data.ValidationResults[0].Status == "failed"; ran.code != 0 || !slices.Equal(planned, c.want) || refused != (c.want == nil) {
			t.Errorf("%s: exit code %d %s: %q, refused %v", name, ran.code, ran.says, planned, refused)
		}
	}
}
