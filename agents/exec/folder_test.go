package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"podium/agents/exec"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

// files is a program that copies its files, upper-cased, to out/, and prints what it has read.
func files(string) {
	dir := os.Getenv("PODIUM_DIR")
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(66)
		}
		return content
	}
	var index []struct{ File, Name, Missing string }
	if err := json.Unmarshal(read("in/index.json"), &index); err != nil {
		os.Exit(65)
	}
	if !json.Valid(read("request.json")) {
		os.Exit(65)
	}
	told := []string{string(read("words.txt")), string(read("arguments.json"))}
	if err := os.Mkdir(filepath.Join(dir, "out", "deep"), 0o700); err != nil {
		os.Exit(73)
	}
	for _, entry := range index {
		told = append(told, entry.File+" is "+entry.Name+" "+entry.Missing)
		if entry.File != "" {
			made := filepath.Join(dir, "out", "deep", filepath.Base(entry.File))
			if err := os.WriteFile(made, bytes.ToUpper(read(entry.File)), 0o600); err != nil {
				os.Exit(73)
			}
		}
	}
	fmt.Fprintln(os.Stdout, strings.Join(told, "\n"))
}

// litter leaves in out/ what no answer may bring along.
func litter(string) {
	out := filepath.Join(os.Getenv("PODIUM_DIR"), "out")
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(73)
		}
	}
	must(os.Symlink("/etc/passwd", filepath.Join(out, "link")))
	must(os.Symlink("/etc", filepath.Join(out, "folder")))
	must(syscall.Mkfifo(filepath.Join(out, "pipe"), 0o600))
	must(os.WriteFile(filepath.Join(out, "large"), make([]byte, 3<<19), 0o600))
	must(os.WriteFile(filepath.Join(out, "\u202etxt.exe"), []byte("x"), 0o600))
	for n := range 70 {
		must(os.WriteFile(filepath.Join(out, fmt.Sprintf("some-%02d.txt", n)), []byte("x"), 0o600))
	}
	must(os.Rename(out, out+".moved"))
	must(os.Symlink("/etc", out))
	fmt.Fprint(os.Stdout, `{"status": "completed", "result": {"text": "done"}, "deliverables": [{"deliverable_id": "mine", "type": "report", "path": "out/some-00.txt", "description": "The first."}]}`)
}

// stuff fills out/ until it is stopped.
func stuff(string) {
	file, err := os.Create(filepath.Join(os.Getenv("PODIUM_DIR"), "out", "all"))
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
		time.Sleep(time.Millisecond)
	}
	os.Exit(73)
}

// withFiles returns a request that lists some files, which stand in a store.
func withFiles(t *testing.T, contents ...string) *agent.Request {
	t.Helper()
	request := newRequest()
	request.Artifacts = memory.New(1).Artifacts()
	for i, content := range contents {
		artifact, err := request.Artifacts.Put(t.Context(), strings.NewReader(content), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		context := &request.Payload.Tasks[0].Context
		context.Attachments = append(context.Attachments, schemas.TaskAttachment{
			ID: fmt.Sprintf("a%d", i+1), Name: []string{"Befund.PDF", "../../etc/passwd", "no ending"}[i%3], SHA256: artifact.SHA256, Size: artifact.Size, From: schemas.FromMessage,
		})
	}
	return request
}

func contentOf(t *testing.T, request *agent.Request, made *schemas.Deliverable) string {
	t.Helper()
	var artifact schemas.Artifact
	if err := json.Unmarshal(made.Metadata, &artifact); err != nil {
		t.Fatal(err)
	}
	reader, err := request.Artifacts.Get(t.Context(), artifact)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err = errors.Join(err, reader.Close()); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestFiles_G42: a program finds the files of its request under plain names, and what it makes comes
// with its answer; its folder is gone afterwards.
func TestFiles_G42(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	request := withFiles(t, "one", "two", "three")
	outcome, err := program(t, "files", func(config *exec.Config) { config.Files = filepath.Join(base, "made") }).Handle(t.Context(), request, new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Grüße\n{}\nin/01.pdf is Befund.PDF \nin/02.bin is ../../etc/passwd \nin/03.bin is no ending"; outcome.Text != want {
		t.Errorf("it has read\n%s\nwant\n%s", outcome.Text, want)
	}
	var made []string
	for i := range outcome.Deliverables {
		made = append(made, outcome.Deliverables[i].Path+" "+contentOf(t, request, &outcome.Deliverables[i]))
	}
	if want := []string{"deep/01.pdf ONE", "deep/02.bin TWO", "deep/03.bin THREE"}; !slices.Equal(made, want) || len(outcome.Issues) > 0 {
		t.Errorf("it has made %q with issues %+v, want %q", made, outcome.Issues, want)
	}
	if left, err := os.ReadDir(filepath.Join(base, "made")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestFilesThatAreNotThere: what is too large, and what nobody has, is named.
func TestFilesThatAreNotThere(t *testing.T) {
	t.Parallel()
	request := withFiles(t, "one", strings.Repeat("x", 1000))
	attachments := &request.Payload.Tasks[0].Context.Attachments
	*attachments = append(*attachments, schemas.TaskAttachment{ID: "a3", Name: "gone", SHA256: strings.Repeat("a", 64), Size: 1})
	outcome, err := program(t, "files", func(config *exec.Config) { config.MaxFiles = 500 }).Handle(t.Context(), request, new(journal).report)
	if err != nil || !strings.HasSuffix(outcome.Text, "in/01.pdf is Befund.PDF \n is ../../etc/passwd too_large\n is gone unavailable") {
		t.Errorf("%q, %v", outcome.Text, err)
	}
}

// TestWhatIsNoFileIsLeftOut: no link is followed, no pipe waited for, nothing beyond the bounds kept, and the folder
// that is read is the one that was made; each thing left out is named.
func TestWhatIsNoFileIsLeftOut(t *testing.T) {
	t.Parallel()
	request := withFiles(t)
	outcome, err := program(t, "litter", func(config *exec.Config) { config.MaxFiles = 1 << 20 }).Handle(t.Context(), request, new(journal).report)
	if err != nil || outcome.Text != "done" || len(outcome.Deliverables) != 64 {
		t.Fatalf("%d deliverables, %q, %v", len(outcome.Deliverables), outcome.Text, err)
	}
	if first := &outcome.Deliverables[0]; first.DeliverableID != "mine" || first.Path != "some-00.txt" || contentOf(t, request, first) != "x" {
		t.Errorf("the deliverable that it has printed is %+v", first)
	}
	var said []string
	for i := range outcome.Issues {
		said = append(said, outcome.Issues[i].Description)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"link is left out", "folder is left out", "pipe is left out", "large is left out", "7 more files"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if strings.ContainsRune(all+fmt.Sprint(outcome.Deliverables), '\u202e') {
		t.Error("a name turns the direction of writing")
	}
}

// TestProgramThatFillsTheDiskIsStopped: what it makes is bounded while it runs.
func TestProgramThatFillsTheDiskIsStopped(t *testing.T) {
	t.Parallel()
	_, err := program(t, "stuff", func(config *exec.Config) { config.MaxFiles = 1 << 20 }).Handle(t.Context(), withFiles(t), new(journal).report)
	if failure := asFailure(t, err); !failure.Permanent || !strings.Contains(failure.Message, "1048576") {
		t.Errorf("permanent %v, message %q", failure.Permanent, failure.Message)
	}
}

// A store that takes nothing.
type fullStore struct{ bus.Artifacts }

func (fullStore) Put(_ context.Context, _ io.Reader, _ string) (schemas.Artifact, error) {
	return schemas.Artifact{}, bus.ErrFull
}

// TestLostFilesRepeatNoEffect: what was done outside is not done again because a file could not be kept.
func TestLostFilesRepeatNoEffect(t *testing.T) {
	t.Parallel()
	for effects, repeated := range map[string]bool{"": true, schemas.SideEffectsExternal: false} {
		request := withFiles(t, "one")
		request.Artifacts = fullStore{request.Artifacts}
		outcome, err := program(t, "files", func(config *exec.Config) { config.SideEffects = effects }).Handle(t.Context(), request, new(journal).report)
		if (err != nil) != repeated || repeated != errors.Is(err, bus.ErrFull) {
			t.Errorf("side effects %q: %v", effects, err)
		}
		if !repeated && (len(outcome.Issues) != 1 || !strings.Contains(outcome.Issues[0].Description, "could not be kept") || outcome.Text == "") {
			t.Errorf("%+v", outcome)
		}
	}
}

// TestLeftFoldersAreSwept: folders of killed processes are removed, those of others at work are not.
func TestLeftFoldersAreSwept(t *testing.T) {
	t.Parallel()
	base, old := t.TempDir(), time.Now().Add(-time.Hour)
	for _, name := range []string{"request-left", "request-taken", "other"} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, ".lock"), nil, 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	lock := flock.New(filepath.Join(base, "request-taken", ".lock"))
	if locked, err := lock.TryLock(); err != nil || !locked {
		t.Fatal(locked, err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if _, err := program(t, "files", func(config *exec.Config) { config.Files = base }).Handle(t.Context(), withFiles(t), new(journal).report); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(base)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{"other", "request-taken"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q is left (%v), want %q", left, err, want)
	}
}

// TestProgramsAreToldToEnd: a program may clean up when nobody waits any more, and one that does not obey is
// killed all the same.
func TestProgramsAreToldToEnd(t *testing.T) {
	t.Parallel()
	note := filepath.Join(t.TempDir(), "note")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := program(t, "obedient:"+note).Handle(ctx, newRequest(), func(int, string) { cancel() })
	if said, _ := os.ReadFile(note); string(said) != "told" || err == nil {
		t.Errorf("%q, %v", said, err)
	}
	_, err = program(t, "stubborn", func(config *exec.Config) { config.Timeout = 100 * time.Millisecond }).Handle(t.Context(), newRequest(), new(journal).report)
	if err == nil { // else it would never return
		t.Error("it was not stopped")
	}
}
