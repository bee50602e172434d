package retrieval_test

import (
	"os"
	"path/filepath"
	"testing"

	"podium/agents/retrieval"
	"podium/bus/agent"
)

var _ agent.Checker = (*retrieval.Agent)(nil)

// TestCheckOpensTheIndex_G35: one that is not there yet is made later; one that cannot be opened is said.
func TestCheckOpensTheIndex_G35(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	made, err := retrieval.New(retrieval.Config{Directory: directory, Mode: retrieval.ModeRead})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err != nil {
		t.Errorf("nothing is learned yet: %v", err)
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "index_meta.json"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := made.Check(t.Context()); err == nil {
		t.Error("the index is damaged, and nothing is said")
	}
}
