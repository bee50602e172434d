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

// TestTable: the table has a way for each category, those that are named beside it have theirs, and whoever is asked for more is where there is a budget.
func TestTable_M45(t *testing.T) {
	t.Parallel()
	people := &schemas.EscalationChannel{People: []string{"anna"}, Expire: 1}
	profile := schemas.Profile{
		Recovery:   map[string]schemas.RecoveryWay{schemas.RecoveryDefault: schemas.WayTable, string(schemas.CategoryInput): schemas.WayFail},
		Escalation: &schemas.Escalation{Coordinator: people},
	}
	for _, c := range []struct {
		category schemas.FailureCategory
		cause    schemas.FailureKind
		want     schemas.RecoveryWay
	}{
		{schemas.CategoryExecution, schemas.FailureAgent, schemas.WayCoordinator},
		{schemas.CategoryExecution, schemas.FailureTimeout, schemas.WayCoordinator}, // once it was tried for longer
		{"", schemas.FailureAgent, schemas.WayCoordinator},
		{schemas.CategoryValidation, schemas.FailureVerdict, schemas.WayFix},
		{schemas.CategoryDependency, schemas.FailureBlocked, schemas.WayPlanner},
		{schemas.CategoryResource, schemas.FailureBudget, schemas.WayBudget},
		{schemas.CategoryResource, schemas.FailureAgent, schemas.WayCoordinator}, // no budget gives an agent room
		{schemas.CategoryCoordination, schemas.FailureConflict, schemas.WayPlanner},
		{schemas.CategoryCoordination, schemas.FailureUnknownEffect, schemas.WayCoordinator}, // people alone know
		{schemas.CategoryInput, schemas.FailureBlocked, schemas.WayFail},
	} {
		if got := recovery.Way(&profile, c.category, c.cause); got != c.want {
			t.Errorf("%s, %s: %q, and not %q", c.category, c.cause, got, c.want)
		}
	}
	if got := recovery.OfTable(schemas.CategoryInput); got != schemas.WayRequester {
		t.Errorf("what is lacking is for %q", got)
	}
	if got := recovery.Unmended(&profile, schemas.FailureArguments); got != schemas.WayPlanner {
		t.Errorf("what nobody can mend is for %q", got)
	}
	profile.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: schemas.WayFix}
	if got := recovery.Unmended(&profile, schemas.FailureArguments); got != "" {
		t.Errorf("what nobody can mend is for %q", got)
	}
}

func table(exhausted schemas.BudgetExhausted, limits *schemas.Budget) schemas.Profile {
	if limits != nil {
		limits.Exhausted = exhausted
	}
	return schemas.Profile{
		Recovery: map[string]schemas.RecoveryWay{schemas.RecoveryDefault: schemas.WayTable}, Budget: limits, Waiting: &schemas.WaitingPolicy{},
		Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{Upstream: true}, Coordinator: &schemas.EscalationChannel{People: []string{"anna"}, Expire: 1}},
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
		"nothing":         {schemas.Profile{}, 0},
		"people":          {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayHuman}, Escalation: human}, 0},
		"no people":       {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayHuman, "input": schemas.WayCoordinator}}, 2},
		"nobody is asked": {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayRequester}}, 1},
		"no planner":      {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"dependency": schemas.WayPlanner}}, 1},
		"upstream": {schemas.Profile{
			Recovery:   map[string]schemas.RecoveryWay{"dependency": schemas.WayPlanner, "default": schemas.WayCoordinator},
			Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{Upstream: true}, Coordinator: &schemas.EscalationChannel{Upstream: true}},
		}, 0},
		"a planner of people": {schemas.Profile{Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{People: []string{"anna"}, Expire: 1}}}, 1},
		"an agent as planner": {schemas.Profile{Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{Agent: "judge"}}, Execution: schemas.Execution{Mode: schemas.ExecutionDAG}}, 0},
		"it plans no steps":   {schemas.Profile{Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{Agent: "judge"}}, Execution: schemas.Execution{Mode: schemas.ExecutionSingle}}, 1},
		"it is asked already": {schemas.Profile{
			Escalation: &schemas.Escalation{Planner: &schemas.EscalationChannel{Agent: "judge"}}, Replan: &schemas.Replan{Agent: "judge", After: schemas.OccasionStep},
		}, 1},
		"agents are no people": {schemas.Profile{Escalation: &schemas.Escalation{Human: &schemas.EscalationChannel{Agent: "judge"}}}, 1},
		"the table of nobody":  {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"default": schemas.WayTable}}, 4},
		"the table":            {table(schemas.BudgetEnds, nil), 0},
		"the table of budgets": {table(schemas.BudgetEnds, &schemas.Budget{}), 1},
		"it asks for more":     {table(schemas.BudgetAsks, &schemas.Budget{}), 0},
		"a table by category":  {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"input": schemas.WayTable}}, 1},
		"unknown category":     {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"weather": schemas.WaySkip}}, 1},
		"unknown value":        {schemas.Profile{Recovery: map[string]schemas.RecoveryWay{"input": "pray"}}, 1},
		"a channel of nobody":  {schemas.Profile{Escalation: &schemas.Escalation{Human: &schemas.EscalationChannel{Expire: 1}}}, 1},
		"a channel forever":    {schemas.Profile{Escalation: &schemas.Escalation{Coordinator: &schemas.EscalationChannel{People: []string{"anna"}}}}, 1},
	} {
		if got := recovery.Faults(&c.profile); len(got) != c.faults {
			t.Errorf("%s: %v", name, got)
		}
	}
}
