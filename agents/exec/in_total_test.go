package exec_test

import (
	"strings"
	"testing"

	"podium/agents/exec"
)

// TestFilesAreBoundedByWhatTheyHold: what a request says of the size of a file is its sender's word, and what a program gets is bounded
// by what is there.
func TestFilesAreBoundedByWhatTheyHold(t *testing.T) {
	t.Parallel()
	request := withFiles(t, strings.Repeat("a", 400), strings.Repeat("b", 400), strings.Repeat("c", 400))
	for i := range request.Payload.Tasks[0].Context.Attachments {
		request.Payload.Tasks[0].Context.Attachments[i].Size = 0
	}
	outcome, err := program(t, "files", func(config *exec.Config) { config.MaxFiles = 500 }).Handle(t.Context(), request, new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(outcome.Text, "in/0"); got != 1 {
		t.Errorf("of 500 bytes of files, the program got %d of 400:\n%s", got, outcome.Text)
	}
}
