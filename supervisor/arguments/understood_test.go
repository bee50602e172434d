package arguments_test

import (
	"path/filepath"
	"strings"
	"testing"

	"podium/supervisor/arguments"
)

// TestUnderstood: an effect needs every word of the message to be understood; what was read is asked
// about with it. A sentence alone holds back what depends on it.
func TestUnderstood(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"action":{"enum":["look","cancel"]},"day":{"type":"string","format":"date"},"note":{"type":"string"}},"required":["action"]}`
	of := func(understood arguments.Understood) *arguments.Filler {
		return compiled(t, arguments.Spec{Known: []string{"termin"}, Rules: []arguments.Rule{
			{Path: "action", Map: []arguments.Choice{{Word: "absagen", Value: "cancel"}, {Word: "zeig*", Value: "look"}}, Harmless: []string{"look"}, Understood: understood},
			{Path: "day", Find: arguments.KindDate},
			{Path: "note", Pattern: `Notiz: (\w+)`},
		}}, schema)
	}
	for _, test := range []struct {
		understood  arguments.Understood
		words, want string
	}{
		{arguments.UnderstoodMessage, "Bitte den Termin am 3.12. absagen.", `{"action":"cancel","day":"2026-12-03"}`},
		{arguments.UnderstoodMessage, "Bitte den Termin am 3.12. absagen, Zebra.", `{} ?action[cancel] ?day[2026-12-03]`},
		{arguments.UnderstoodMessage, "Zebra. Bitte den Termin am 3.12. absagen.", `{} ?action[cancel] ?day[2026-12-03]`},
		{arguments.UnderstoodMessage, "Bitte den Termin am 3.12. vielleicht absagen.", `{} ?action[cancel] ?day[2026-12-03]`},
		{arguments.UnderstoodMessage, "Bitte 5 absagen.", `{} ?action[cancel]`},
		{arguments.UnderstoodMessage, "Können Sie den Termin am 3.12. absagen?", `{"action":"cancel","day":"2026-12-03"}`},
		{arguments.UnderstoodMessage, "Soll ich den Termin am 3.12. absagen?", `{} ?action[cancel] ?day[2026-12-03]`},
		{arguments.UnderstoodMessage, "Bitte nicht den Termin absagen", `{} ?action[cancel]`},
		{arguments.UnderstoodMessage, `Bitte nicht: {"action":"cancel"}`, `{} ?action[cancel]`},
		{arguments.UnderstoodMessage, `Bitte so: {"action":"cancel"}`, `{"action":"cancel"}`},
		{arguments.UnderstoodMessage, "Zebra am 3.12. zeigen!", `{} ?action[look] ?day[2026-12-03]`},
		{arguments.UnderstoodMessage, "Welche Zebras am 3.12. zeigt es?", `{"action":"look","day":"2026-12-03"}`},
		{arguments.UnderstoodSentence, "Zebra. Bitte den Termin am 3.12. absagen.", `{"action":"cancel","day":"2026-12-03"}`},
		{arguments.UnderstoodSentence, "Bitte den Zebratermin am 3.12. absagen.", `{"day":"2026-12-03"} ?action[cancel]`},
		{"", "Zebra am 3.12. absagen.", `{"action":"cancel","day":"2026-12-03"}`},
	} {
		filled := of(test.understood).Fill(arguments.Given{Words: test.words, Language: "de", Moment: monday})
		if got := told(filled); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.understood, test.words, got, test.want)
		}
	}
	// Whoever answers has read what was understood, and says it again.
	asked := arguments.Given{Words: "Bitte den Termin am 3.12. absagen, Zebra.", Language: "de", Moment: monday}
	first := of(arguments.UnderstoodMessage).Fill(asked)
	answer := arguments.Given{Words: "Ja, absagen", Language: "de", Moment: monday, Before: &arguments.Before{Words: asked.Words, Filled: first}}
	if got, want := told(of(arguments.UnderstoodMessage).Fill(answer)), `{"action":"cancel","day":"2026-12-03"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestInserted: a word that takes back what is said, or that nobody knows, is noticed wherever in a message it
// stands: nothing that has an effect is done as if it were not there.
func TestInserted(t *testing.T) {
	t.Parallel()
	fillers := practice(t)
	words := map[string][]string{"de": {"nicht", "vielleicht", "keinesfalls", "falls", "zebra", "kein", "ohne", "nie", "oder", "hat", "noch", "statt", "17"}, "en": {"not", "maybe", "never", "unless", "zebra", "no", "without", "cannot", "or", "had", "by", "instead", "17"}}
	tried, all := 0, utterances(t, filepath.Join("testdata", "examples.json"))
	for i := range all {
		u := &all[i]
		if !u.Effect || u.Agent != "calendar_agent" && u.Agent != "contacts_agent" && u.Agent != "inventory_agent" || strings.Contains(u.Text, "{") {
			continue
		}
		plain := fillers[u.Agent].Fill(u.given(t))
		if !plain.Complete() {
			continue
		}
		for at, r := range u.Text {
			const each = 3 // of all places, a part at a time: all of them take long under the race detector
			if r != ' ' || (at+i)%each > 0 {
				continue
			}
			for _, word := range words[u.Language] {
				given := u.given(t)
				given.Words = u.Text[:at] + " " + word + u.Text[at:]
				tried++
				if got := fillers[u.Agent].Fill(given); string(got.Values) == string(plain.Values) && got.Complete() {
					t.Errorf("%s %q: %s", u.ID, given.Words, got.Values)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d tried", tried)
	}
	t.Logf("%d tried", tried)
}
