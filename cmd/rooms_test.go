package cmd_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maxLines = 600

// vague names say where something was put, not what it is.
var vague = []string{"util", "utils", "common", "manager", "helper", "helpers", "misc", "stuff", "pkg"}

// TestRooms keeps every file readable in one sitting and every name meaningful.
func TestRooms(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != ".." && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && filepath.Ext(name) != ".go" {
			return nil
		}
		for _, word := range vagueWords(name) {
			t.Errorf("%s: %q says nothing about what is inside", file, word)
		}
		if entry.IsDir() {
			return nil
		}
		files++
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if lines := bytes.Count(body, []byte("\n")); lines > maxLines {
			t.Errorf("%s: %d lines, more than %d", file, lines, maxLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

func vagueWords(name string) []string {
	words := strings.FieldsFunc(strings.TrimSuffix(name, ".go"), func(c rune) bool { return c == '_' || c == '-' || c == '.' })
	return slices.DeleteFunc(words, func(word string) bool { return !slices.Contains(vague, word) })
}

func TestVagueWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"util": 1, "string_helpers.go": 1, "webhook.go": 0, "baseline.go": 0, "webhook_internal_test.go": 0} {
		if got := vagueWords(name); len(got) != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
