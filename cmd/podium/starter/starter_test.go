package starter_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/starter"
)

var update = flag.Bool("update", false, "write templates.txtar anew")

const examples = "../../../deploy/examples/agents"

// TestTemplatesAreTheExamples: what is written are the examples of the documentation, which
// are shown to work there.
func TestTemplatesAreTheExamples(t *testing.T) {
	t.Parallel()
	var archive strings.Builder
	archive.WriteString("The files of deploy/examples/agents; `make generate` writes this one anew.\n")
	root := os.DirFS(examples)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.Contains(path, "node_modules/") || strings.Contains(path, "__pycache__/") {
			return nil // made where somebody has run it
		}
		text, err := fs.ReadFile(root, path)
		fmt.Fprintf(&archive, "-- %s --\n%s", path, text)
		if !strings.HasSuffix(string(text), "\n") || strings.Contains(string(text), "\n-- ") {
			t.Errorf("%s does not end its last line, or holds what ends a file of the archive", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("templates.txtar", []byte(archive.String()), 0o644); err != nil { //nolint:gosec // it is no secret
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("templates.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != archive.String() {
		t.Error("templates.txtar is not what deploy/examples/agents has: `make generate` writes it anew")
	}
}

// TestWhatIsWrittenIsTheExample: but for the name, byte for byte, and programs can be executed.
func TestWhatIsWrittenIsTheExample(t *testing.T) {
	t.Parallel()
	for language, folder := range map[string]string{"go": "go", "js": "javascript", "py": "python", "sh": "shell"} {
		dir := filepath.Join(t.TempDir(), "deep", "down")
		made, err := starter.Write(starter.Config{Language: language, Name: "otters", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		there, err := os.ReadDir(filepath.Join(examples, folder))
		if err != nil {
			t.Fatal(err)
		}
		written := 0
		for _, entry := range there {
			if entry.IsDir() {
				continue
			}
			written++
			want, err := os.ReadFile(filepath.Join(examples, folder, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, strings.ReplaceAll(entry.Name(), "clerk", "otters"))
			got, err := os.ReadFile(path)
			if err != nil || string(got) != strings.ReplaceAll(string(want), "clerk", "otters") {
				t.Errorf("%s: %s is not the example, %v", language, path, err)
			}
			if info, err := os.Stat(path); err != nil || (info.Mode()&0o100 != 0) != strings.HasPrefix(string(got), "#!") {
				t.Errorf("%s: the mode of %s is %v, %v", language, path, info.Mode(), err)
			}
		}
		if len(made.Files) != written+1 || len(made.Next) != 3 {
			t.Errorf("%s: written %d of %d: %+v", language, len(made.Files), written+1, made)
		}
		config, err := os.ReadFile(filepath.Join(dir, "podium.yaml"))
		if err != nil || !strings.Contains(string(config), "\n  otters: {kind: external") {
			t.Errorf("%s: the configuration is %s, %v", language, config, err)
		}
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := starter.Config{Language: "py", Name: "otters", Dir: dir}
	mine := filepath.Join(dir, "otters.py")
	if err := os.WriteFile(mine, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := starter.Write(config); !errors.Is(err, starter.ErrInTheWay) || !strings.Contains(err.Error(), mine) {
		t.Errorf("a file that is there: %v", err)
	}
	kept, err := os.ReadDir(dir)
	if err != nil || len(kept) != 1 {
		t.Errorf("beside it there are %v, %v", kept, err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine\n" {
		t.Errorf("it holds %q, %v", text, err)
	}
}

func TestNamesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, language := range map[string]string{
		"": "go", "Otters": "go", "12": "go", "-o": "go", "_o": "js", "a b": "sh", "../up": "py", "json": "py", "test_work": "py", "test": "sh",
	} {
		dir := filepath.Join(t.TempDir(), "new")
		if _, err := starter.Write(starter.Config{Language: language, Name: name, Dir: dir}); !errors.Is(err, starter.ErrName) {
			t.Errorf("%q in %s: %v", name, language, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q in %s: a directory is left, %v", name, language, err)
		}
	}
}
