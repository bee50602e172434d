package exec_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"podium/agents/exec"
	"podium/bus/agent"
)

var _ agent.Checker = (*exec.Agent)(nil)

// TestCheckLooksForTheProgram_G35: it is there and may be run, or the agent cannot do its work until it is again.
func TestCheckLooksForTheProgram_G35(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	put := func() {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	put()
	made, err := exec.New(exec.Config{Command: []string{program}})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("it is there: %v", err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err == nil {
		t.Error("it is gone, and nothing is said")
	}
	put()
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("it is there again: %v", err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(program, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := made.Check(t.Context()); err == nil {
			t.Error("it may not be run, and nothing is said")
		}
	}
}
