package recovery_test

import (
	"testing"

	"podium/schemas"
	"podium/supervisor/recovery"
)

func languages() []schemas.Language {
	return []schemas.Language{
		{Tag: "en", Choices: map[schemas.InquiryChoice][]string{schemas.ChoiceReplan: {"instead"}, schemas.ChoiceEnd: {"give up"}}},
		{Tag: "de", Choices: map[schemas.InquiryChoice][]string{schemas.ChoiceRetry: {"noch einmal"}, schemas.ChoiceAnswer: {"ergebnis"}, schemas.ChoiceSkip: {"give up"}}},
	}
}

// TestRead: the first line decides, alone, in any language of the profile or by the name of the choice. What has to have words has some.
func TestRead_O29(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		choice schemas.InquiryChoice
		rest   string
	}{
		"retry":                      {schemas.ChoiceRetry, ""},
		"\n  Noch einmal!\n\nAnna":   {schemas.ChoiceRetry, ""},
		"Ergebnis:\r\n\r\n24 Betten": {schemas.ChoiceAnswer, "24 Betten"},
		"answer: 24\nbeds":           {schemas.ChoiceAnswer, "24\nbeds"},
		"instead\nask the ward":      {schemas.ChoiceReplan, "ask the ward"},
		"end":                        {schemas.ChoiceEnd, ""},
		"skip: it is not needed":     {"", ""},
		"answer":                     {"", ""},
		"replan:  \n ":               {"", ""},
		"give up":                    {"", ""}, // it means two things
		"please retry":               {"", ""},
		"24 beds":                    {"", ""},
		"":                           {"", ""},
	} {
		choice, rest, chosen := recovery.Read(languages(), text)
		if chosen != (want.choice != "") || chosen && (choice != want.choice || rest != want.rest) {
			t.Errorf("%q is %q with %q (%v), and should be %q with %q", text, choice, rest, chosen, want.choice, want.rest)
		}
	}
}

// TestWay: a category that is not named has the default, and what nobody knows to have happened is for people.
func TestWay_M44(t *testing.T) {
	t.Parallel()
	people := &schemas.EscalationChannel{People: []string{"anna"}, Expire: 1}
	for name, c := range map[string]struct {
		profile  schemas.Profile
		category schemas.FailureCategory
		cause    schemas.FailureKind
		want     schemas.RecoveryWay
	}{
		"nothing is said": {schemas.Profile{}, schemas.CategoryExecution, schemas.FailureAgent, ""},
		"default":         {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WaySkip}}, schemas.CategoryExecution, schemas.FailureAgent, schemas.WaySkip},
		"by category": {
			schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WaySkip, "validation": schemas.WayFail}},
			schemas.CategoryValidation, schemas.FailureVerdict, schemas.WayFail,
		},
		"in doubt": {
			schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WaySkip}, Escalation: &schemas.Escalation{Coordinator: people}},
			schemas.CategoryCoordination, schemas.FailureUnknownEffect, schemas.WayCoordinator,
		},
		"in doubt, and nobody is there": {
			schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WaySkip}}, schemas.CategoryCoordination, schemas.FailureUnknownEffect, "",
		},
	} {
		if got := recovery.Way(&c.profile, c.category, c.cause); got != c.want {
			t.Errorf("%s: %q, and not %q", name, got, c.want)
		}
	}
}

// TestFaults: each value that is there needs whom it asks.
func TestFaults(t *testing.T) {
	t.Parallel()
	human := &schemas.Escalation{Human: &schemas.EscalationChannel{People: []string{"anna"}, Expire: 1}}
	for name, c := range map[string]struct {
		profile schemas.Profile
		faults  int
	}{
		"nothing":             {schemas.Profile{}, 0},
		"people":              {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayHuman}, Escalation: human}, 0},
		"no people":           {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayHuman, "input": schemas.WayCoordinator}}, 2},
		"nobody is asked":     {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayRequester}}, 1},
		"unknown category":    {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"weather": schemas.WaySkip}}, 1},
		"unknown value":       {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"input": "pray"}}, 1},
		"a channel of nobody": {schemas.Profile{Escalation: &schemas.Escalation{Human: &schemas.EscalationChannel{Expire: 1}}}, 1},
		"a channel forever":   {schemas.Profile{Escalation: &schemas.Escalation{Coordinator: &schemas.EscalationChannel{People: []string{"anna"}}}}, 1},
	} {
		if got := recovery.Faults(&c.profile); len(got) != c.faults {
			t.Errorf("%s: %v", name, got)
		}
	}
}
