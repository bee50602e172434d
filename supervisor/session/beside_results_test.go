package session_test

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestWordsBesideResults: of what an agent says beside its result, a person reads what is in their language.
func TestWordsBesideResults(t *testing.T) {
	t.Parallel()
	profile := storyProfile()
	profile.Language, profile.CheckLanguage = "de", "text1"
	profile.Routers = []schemas.Router{{Kind: schemas.RouterDefault, Agent: "clerk"}}
	for i := range profile.Languages {
		texts := &profile.Languages[i].Texts
		texts.Findings, texts.Recommendations, texts.CheckFailed = "Aufgefallen:", "Empfohlen:", "Nicht bestanden: {validator}."
	}
	s := newStage(t, profile)
	s.takes(t, s.event(t, "c1", schemas.TypeChatReceived, schemas.ChatReceived{Provider: "webhook", Channel: "web", MessageID: "c1", Text: "Bitte drucken"}))
	answered := schemas.ResponsePayload{
		Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "Der Brief ist gedruckt."},
		IssuesEncountered: []schemas.Issue{
			{IssueID: "i1", TaskID: "t1", Agent: "clerk", Severity: "low", Description: "Das Papier ist fast leer"},
			{IssueID: "i2", TaskID: "t1", Agent: "clerk", Severity: "low", Description: "The toner is low as well"},
		},
		ValidationResults: []schemas.ValidationResult{{
			Validator: "layout", Status: schemas.ValidationFailed, Details: "The margin is too small",
			Issues: []schemas.ValidationIssue{{Severity: schemas.ValidationError, Message: "Der Rand ist zu schmal"}, {Severity: schemas.ValidationError, Message: "The line is too long"}},
		}},
		Recommendations: []string{"Bestellen Sie Papier.", "Order some toner before it is gone."},
	}
	if _, err := s.take(t, s.answerTo(t, "clerk", 1, "t1", 1, answered), "clerk"); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"Nicht bestanden: layout.\n- Der Rand ist zu schmal", "Aufgefallen:\n- Das Papier ist fast leer", "Empfohlen:\n- Bestellen Sie Papier."}, "\n\n")
	if notes := s.state.Active.Notes; notes != want {
		t.Errorf("the person reads\n%s\nand not\n%s", notes, want)
	}
}
