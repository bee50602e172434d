package arguments_test

import (
	"slices"
	"testing"

	"podium/supervisor/arguments"
)

// clerk wants a word understood before it cancels or books, and a day and a name when it books.
func clerk(t *testing.T) *arguments.Filler {
	t.Helper()
	return compiled(t, arguments.Spec{Known: []string{"termin"}, Rules: []arguments.Rule{
		{Path: "action", Map: []arguments.Choice{{Word: "absagen", Value: "cancel"}, {Word: "buchen", Value: "book"}, {Word: "storniert", Value: "cancel", Confirm: true}}, Understood: arguments.UnderstoodSentence},
		{Path: "day", Find: arguments.KindDate, If: []arguments.Condition{{Path: "action"}}, Ask: map[string]string{"de": "Für welchen Tag?"}},
		{Path: "name", Pattern: `für (?P<value>\p{Lu}\pL+)`},
		{Path: "height", Find: arguments.KindNumber, Units: []arguments.Unit{{Word: "m"}, {Word: "cm", Factor: "0.01"}}},
	}}, `{"properties":{"action":{"type":"string","enum":["book","cancel"],"enumNames":["buchen","absagen"]},"day":{"type":"string","format":"date"},
		"name":{"type":"string","title":"Name"},"height":{"type":"number","maximum":2.6},"sure":{"type":"boolean"}},"required":["action"],
		"if":{"properties":{"action":{"const":"book"}},"required":["action"]},"then":{"required":["day","name"]}}`)
}

// TestOffers: what was read in one way is offered, with what would be taken and asked for if it were so; an assent takes it, and nothing else does.
func TestOffers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words, asks string
		lead        arguments.Lead
		answer      string // what stands behind the lead
		want        string
	}{
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadAssent, "", `{"action":"book","day":"2026-12-03"} ?name`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadAssent, "für Weber", `{"action":"book","day":"2026-12-03","name":"Weber"}`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadAssent, "aber am 4.12.", `{"action":"book","day":"2026-12-04"} ?name`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadAssent, "aber nicht am 3.12.", `{} ?action[book cancel]`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadAssent, "wenn das Giraffen möchten", `{} ?action[book] ?day[2026-12-03] ?name`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", arguments.LeadDecline, "", `{} ?action[book cancel]`},
		{"Zebra am 3.12. buchen", "{} ?action[book] ?day[2026-12-03] ?name", "", "Giraffe", `{"name":"Giraffe"} ?action[book] ?day[2026-12-03]`},
		{"Termin am 3.12. für Weber storniert", `{"name":"Weber"} ?action[cancel] ?day[2026-12-03]`, arguments.LeadAssent, "", `{"action":"cancel","day":"2026-12-03","name":"Weber"}`},
		{"Termin buchen oder absagen", "{} ?action[book cancel]", arguments.LeadAssent, "", "{} ?action[book cancel]"}, // two things were offered
	} {
		given := arguments.Given{Words: test.words, Language: "de", Moment: monday, Offers: true}
		first := clerk(t).Fill(given)
		if got := told(first); got != test.asks {
			t.Errorf("%q: %s, want %s", test.words, got, test.asks)
		}
		whole := map[arguments.Lead]string{arguments.LeadAssent: "Ja, ", arguments.LeadDecline: "Nein, "}[test.lead] + test.answer
		given.Words, given.Before, given.Lead, given.Rest = whole, &arguments.Before{Words: test.words, Filled: first}, test.lead, test.answer
		if got := told(clerk(t).Fill(given)); got != test.want {
			t.Errorf("%q, %q: %s, want %s", test.words, whole, got, test.want)
		}
	}
}

// TestNoOffer: what the schema does not take, several things, no, and nothing are not offered; without Offers nothing is asked for along.
func TestNoOffer(t *testing.T) {
	t.Parallel()
	filler := clerk(t)
	for _, test := range []struct {
		path     string
		readings []string
		offers   bool
	}{
		{"height", []string{"1.76"}, true},
		{"height", []string{"176"}, false},
		{"height", []string{"groß"}, false},
		{"day", []string{"2026-12-03"}, true},
		{"day", []string{"Ende der Woche"}, false},
		{"day", []string{"2026-12-03", "2026-12-04"}, false},
		{"sure", []string{"true"}, true},
		{"sure", []string{"false"}, false},
		{"name", nil, false},
		{"name", []string{" "}, false},
		{"nowhere", []string{"x"}, false},
		{"action", []string{"book"}, true},
		{"action", []string{"run"}, false},
	} {
		if got := filler.Offers(test.path, test.readings); got != test.offers {
			t.Errorf("%s %q: %v", test.path, test.readings, got)
		}
	}
	if filler.Told("action", "book") != "buchen" || filler.Told("name", "book") != "book" || filler.Fits("height", "176") || !filler.Fits("height", "1.76") {
		t.Error("a choice is not told by its name, or a height of 176 m fits")
	}
	given := arguments.Given{Words: "Zebra am 3.12. buchen", Language: "de", Moment: monday}
	if got, want := told(filler.Fill(given)), "{} ?action[book] ?day[2026-12-03]"; got != want {
		t.Errorf("before offers: %s, want %s", got, want)
	}
	if got := filler.Fill(arguments.Given{Words: "BMI 176 m", Language: "de", Moment: monday, Offers: true}); !slices.ContainsFunc(got.Missing, func(m arguments.Missing) bool {
		return m.Path == "height" && slices.Equal(m.Readings, []string{"176"})
	}) {
		t.Errorf("176 m: %+v", got)
	}
}
