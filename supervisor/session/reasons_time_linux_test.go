package session_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"podium/schemas"
)

// TestReasonsOfManyLines: how long a decision takes does not grow with the lines of a reason times the length of the mail that it answers.
func TestReasonsOfManyLines(t *testing.T) { //nolint:paralleltest // the collector would work for other tests
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	profile := storyProfile()
	profile.Edition, profile.Language, profile.CheckLanguage = schemas.Edition3, "de", "text1"
	profile.Routers = []schemas.Router{{Kind: schemas.RouterDefault, Agent: "clerk"}}
	s := newStage(t, profile)
	text := strings.Repeat("Bitte drucken Sie mir den Brief und sagen Sie den Termin ab. ", 500)
	s.takes(t, s.event(t, "c1", schemas.TypeChatReceived, schemas.ChatReceived{Provider: "webhook", Channel: "web", MessageID: "c1", Text: text}))
	answered := schemas.ResponsePayload{
		Status: schemas.StatusFailed,
		IssuesEncountered: []schemas.Issue{
			{IssueID: "i1", TaskID: "t1", Agent: "clerk", Severity: "high", Description: strings.Repeat("x\n", 1<<10), Resolution: schemas.ResolutionEscalated},
		},
	}
	before := processorTime(t)
	if _, err := s.take(t, s.answerTo(t, "clerk", 1, "t1", 1, answered), "clerk"); err != nil {
		t.Fatal(err)
	}
	if took := processorTime(t) - before; took > time.Second || s.state.Active != nil && !s.state.Active.Settled() {
		t.Errorf("the decision took %v", took)
	}
}

// processorTime is what the thread of the caller has used of the processor, so that no other process adds to it.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
