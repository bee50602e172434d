package session_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"podium/supervisor/plan"
)

// TestEachRuleHasAStory: without a rule of a run the story fails that the rule names, which passes with it.
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
	stories := plan.RuleStories()
	for _, rule := range slices.Sorted(maps.Keys(stories)) {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			story := stories[rule]
			if _, err := os.Stat(filepath.Join("testdata", "stories", story+".txt")); err != nil {
				t.Fatal(err)
			}
			if !passes(story, "") {
				t.Errorf("story %s fails with all rules", story)
			}
			if passes(story, "rule "+rule) {
				t.Errorf("story %s passes without the rule", story)
			}
		})
	}
}
