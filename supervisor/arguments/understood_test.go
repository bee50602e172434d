package arguments_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
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

// TestIntent: what a pattern takes needs its sentence understood, and that no other takes it back. What was said of it is held back with it,
// except what is all of the words, for which nobody is asked.
func TestIntent(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"kind":{"type":"string"},"day":{"type":"string","format":"date"},"text":{"type":"string"}},"required":["kind"]}`
	filler := compiled(t, arguments.Spec{Known: []string{"schreiben", "bis"}, Rules: []arguments.Rule{
		{Path: "kind", Pattern: `\p{Lu}\pL*(?:brief|attest)|Attest|certificate`, Understood: arguments.UnderstoodIntent},
		{Path: "day", Find: arguments.KindDate, After: []string{"vom"}},
		{Path: "text", Words: true, When: []string{"dass", "that"}, If: []arguments.Condition{{Path: "kind"}}},
		{Path: "text", Words: true},
	}}, schema)
	for _, test := range []struct{ language, words, want string }{
		{"de", "Bitte einen Arztbrief schreiben.", "Arztbrief"},
		{"de", "Bitte bis Freitag einen Arztbrief schreiben.", "Arztbrief"},
		{"de", "Zebras laufen herum. Bitte einen Arztbrief schreiben.", "Arztbrief"},
		{"de", "Bitte einen Arztbrief schreiben. Keine Rhythmusstörungen.", "Arztbrief"},
		{"de", "Keinen Arztbrief, sondern ein Attest.", "Attest"},
		{"de", "Bitte ein Attest, dass Zebras laufen.", "Attest"},
		{"de", "Können Sie ein Attest schreiben?", "Attest"},
		{"de", "Bitte ein Attest. Wenn möglich, bis Freitag.", "Attest"},
		{"de", "Bitte ein Attest. Sobald es da ist, Zebra.", "?kind[Attest]"},
		{"de", "Falls Zebras kommen, bitte einen Arztbrief vom 3.12. schreiben.", "?kind[Arztbrief] ?day[2026-12-03]"},
		{"de", "Bitte einen Arztbrief schreiben. Aber nur, wenn Zebras kommen.", "?kind[Arztbrief]"},
		{"de", "Bitte einen Arztbrief schreiben. Doch nicht.", "?kind[Arztbrief]"},
		{"de", "Bitte ein Attest, dass Zebras laufen, falls sie kommen.", "?kind[Attest]"},
		{"de", "Bitte keinen Arztbrief vom 3.12. schreiben.", "?kind ?day[2026-12-03]"},
		{"de", "Soll ich einen Arztbrief schreiben?", "?kind[Arztbrief]"},
		{"de", "Bitte einen Zebra Arztbrief schreiben.", "?kind[Arztbrief]"},
		{"de", "Ich habe ein Attest.", "?kind[Attest]"},
		{"de", "Wir schreiben den Arztbrief.", "?kind[Arztbrief]"},
		{"de", "Ich brauche ein Attest.", "Attest"},
		{"de", "Danke für das Attest.", "?kind[Attest]"},
		{"de", "Schreiben Sie das Attest.", "Attest"},
		{"en", "Thanks for this certificate.", "?kind[certificate]"},
		{"de", "Arztbrief, ich bin am 3.12. da.", "Arztbrief"},
		{"en", "Here is a certificate.", "?kind[certificate]"},
		{"en", "Could I have a certificate?", "certificate"},
		{"en", "A certificate please.", "certificate"},
		{"en", "A travel certificate please.", "?kind[certificate]"},
		{"en", "A certificate holder please.", "?kind[certificate]"},
		{"en", `Please not {"kind":"certificate"}`, "?kind[certificate]"},
	} {
		want := `{} ` + test.want
		if !strings.HasPrefix(test.want, "?") {
			want = fmt.Sprintf(`{"kind":%q,"text":%q}`, test.want, test.words)
		}
		filled := filler.Fill(arguments.Given{Words: test.words, Language: test.language, Moment: monday})
		if got := told(filled); got != want {
			t.Errorf("%q: %s, want %s", test.words, got, want)
		}
	}
	asked := arguments.Given{Words: "Falls Zebras kommen, bitte einen Arztbrief vom 3.12. schreiben.", Language: "de", Moment: monday}
	first := filler.Fill(asked)
	for answer, want := range map[string]string{
		"Ja, den Arztbrief": `{"day":"2026-12-03","kind":"Arztbrief","text":"Falls Zebras kommen, bitte einen Arztbrief vom 3.12. schreiben.\n\nJa, den Arztbrief"}`,
		"Hat sich erledigt": `{} ?kind[Arztbrief] ?day[2026-12-03]`,
	} {
		given := arguments.Given{Words: answer, Language: "de", Moment: monday, Before: &arguments.Before{Words: asked.Words, Filled: first}}
		if got := told(filler.Fill(given)); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
	alone := filler.Fill(arguments.Given{Words: "Bitte keinen Arztbrief schreiben.", Language: "de", Moment: monday})
	declined := arguments.Given{Words: "Hat sich erledigt", Language: "de", Moment: monday, Before: &arguments.Before{Words: "Bitte keinen Arztbrief schreiben.", Filled: alone}}
	if got, want := told(filler.Fill(declined)), `{} ?kind`; got != want {
		t.Errorf("an answer that calls it off: %s, want %s", got, want)
	}
}

// TestWhole: with whole, the other sentences have to be understood word by word as well. What is taken as it was written may say anything, up to the
// end of its sentence; the point of a date ends none.
func TestWhole(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"kind":{"type":"string"},"checked":{"type":"boolean"},"text":{"type":"string"}}}`
	known := []string{"schreiben", "merke", "dir"}
	document := compiled(t, arguments.Spec{Known: known, Rules: []arguments.Rule{
		{Path: "kind", Pattern: `Arztbrief`, Understood: arguments.UnderstoodIntent, Whole: true},
		{Path: "text", Words: true, When: []string{"dass"}, If: []arguments.Condition{{Path: "kind"}}},
	}}, schema)
	fact := compiled(t, arguments.Spec{Known: known, Rules: []arguments.Rule{
		{Path: "text", Words: true, When: []string{`/\bmerke\b[^:]{0,40}:\s*\S+ \S+/`}},
		{Path: "checked", Map: []arguments.Choice{{Word: "geprueft", Value: "true"}}, Understood: arguments.UnderstoodSentence, Whole: true},
	}}, schema)
	for _, test := range []struct {
		filler      *arguments.Filler
		words, want string
	}{
		{document, "Bitte einen Arztbrief schreiben. Vielen Dank!", `{"kind":"Arztbrief"}`},
		{document, "Bitte einen Arztbrief schreiben. Welcher Zebrabruder es ist, steht nicht da.", `{} ?kind[Arztbrief]`},
		{document, "Zebras laufen herum. Bitte einen Arztbrief schreiben.", `{} ?kind[Arztbrief]`},
		{document, "Bitte einen Arztbrief schreiben. Passt das?", `{"kind":"Arztbrief"}`},
		{document, "Bitte einen Arztbrief, dass Zebras vom 3.12. bis 4.12. laufen.", `{"kind":"Arztbrief","text":"$"}`},
		{document, "Bitte einen Arztbrief, dass Zebras laufen. Es sind zwei Zebras.", `{} ?kind[Arztbrief]`},
		{fact, "Merke dir: Zebras laufen nie. Geprueft.", `{"checked":true,"text":"$"}`},
		{fact, "Merke dir: Zebras laufen nicht. Geprueft.", `{"checked":true}`},
		{fact, "Merke dir, geprueft: Zebras laufen nie.", `{"checked":true,"text":"$"}`},
		{fact, "Merke dir: Zebras laufen nie. Geprueft. Von einem Zebra.", `{"text":"$"} ?checked[true]`},
		{fact, "Merke dir: Zebras laufen nie. Zebra hat es geprueft.", `{"text":"$"} ?checked[true]`},
		{fact, "Merke dir: Zebras laufen nie, zebrageprueft und geprueft.", `{"text":"$"} ?checked[true]`},
	} {
		want := strings.ReplaceAll(test.want, "$", test.words)
		if got := told(test.filler.Fill(arguments.Given{Words: test.words, Language: "de", Moment: monday})); got != want {
			t.Errorf("%q: %s, want %s", test.words, got, want)
		}
	}
	for _, understood := range []arguments.Understood{"", arguments.UnderstoodMessage} {
		rule := arguments.Rule{Path: "kind", Pattern: "Arztbrief", Understood: understood, Whole: true}
		if _, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{rule}}, []byte(schema)); err == nil {
			t.Errorf("whole with understood: %q was taken", understood)
		}
	}
}

// TestInsertedReservations: nor is a document written as if a word were not there that may take it back. A negation in another sentence
// may be of something else.
func TestInsertedReservations(t *testing.T) {
	t.Parallel()
	filler := practice(t)["writer_agent"]
	words := map[string][]string{"de": {"vielleicht", "falls", "oder", "sobald", "erledigt"}, "en": {"maybe", "unless", "or", "once", "later"}}
	negations := map[string][]string{"de": {"nicht", "keinesfalls", "kein", "nie"}, "en": {"not", "never", "no"}}
	tried, all := 0, utterances(t, filepath.Join("testdata", "examples.json"))
	for i := range all {
		u := &all[i]
		plain := filler.Fill(u.given(t))
		if u.Agent != "writer_agent" || !plain.Complete() || strings.Contains(u.Text, "{") {
			continue
		}
		inserted := words[u.Language]
		if !strings.ContainsAny(strings.TrimRight(u.Text, ".!?"), ".!?\n") {
			inserted = slices.Concat(inserted, negations[u.Language])
		}
		for at, r := range u.Text + " " {
			const each = 3
			if r != ' ' || (at+i)%each > 0 {
				continue
			}
			for _, word := range inserted {
				given := u.given(t)
				given.Words = u.Text[:at] + " " + word + u.Text[at:]
				tried++
				// "A referral, not a letter" is another document, and may be written.
				if got := filler.Fill(given); got.Complete() && document(t, got) == document(t, plain) {
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

// TestForms: a keyword with its endings is no other word that begins like it.
func TestForms(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Rules: []arguments.Rule{
		{Path: "action", Map: []arguments.Choice{{Word: "buch~", Value: "book"}, {Word: "lösch~", Value: "delete"}}},
	}}, `{"properties":{"action":{"type":"string"}},"required":["action"]}`)
	for words, want := range map[string]string{
		"Bitte buchen": `{"action":"book"}`, "Ihre Buchung": `{"action":"book"}`, "Buch!": `{"action":"book"}`, "Bitte löschen": `{"action":"delete"}`,
		"Nicht buchen, sondern löschen": `{"action":"delete"}`,
		"Die Buchhaltung":               `{} ?action`, "Löschwasser": `{} ?action`, "Umbuchen": `{} ?action`,
	} {
		if got := told(filler.Fill(arguments.Given{Words: words, Language: "de", Moment: monday})); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
	for _, word := range []string{"~", "bu~ch~", "*buch~"} {
		_, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{{Path: "action", Map: []arguments.Choice{{Word: word, Value: "book"}}}}},
			[]byte(`{"properties":{"action":{"type":"string"}}}`))
		if err == nil {
			t.Errorf("%q was taken", word)
		}
	}
}

func document(tb testing.TB, filled arguments.Filled) string {
	tb.Helper()
	var values struct {
		Document string `json:"document_type"`
	}
	if err := json.Unmarshal(filled.Values, &values); err != nil {
		tb.Fatal(err)
	}
	return values.Document
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
