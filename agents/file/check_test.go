package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"podium/agents/file"
	"podium/bus/agent"
)

var _ agent.Checker = (*file.Agent)(nil)

// TestCheckLooksAtTheDirectory_G35: it is there, or could be made; something else in its place is said. Nothing is written.
func TestCheckLooksAtTheDirectory_G35(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	name, err := file.ParsePattern("{run}.md")
	if err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(parent, "plans", "new")
	made, err := file.New(file.Config{Directory: directory, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("it could be made: %v", err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("a look has made %v, %v", entries, err)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("it is there: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(parent, "plans")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "plans"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err == nil {
		t.Error("a file is in its place, and nothing is said")
	}
}
