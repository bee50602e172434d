package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/chronicle"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestWhatApproversChangeIsTold: what was agreed to is said to be approved, and what whoever agrees has changed of the arguments is told by what it was and what it is: of
// the plan, of what was filled since, and of what an agent has proposed. What agreeing itself sets is no change of theirs.
func TestWhatApproversChangeIsTold(t *testing.T) {
	t.Parallel()
	filled := func(values string) *schemas.ArgumentsFilled {
		return &schemas.ArgumentsFilled{Run: 1, Task: "ship", Agent: "deployer", Values: jsontext.Value(values)}
	}
	for name, c := range map[string]struct {
		plan     string
		facts    []schemas.Fact // before it is asked
		proposed string
		made     string
		want     string
	}{
		"of the plan":     {plan: `{"env":"prod","n":1,"old":true}`, made: `{"env":"test","n":1.0,"new":[1]}`, want: "changed: env \"prod\" → \"test\"\n           changed: new none → [1]\n           changed: old true → none\n"},
		"within":          {plan: `{"to":{"name":"a","city":"b"}}`, made: `{"to":{"city":"c","name":"a"}}`, want: "changed: to.city \"b\" → \"c\"\n"},
		"as filled":       {plan: `{"env":"prod"}`, facts: []schemas.Fact{filled(`{"env":"stage"}`)}, made: `{"env":"test"}`, want: "changed: env \"stage\" → \"test\"\n"},
		"of a proposal":   {plan: `{"env":"prod"}`, proposed: `{"day":"Mon"}`, made: `{"day":"Tue"}`, want: "changed: day \"Mon\" → \"Tue\"\n"},
		"of none":         {made: `{"env":"test\nstate"}`, want: "changed: env none → \"test\\nstate\"\n"},
		"set by agreeing": {plan: `{"env":"prod"}`, made: `{"env":"test","approved":false}`, want: "changed: env \"prod\" → \"test\"\n"},
	} {
		opened := schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "ship", Kind: schemas.HumanTaskApproval, Sets: []string{"approved"}}
		if c.proposed != "" {
			opened.Operation = &schemas.Operation{Arguments: jsontext.Value(c.proposed)}
		}
		answered := &schemas.InquiryAnswered{
			Run: 1, Inquiry: 1, Choice: schemas.ChoiceApprove, Arguments: jsontext.Value(c.made), Actor: schemas.Actor{Via: schemas.ViaAPI, ID: "command line", Proof: schemas.ProofToken},
		}
		edited := filled(c.made)
		edited.Edited = true
		kept := &chronicle.Run{}
		record := &schemas.Record{Transitions: []schemas.Transition{{Facts: append(c.facts, &opened, edited, answered)}}}
		kept.Apply(record, 1)
		told := view.Run(&workflow.RunHistory{ID: "5f0c-1", Run: workflow.Run{
			Tasks:     []*workflow.Task{{ID: "ship", Agent: "deployer", Filled: edited, Plan: &schemas.PlannedTask{TaskOptions: &schemas.TaskOptions{Arguments: jsontext.Value(c.plan)}}}},
			Inquiries: []*workflow.Inquiry{{InquiryOpened: opened, Answered: answered, Ended: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}},
		}}, kept, "")
		if want := "? 1        ship       approved   \n"; !strings.Contains(told, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, told)
		}
		if want := "           approved by command line by api (token) at 2026-01-02 03:04:05\n           " + c.want; !strings.HasSuffix(told, want) {
			t.Errorf("%s: %q does not end\n%s", name, want, told)
		}
		lines := view.Lines(record)
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "question 1: approved by command line by api (token), who has changed the arguments to {") || !strings.HasPrefix(lines[len(lines)-2], "ship: has question ") {
			t.Errorf("%s: the lines are %q", name, lines)
		}
	}
}
