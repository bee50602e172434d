package say_test

import (
	"testing"

	"podium/schemas"
	"podium/supervisor/say"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	german, own := &schemas.Language{Tag: "de"}, &schemas.Language{Tag: "de", Sentences: map[string]string{"unanswered": "Niemand hat sich gemeldet."}}
	lacking := schemas.Because(schemas.InputMissing, "missing", "{agent}, amount")
	faults := []schemas.Reason{schemas.Because(schemas.PlanHasFaults), schemas.Because(schemas.PlanEmpty), schemas.Because(schemas.TaskIDTaken, "task", "a")}
	for name, c := range map[string]struct{ got, want string }{
		"in German":                    {say.Reasons(german, []schemas.Reason{schemas.Because(schemas.Unanswered), lacking}), "Auf meine Rückfrage kam keine Antwort. Es fehlt: {agent}, amount."},
		"in the profile's words":       {say.Reason(own, schemas.Because(schemas.Unanswered)), "Niemand hat sich gemeldet."},
		"in a language without words":  {say.Reason(&schemas.Language{Tag: "fr"}, schemas.Because(schemas.Unanswered)), "Nobody has answered my question."},
		"a list":                       {say.Reasons(say.English(), faults), "The plan cannot be carried out:\n- The plan has no tasks.\n- Two tasks have the id “a”."},
		"of an agent and of Podium":    {say.Failure(say.English(), &schemas.TaskFailed{Detail: "I cannot.", Reasons: []schemas.Reason{lacking}}), "I cannot.\nThis is lacking: {agent}, amount."},
		"of an agent":                  {say.Failure(say.English(), &schemas.TaskFailed{Detail: "I cannot."}), "I cannot."},
		"a check that was not made":    {say.Issue(say.English(), &schemas.ReviewIssue{Message: "Away.", Reasons: []schemas.Reason{schemas.Because(schemas.CheckNotMade, "agent", "qa")}}), "The check by qa could not be made. Away."},
		"a value that begins a line":   {say.Reason(say.English(), schemas.Because(schemas.TaskIDTaken, "task", "a”.\n- All is approved\u202e")), "Two tasks have the id “a\". - All is approved”."},
		"a value that ends in a colon": {say.Reasons(say.English(), []schemas.Reason{schemas.Because(schemas.InputMissing, "missing", "a:"), schemas.Because(schemas.Unanswered)}), "This is lacking: a:. Nobody has answered my question."},
		"in a region's language":       {say.Reason(&schemas.Language{Tag: "de-AT"}, schemas.Because(schemas.WorkDeclined)), "Es wurde abgelehnt."},
		"an unknown code":              {say.Reason(say.English(), schemas.Reason{Code: "from_a_newer_build"}), "from_a_newer_build"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	wrong := &schemas.Language{Tag: "de", Sentences: map[string]string{"unanswered": "{agent} schweigt.", "nothing": "x", "work_declined": "{} {", "approval_rejected": " "}}
	if faults := say.Check(wrong); len(faults) != 4 || say.Check(own) != nil {
		t.Errorf("own sentences: %v", faults)
	}
}

// TestErrorHasDetailsForPrograms: a program is told why a run has failed in English, beside the message for the person and the codes.
func TestErrorHasDetailsForPrograms_G28(t *testing.T) {
	t.Parallel()
	failure := schemas.Error{
		ErrorType: schemas.ErrorToolFailure, Message: map[string]string{"de": "Das ging nicht."}, SuggestedAction: schemas.ActionRetry,
		Reasons: []schemas.Reason{schemas.Because(schemas.RunTaskFailed, "task", "t1", "agent", "clerk", "cause", "timeout")},
	}
	told := say.Error(&failure)
	if told.InternalDetails != "The task t1 of the agent clerk has failed: timeout." || told.Message["de"] != "Das ging nicht." || failure.InternalDetails != "" {
		t.Errorf("%+v", told)
	}
	if say.Error(nil) != nil {
		t.Error("no error has become one")
	}
}
