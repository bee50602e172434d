package wholefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podium/bus/embedded/wholefile"
)

// content returns what a file holds, when its folder holds nothing else.
func content(t *testing.T, name string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	held, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(held)
}

func TestReplace(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "", "third, and longer than the others"} {
		if err := wholefile.Replace(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, name); got != text {
			t.Errorf("it holds %q, want %q", got, text)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %s, %v", info.Mode(), err)
	}
}

// Of many who create a file at once one succeeds, and its content stays.
func TestCreate(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	var made atomic.Pointer[string]
	var creators sync.WaitGroup
	for i := range 20 {
		creators.Go(func() {
			text := strconv.Itoa(i)
			switch err := wholefile.Create(name, []byte(text)); {
			case err == nil && !made.CompareAndSwap(nil, &text):
				t.Errorf("%s and %s made it", text, *made.Load())
			case err != nil && !errors.Is(err, fs.ErrExist):
				t.Errorf("%s: %v", text, err)
			}
		})
	}
	creators.Wait()
	if made.Load() == nil || content(t, name) != *made.Load() {
		t.Errorf("it does not hold what was made: %v", made.Load())
	}
}

// TestWrite: what is written piece by piece is there as a whole or not at all, and replaces nothing that it was not told to.
func TestWrite(t *testing.T) {
	t.Parallel()
	folder, failed := t.TempDir(), errors.New("no more")
	name := filepath.Join(folder, "file")
	fill := func(words string, err error) func(io.Writer) error {
		return func(to io.Writer) error {
			_, wrong := io.WriteString(to, words)
			return errors.Join(wrong, err)
		}
	}
	for _, step := range []struct {
		words     string
		overwrite bool
		fails     error
		want, is  string
	}{
		{"half", false, failed, "no more", ""},
		{"one", false, nil, "", "one"},
		{"two", false, nil, "file exists", "one"},
		{"half", true, failed, "no more", "one"},
		{"three", true, nil, "", "three"},
	} {
		err := wholefile.Write(name, step.overwrite, fill(step.words, step.fails))
		if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want %q", step.words, err, step.want)
		}
		is, err := os.ReadFile(name)
		if string(is) != step.is || (err == nil) != (step.is != "") {
			t.Errorf("after %s it is %q, %v", step.words, is, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	taken := filepath.Join(folder, "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(string, []byte) error{"replace": wholefile.Replace, "create": wholefile.Create} {
		if err := write(taken, []byte("x")); err == nil {
			t.Errorf("%s: a folder was written over", name)
		}
		if err := write(filepath.Join(folder, "not", "there"), []byte("x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: without a folder: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
