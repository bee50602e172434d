package runfiles_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/bus/memory"
	"podium/cmd/podium/runfiles"
	"podium/schemas"
	"podium/schemas/workflow"
)

// made is a deliverable whose bytes are in the store.
func made(t *testing.T, store bus.Artifacts, path, content string) schemas.Deliverable {
	t.Helper()
	kept, err := store.Put(t.Context(), strings.NewReader(content), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Deliverable{
		DeliverableID: "d", Path: path, Type: schemas.DeliverableCode,
		Metadata: jsontext.Value(fmt.Sprintf(`{"sha256":%q,"size":%d,"media_type":"text/plain"}`, kept.SHA256, kept.Size)),
	}
}

func hashOf(t *testing.T, file schemas.Deliverable) string {
	t.Helper()
	var kept schemas.Artifact
	if err := schemas.Unmarshal(file.Metadata, &kept); err != nil {
		t.Fatal(err)
	}
	return kept.SHA256
}

func task(id string, dependencies []string, files ...schemas.Deliverable) *workflow.Task {
	return &workflow.Task{ID: id, Agent: "of-" + id, State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{Task: id, Dependencies: dependencies}, Deliverables: files}
}

func paths(files []runfiles.File) (paths []string) {
	for i := range files {
		paths = append(paths, files[i].Path+" of "+files[i].Task)
	}
	return paths
}

// TestStanding: of a path there is what builds on the other versions, and two that stand beside each other are a conflict. What failed has made nothing, and
// what has no bytes is no file.
func TestStanding(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	failed := task("d", nil, made(t, store, "d.txt", "d"))
	failed.State = workflow.TaskFailed
	run := workflow.Run{Tasks: []*workflow.Task{
		task("a", nil, made(t, store, `src\a.txt`, "a1"), made(t, store, "", "unnamed"), schemas.Deliverable{Path: "told.txt"}),
		task("b", []string{"a"}, made(t, store, "src/./a.txt", "a2"), made(t, store, "x/a.txt", "x")),
		task("c", []string{"a"}, made(t, store, "x/a.txt", "y")),
		failed,
	}}
	// c's result names a file of its own, one of its deliverables again, and one that it may not pass on.
	named := made(t, store, "named.pdf", "named")
	run.Tasks[2].Proven = []string{hashOf(t, named), hashOf(t, run.Tasks[2].Deliverables[0])}
	attachment := func(name string, file schemas.Deliverable) string {
		return fmt.Sprintf(`{"name":%q,"media_type":"text/html","artifact":%s}`, name, file.Metadata)
	}
	read := func(body schemas.Content) (schemas.Result, error) {
		return schemas.Result{Data: jsontext.Value(`{"attachments":[` + attachment("named.pdf", named) + "," + attachment("named.pdf", named) + "," +
			attachment("a.txt", run.Tasks[2].Deliverables[0]) + "," + attachment("other.txt", made(t, store, "", "of another")) + `]}`)}, nil
	}
	all, err := runfiles.Standing(&run, read)
	if got := paths(all); err != nil || !slices.Equal(got, []string{"d of a", "src/a.txt of b", "x/a.txt of b", "named.pdf of c", "x/a.txt of c"}) {
		t.Errorf("%q stand, %v", got, err)
	}
	if all[1].Conflicts || !all[2].Conflicts || all[3].Conflicts || !all[4].Conflicts || all[3].MediaType != "text/html" || all[4].Type != schemas.DeliverableCode {
		t.Errorf("%+v", all)
	}
	for name, want := range map[string]int{"src/a.txt": 1, "a.txt": 3, "src": 1, "x/": 2, "b.txt": 0, "../src/a.txt": 0} {
		if got := runfiles.Named(all, name); len(got) != want {
			t.Errorf("%s means %q", name, paths(got))
		}
	}
	if of, known, err := runfiles.OfTask(&run, "a", read); err != nil || !known || !slices.Equal(paths(of), []string{"src/a.txt of a", "d of a"}) {
		t.Errorf("%q are of a", paths(of))
	}
	if of, known, err := runfiles.OfTask(&run, "c", read); err != nil || !known || !slices.Equal(paths(of), []string{"named.pdf of c", "x/a.txt of c"}) {
		t.Errorf("%q are of c", paths(of))
	}
	unread := errors.New("it is gone")
	if _, err := runfiles.Standing(&run, func(schemas.Content) (schemas.Result, error) { return schemas.Result{}, unread }); !errors.Is(err, unread) {
		t.Errorf("a result that cannot be read: %v", err)
	}
	if _, known, _ := runfiles.OfTask(&run, "z", read); known {
		t.Error("a task that the run has not is known")
	}
}

// TestWrite: what is there with the same content stays, another content is kept unless forced, and nothing is ever written elsewhere.
func TestWrite(t *testing.T) {
	t.Parallel()
	store, directory := memory.New(1).Artifacts(), filepath.Join(t.TempDir(), "made")
	files := func(named ...string) []runfiles.File {
		run := workflow.Run{Tasks: []*workflow.Task{task("a", nil)}}
		for _, name := range named {
			run.Tasks[0].Deliverables = append(run.Tasks[0].Deliverables, made(t, store, name, "content of "+name))
		}
		all, err := runfiles.Standing(&run, nil)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	both := files("src/a.txt", "b.txt")
	for round := range 2 {
		written, err := runfiles.Write(t.Context(), store, both, directory, false)
		if err != nil || len(written) != 2 || written[0].Kept != (round == 1) || written[0].Place != filepath.Join(directory, "src", "a.txt") {
			t.Fatalf("round %d: %+v, %v", round, written, err)
		}
	}
	if err := os.WriteFile(filepath.Join(directory, "b.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *runfiles.RefusedError
	if _, err := runfiles.Write(t.Context(), store, append(files("new.txt"), both...), directory, false); !errors.As(err, &refused) || len(refused.Faults) != 1 || !strings.Contains(err.Error(), "b.txt is there with another content") {
		t.Errorf("a file of somebody else: %v", err)
	}
	if _, err := os.Stat(filepath.Join(directory, "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("some are written beside one that is refused")
	}
	if _, err := runfiles.Write(t.Context(), store, both, directory, true); err != nil {
		t.Errorf("forced: %v", err)
	}
	if is, err := os.ReadFile(filepath.Join(directory, "b.txt")); err != nil || string(is) != "content of b.txt" {
		t.Errorf("forced, it is %q, %v", is, err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(directory, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../a.txt", "/etc/a.txt", "src/../../a.txt", "..", ".", `..\a.txt`, "a\x1b[2J.txt", "link/a.txt", "src"} {
		if written, err := runfiles.Write(t.Context(), store, files(name), directory, true); !errors.As(err, &refused) || len(written) > 0 {
			t.Errorf("%q is written: %+v, %v", name, written, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
}
