package session_test

import (
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/schemas"
)

// TestReasonsOfManyLines: how long a decision takes does not grow with the lines of a reason times the length of the mail that it answers.
func TestReasonsOfManyLines(t *testing.T) { //nolint:paralleltest // the collector would work for other tests
	profile := storyProfile()
	profile.Language, profile.CheckLanguage = "de", "text1"
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
	took := cputime.Of(t, func() {
		if _, err := s.take(t, s.answerTo(t, "clerk", 1, "t1", 1, answered), "clerk"); err != nil {
			t.Error(err)
		}
	})
	if took > time.Second || s.state.Active != nil && !s.state.Active.Settled() {
		t.Errorf("the decision took %v", took)
	}
}
