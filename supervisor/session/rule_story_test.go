package session_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"podium/supervisor/plan"
)

// TestEachRuleHasAStory: without a rule of a run, or without the condition or the phases of a group of rules, the story fails that the table of rules names.
// All stories pass as well when groups of rules stand in another order that have no phase in common.
func TestEachRuleHasAStory(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "session.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-tags", "faults", "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with the tag faults: %v\n%s", err, output)
	}
	passes := func(story, fault string) bool {
		command := exec.CommandContext(t.Context(), binary, "-test.run=^TestStories$/^"+story+"$")
		command.Env = append(os.Environ(), "PODIUM_FAULT="+fault)
		return command.Run() == nil
	}
	const orders = 4
	for order := range orders {
		t.Run(fmt.Sprintf("order %d", order+1), func(t *testing.T) {
			t.Parallel()
			if !passes(".*", fmt.Sprintf("order %d", order+1)) {
				t.Error("a story fails")
			}
		})
	}
	stories := plan.RuleStories()
	for _, left := range slices.Sorted(maps.Keys(stories)) {
		t.Run(left, func(t *testing.T) {
			t.Parallel()
			story := stories[left]
			if _, err := os.Stat(filepath.Join("testdata", "stories", story+".txt")); err != nil {
				t.Fatal(err)
			}
			if !passes(story, "") {
				t.Errorf("story %s fails with all rules", story)
			}
			if passes(story, left) {
				t.Errorf("story %s passes without it", story)
			}
		})
	}
}
