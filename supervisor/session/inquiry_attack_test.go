package session_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
)

// attack plays a story that says nothing of what happens, and returns what happened.
func attack(t *testing.T, script string) (s *story, told []string) {
	t.Helper()
	s = &story{stage: newStage(t, storyProfile())}
	datadriven.RunTestFromString(t, script, func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		told = append(told, s.play(t, d))
		return d.Expected
	})
	return s, told
}
