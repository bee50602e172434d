package file_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/agents/file"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

func open(t *testing.T, directory, name string) *file.Agent {
	t.Helper()
	pattern, err := file.ParsePattern(name)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := file.New(file.Config{Directory: directory, Name: pattern, Now: func() time.Time { return time.Date(2026, 11, 24, 2, 45, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func asked(told schemas.TaskContext) *agent.Request {
	return &agent.Request{Attempt: 1, Run: "s-1", EffectID: uuid.NewString(), ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1", Context: told}}},
	}}
}

func silent(int, string) {}

// written are the files of a folder, but for those of the agent itself.
func written(t *testing.T, directory string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(directory, path)
		switch {
		case !strings.HasPrefix(name, ".podium"):
			files[filepath.ToSlash(name)] = string(body)
		case !strings.HasSuffix(name, ".json") && filepath.Base(name) != "lock":
			t.Errorf("%s was left behind", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func only(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := written(t, directory); !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

// TestContent: the ending of a name says what is written, and what was given says it before what others have made.
func TestContent(t *testing.T) {
	t.Parallel()
	inputs := map[string]schemas.TaskInput{
		"t2": {Result: schemas.Result{Text: "second\n", Data: jsontext.Value(`[{"b":1,"a":"x"},{"a":"=1+1","c":-2}]`)}},
		"t1": {Result: schemas.Result{Text: "first"}},
	}
	for name, test := range map[string]struct {
		pattern    string
		told       schemas.TaskContext
		file, want string
	}{
		"words":         {"{date}/{run}-{task}.txt", schemas.TaskContext{Request: "words \n\n"}, "2026-11-24/s-1-t1.txt", "words\n"},
		"text":          {"plan_{time}.md", schemas.TaskContext{Request: "words", Inputs: inputs, Arguments: jsontext.Value(`{"text":"given"}`)}, "plan_20261124-024500.md", "given\n"},
		"results":       {"plan.md", schemas.TaskContext{Request: "words", Inputs: inputs}, "plan.md", "first\n\nsecond\n"},
		"data":          {"x.json", schemas.TaskContext{Arguments: jsontext.Value(`{"data":{"a":[1]}}`)}, "x.json", "{\n\t\"a\": [\n\t\t1\n\t]\n}\n"},
		"rows":          {"x.csv", schemas.TaskContext{Inputs: inputs}, "x.csv", "b,a,c\n1,x\n,'=1+1,-2\n"},
		"rows of lists": {"x.csv", schemas.TaskContext{Arguments: jsontext.Value(`{"data":[["a","b, \"c\""],[true,null]]}`)}, "x.csv", "a,\"b, \"\"c\"\"\"\ntrue,\n"},
		"one row":       {"x.csv", schemas.TaskContext{Arguments: jsontext.Value(`{"data":{"@a":" +1","b":"-x","c":"\t=1","d":"＝1","e":"1-1"}}`)}, "x.csv", "'@a,b,c,d,e\n' +1,'-x,'\t'=1,'＝1,1-1\n"},
	} {
		directory := filepath.Join(t.TempDir(), "made")
		made, err := open(t, directory, test.pattern).Handle(t.Context(), asked(test.told), silent)
		if err != nil || made.Text != "Saved: "+test.file || len(made.Deliverables) != 1 || made.Deliverables[0].Path != test.file {
			t.Errorf("%s: %+v, %v", name, made, err)
			continue
		}
		only(t, directory, map[string]string{test.file: test.want})
	}
	for pattern, told := range map[string]schemas.TaskContext{
		"x.txt": {}, "x.json": {Request: "x"}, "x.csv": {Arguments: jsontext.Value(`{"data":[1,2]}`)}, "y.csv": {Arguments: jsontext.Value(`{"data":[[1],{"a":1}]}`)},
		"{file}": {Request: "x"}, "z.csv": {Arguments: jsontext.Value(`{"data":"x"}`)},
	} {
		directory := t.TempDir()
		_, err := open(t, directory, pattern).Handle(t.Context(), asked(told), silent)
		if failure, is := errors.AsType[*agent.Failure](err); !is || !failure.Permanent {
			t.Errorf("%s: %v", pattern, err)
		}
		only(t, directory, map[string]string{})
	}
}

// TestNothingIsOverwritten: what is there stays as it is, and others have a number.
func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "a.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(directory, "a-2.txt")); err != nil {
		t.Fatal(err)
	}
	tested := open(t, directory, "a.txt")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := tested.Handle(t.Context(), asked(schemas.TaskContext{Request: "new"}), silent); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := os.Remove(filepath.Join(directory, "a-2.txt")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.txt": "mine"}
	for _, n := range []string{"3", "4", "5", "6", "7", "8", "9", "10"} {
		want["a-"+n+".txt"] = "new\n"
	}
	only(t, directory, want)
}

// TestOncePerEffect: a repeat has the same file, whatever has become of it, and at whatever point an attempt before it ended.
func TestOncePerEffect(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	tested, request := open(t, directory, "{time}.txt"), asked(schemas.TaskContext{Request: "x"})
	first, err := tested.Handle(t.Context(), request, silent)
	if err != nil {
		t.Fatal(err)
	}
	later, err := file.New(file.Config{Directory: directory, Name: must(file.ParsePattern("{time}.txt"))})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, err := later.Handle(t.Context(), request, silent); err != nil || string(again.Data) != string(first.Data) {
			t.Errorf("%s, %v", again.Data, err)
		}
		only(t, directory, map[string]string{"20261124-024500.txt": "x\n"})
		request.Attempt++
	}
	if err := os.Remove(filepath.Join(directory, "20261124-024500.txt")); err != nil {
		t.Fatal(err)
	}
	if again, err := later.Handle(t.Context(), request, silent); err != nil || string(again.Data) != string(first.Data) {
		t.Errorf("after somebody has removed it: %s, %v", again.Data, err)
	}
	only(t, directory, map[string]string{})
}

// TestSwept: what was prepared long ago is removed, and nothing else.
func TestSwept(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	now := time.Date(2026, 11, 24, 2, 45, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{"old.0.part": 31 * 24 * time.Hour, "new.0.part": time.Hour, "old.json": 99 * 24 * time.Hour} {
		name = filepath.Join(directory, ".podium", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600), os.Chtimes(name, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, directory, "a.txt").Handle(t.Context(), asked(schemas.TaskContext{Request: "x"}), silent); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(directory, ".podium", "[on]*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "new.0.part" || filepath.Base(left[1]) != "old.json" {
		t.Errorf("%q, %v", left, err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestFilesThatCame: each has its own name, as far as that can be one, and stays inside of the folder.
func TestFilesThatCame(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	if err := ledger.Declare(t.Context(), "file", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		"Befund.pdf": "Befund.pdf", "../../etc/passwd": "_.._etc_passwd", "/abs": "_abs", "a\u202Egpj.exe": "agpj.exe", "x\x00\ny.txt": "xy.txt", "": "file", "..": "file-2",
		"con.txt": "_con.txt", ".podium": "podium", "-rf": "rf", "u\u0308.txt": "ü.txt", "bell\a.txt ": "bell.txt", strings.Repeat("ä", 200) + ".jpeg": strings.Repeat("ä", 87) + ".jpeg",
	}
	want := map[string]string{}
	var told schemas.TaskContext
	for _, name := range slices.Sorted(maps.Keys(names)) {
		kept, err := ledger.Artifacts().Put(t.Context(), strings.NewReader(name), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		told.Attachments = append(told.Attachments, schemas.TaskAttachment{
			ID: schemas.AttachmentID(len(told.Attachments) + 1), Name: name, Size: kept.Size, SHA256: kept.SHA256, Grant: kept.Grant, MediaType: "text/plain",
		})
		want["in/"+names[name]] = name
	}
	directory := t.TempDir()
	request := asked(told)
	request.Artifacts = ledger.Artifacts()
	if _, err := open(t, directory, "in/{file}").Handle(t.Context(), request, silent); err != nil {
		t.Fatal(err)
	}
	only(t, directory, want)
	request.EffectID, request.Artifacts = uuid.NewString(), memory.New(1).Artifacts()
	if _, err := open(t, directory, "in/{file}").Handle(t.Context(), request, silent); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("files that are not there: %v", err)
	}
	only(t, directory, want)
}

// TestPermit: a permit is asked for before anything has its name, and what is refused leaves nothing.
func TestPermit(t *testing.T) {
	t.Parallel()
	directory, refused := t.TempDir(), errors.New("refused")
	request := asked(schemas.TaskContext{Request: "x"})
	_, err := open(t, directory, "a.txt").Handle(t.Context(), request.WithPermit(func(context.Context) error {
		if entries, err := os.ReadDir(directory); err != nil || len(entries) != 1 {
			t.Errorf("before the permit there is %v, %v", entries, err)
		}
		return refused
	}), silent)
	if !errors.Is(err, refused) {
		t.Error(err)
	}
	only(t, directory, map[string]string{})
}

// TestFolderThatIsNone: nothing is made up when the folder cannot be written to, and another attempt may help.
func TestFolderThatIsNone(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(directory, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, directory, "a.txt").Handle(t.Context(), asked(schemas.TaskContext{Request: "x"}), silent)
	if failure, is := errors.AsType[*agent.Failure](err); !is || failure.Permanent || failure.Unknown || failure.Category != schemas.CategoryResource {
		t.Errorf("%+v", err)
	}
	outside := t.TempDir()
	directory = t.TempDir()
	if err := os.Symlink(outside, filepath.Join(directory, "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, directory, "sub/a.txt").Handle(t.Context(), asked(schemas.TaskContext{Request: "x"}), silent); err == nil {
		t.Error("a link led out of the folder")
	}
	only(t, outside, map[string]string{})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"a.md": "", "{date}/{file}": "", "a b.md": "", "": "it is empty", "{who}.md": "unknown {who}; it can be: time, date, run, task, file", "../a": "it is no path inside of the folder",
		"/a": "it is no path inside of the folder", "a//b": "it is no path inside of the folder", "a/": "it is no path inside of the folder", "a{": `a name has none of {}\:*?"<>| outside of places such as {run}`,
		".podium/a": "is no name", "a\u202E": "is no name", "nul": "is no name", "a.": "is no name",
	} {
		if _, err := file.ParsePattern(pattern); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	if _, err := file.New(file.Config{Directory: "x"}); err == nil {
		t.Error("there is an agent whose files have no name")
	}
	entry := open(t, "x", "y").Description()
	if entry.Kind != "file" || entry.Description == "" || !entry.InputSchema.IsValid() {
		t.Errorf("%+v", entry)
	}
}
