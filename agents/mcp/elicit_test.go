package mcp_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/schemas"
)

// TestQuestionsOfTheServer: what a server asks its user becomes needs, in its words and named as such, and what people answer is
// handed to it by the next attempt.
func TestQuestionsOfTheServer(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "book")
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil || outcome.Status != schemas.StatusBlocked || len(outcome.Needs) != 1 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	need := outcome.Needs[0]
	if need.Name != "day" || need.Title != "Day of the visit" || need.From != schemas.NeededFromRequester || !strings.Contains(string(need.Schema), "string") ||
		need.Question["en"] != `The tool book asks: "For which[31m day?"` || need.Question["de"] != "Das Werkzeug book fragt: „For which[31m day?“" {
		t.Errorf("%+v", need)
	}
	again := request(`{}`)
	again.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{
		{Needs: []string{"day"}, Text: "Monday", Values: []byte(`{"day":"Monday"}`), Time: time.Unix(1, 0)},
		{Needs: []string{"day"}, Text: "no, Tuesday", Values: []byte(`{"day":"Tuesday"}`), Time: time.Unix(2, 0)},
	}
	if outcome, err = one.Handle(t.Context(), again, silent); err != nil || outcome.Text != "map[day:Tuesday]" {
		t.Errorf("%+v, %v", outcome, err)
	}
	again.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{{Values: []byte(`{"day":7}`)}}
	if outcome, err = one.Handle(t.Context(), again, silent); err != nil || len(outcome.Needs) != 1 {
		t.Errorf("an answer that is no text: %+v, %v", outcome, err)
	}
}

// TestConfirmation: a server that wants nothing but a yes gets it, or the no.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "confirm")
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil || len(outcome.Needs) != 1 || outcome.Needs[0].Name != "confirmed" || string(outcome.Needs[0].Schema) != `{"type":"boolean"}` {
		t.Fatalf("%+v, %v", outcome, err)
	}
	again := request(`{}`)
	again.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{{Values: []byte(`{"confirmed":true}`)}}
	if outcome, err = one.Handle(t.Context(), again, silent); err != nil || outcome.Text != "map[]" {
		t.Errorf("yes: %+v, %v", outcome, err)
	}
	again.Payload.Tasks[0].Context.Answers[0].Values = []byte(`{"confirmed":false}`)
	if _, err = one.Handle(t.Context(), again, silent); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("no: %v", err)
	}
}

// TestNobodyIsAskedAfterAPermit: a server that acts outside is not offered to ask, since nobody knows what it has done by then.
func TestNobodyIsAskedAfterAPermit(t *testing.T) {
	t.Parallel()
	if failure := failed(t, tool(t, "well", "book", external), `{}`); !failure.Unknown || failure.Message == "" {
		t.Errorf("%+v", *failure)
	}
}

// TestQuestionsOfSeveralCalls: of calls at the same time each gets its own question or none, and never another's answer.
func TestQuestionsOfSeveralCalls(t *testing.T) {
	t.Parallel()
	one := tool(t, "well", "book")
	days := []string{"Monday", "Tuesday", "Wednesday", "Thursday"}
	got := make([]string, len(days))
	var group sync.WaitGroup
	for i, day := range days {
		group.Go(func() {
			asked := request(`{}`)
			asked.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{{Values: []byte(`{"day":"` + day + `"}`)}}
			if outcome, err := one.Handle(t.Context(), asked, silent); err == nil {
				got[i] = outcome.Text
			}
		})
	}
	group.Wait()
	for i, text := range got {
		if !slices.Contains([]string{"", "map[day:" + days[i] + "]"}, text) {
			t.Errorf("%s: %q", days[i], text)
		}
	}
}
