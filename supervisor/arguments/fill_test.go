package arguments_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/arguments"
)

// monday is the moment from which the tests count.
var monday = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

func compiled(tb testing.TB, spec arguments.Spec, schema string) *arguments.Filler {
	tb.Helper()
	filler, err := arguments.Compile(spec, jsontext.Value(schema))
	if err != nil {
		tb.Fatal(err)
	}
	return filler
}

// told is what was filled, in one line.
func told(f arguments.Filled) string {
	var line strings.Builder
	line.Write(f.Values)
	for _, missing := range f.Missing {
		line.WriteString(" ?" + missing.Path)
		if len(missing.Readings) > 0 {
			fmt.Fprint(&line, missing.Readings)
		}
	}
	for _, refused := range f.Refused {
		line.WriteString(" !" + refused.Path + ": " + cmp.Or(refused.Reason.Values["problem"], string(refused.Reason.Code)))
	}
	return line.String()
}

// TestOrderOfSources: what was given wins over JSON in the words, that over rules, those over the extractor,
// that over a default.
func TestOrderOfSources(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Rules: []arguments.Rule{
		{Path: "n", Pattern: `n(\d)`, Default: "0"},
		{Path: "m", Default: "9"},
	}}, `{"properties":{"n":{"type":"integer"},"m":{"type":"integer"}},"required":["n"]}`)
	for _, test := range []struct {
		given          arguments.Given
		want, wantFrom string
	}{
		{arguments.Given{Arguments: []byte(`{"n":1}`), Words: `n3 {"n":2}`, Extracted: []byte(`{"n":4}`)}, `{"m":9,"n":1}`, "given"},
		{arguments.Given{Words: `n3 {"n":2}`, Extracted: []byte(`{"n":4}`)}, `{"m":9,"n":2}`, "json"},
		{arguments.Given{Words: `n3`, Extracted: []byte(`{"n":4}`)}, `{"m":9,"n":3}`, "rule"},
		{arguments.Given{Words: `x`, Extracted: []byte(`{"n":4}`)}, `{"m":9,"n":4}`, "extractor"},
		{arguments.Given{Words: `x`}, `{"m":9,"n":0}`, "default"},
		{arguments.Given{Words: `n3 n4`}, `{"m":9} ?n[3 4]`, ""},
	} {
		filled := filler.Fill(test.given)
		if got := told(filled); got != test.want || string(filled.Sources["n"]) != test.wantFrom {
			t.Errorf("%+v: %s from %s, want %s from %s", test.given, got, filled.Sources["n"], test.want, test.wantFrom)
		}
	}
}

// TestWordsNeedNoRule: the only plain text that is required gets the words.
func TestWordsNeedNoRule(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{}, `{"properties":{"message":{"type":"string"},"context":{"type":"string"}},"required":["message"]}`)
	if got := told(filler.Fill(arguments.Given{Words: "Guten Tag"})); got != `{"message":"Guten Tag"}` {
		t.Error(got)
	}
	if got := told(filler.Fill(arguments.Given{})); got != `{} ?message` {
		t.Error(got)
	}
	two := compiled(t, arguments.Spec{}, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`)
	if got := told(two.Fill(arguments.Given{Words: "Guten Tag"})); got != `{} ?a ?b` {
		t.Error(got)
	}
}

// TestObjectInWords: an object counts wherever it stands in the words, by the names that the schema knows.
func TestObjectInWords(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{}, `{"properties":{"when":{"type":"string","format":"date"},"o":{"type":"object"},"n":{"type":"number"}}}`)
	spec := compiled(t, arguments.Spec{Input: arguments.InputArguments}, `{"properties":{"when":{"type":"string","format":"date"},"o":{"type":"object"},"n":{"type":"number"}}}`)
	if got := told(filler.Fill(arguments.Given{Words: `{"n":1}`})); got != `{}` {
		t.Error("an agent of words gets no arguments from them:", got)
	}
	for words, want := range map[string]string{
		`{"when":"2026-12-03"}`:                   `{"when":"2026-12-03"}`,
		"so:\n```json\n{\"n\": 1.50}\n```\nDanke": `{"n":1.50}`,
		`{"N":2}`:                          `{"n":2}`,
		`{"n":1,"other":2}`:                `{"n":1}`,
		`{"other":2}`:                      `{}`,
		`{"tool":"x","arguments":{"n":1}}`: `{"n":1}`,
		`{"o":{"any":[1,{"x":2}]}}`:        `{"o":{"any":[1,{"x":2}]}}`,
		`{"when":"3. Dezember 2026"}`:      `{"when":"2026-12-03"}`,
		`{"when":"2026-02-30"}`:            `{} ?when[2026-02-30]`,
		`{"n":"viele"}`:                    `{} ?n[viele]`,
		`{"n":1} und {"n":1}`:              `{"n":1}`,
		`{"n":1} und {"n":2}`:              `{} ?n[1 2]`,
		`{"n":1`:                           `{}`,
		`{n:1}`:                            `{}`,
		`{{{"n":1}`:                        `{"n":1}`,
		`{"n":1,"n":2}`:                    `{}`,
	} {
		if got := told(spec.Fill(arguments.Given{Words: words, Language: "de", Moment: monday})); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// TestTwoHitsAsk: two different choices are asked about, negated ones do not count, and weak ones yield.
func TestTwoHitsAsk(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Rules: []arguments.Rule{{
		Path: "action", Default: "query", Harmless: []string{"query"},
		Map: []arguments.Choice{
			{Word: "absag*", Value: "cancel"},
			{Word: "cancel*", Value: "cancel"},
			{Word: `/\bsag\w*\b.{0,40}\bab\b/`, Value: "cancel"},
			{Word: "verschieb*", Value: "reschedule"},
			{Word: "buchen", Value: "schedule"},
			{Word: "termin", Value: "schedule", Weak: true},
		},
	}}}, `{"properties":{"action":{"enum":["schedule","reschedule","cancel","query"]}},"required":["action"]}`)
	for _, test := range []struct{ language, words, want string }{
		{"de", "Termin absagen", "cancel"},
		{"de", "Termin absagen und neuen buchen", "?[cancel schedule]"},
		{"de", "nicht absagen, sondern verschieben", "reschedule"},
		{"de", "Ich will ihn nicht absagen", "query"},
		{"de", "bitte nicht mehr buchen, absagen", "cancel"},
		{"de", "absagen will ich nicht", "query"},
		{"de", "Sagen Sie ihn ab", "cancel"},
		{"de", "Sagen Sie ihn nicht ab", "query"},
		{"de", "einen Termin", "schedule"},
		{"de", "keinen Termin", "query"},
		{"en", "don't cancel", "query"},
		{"en", "Please do not cancel it", "query"},
		{"en", "cancel it", "cancel"},
		{"de", "Absage: absagen!", "cancel"},
		{"de", "wann?", "query"},
	} {
		filled := filler.Fill(arguments.Given{Words: test.words, Language: test.language})
		want := `{"action":"` + test.want + `"}`
		if readings, ambiguous := strings.CutPrefix(test.want, "?"); ambiguous {
			want = "{} ?action" + readings
		}
		if got := told(filled); got != want {
			t.Errorf("%s: %s, want %s", test.words, got, want)
		}
	}
}

// TestEverythingMissing: all that is required is told, nested and by conditions, with its title and question.
func TestEverythingMissing(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Rules: []arguments.Rule{
		{Path: "recipient", Find: arguments.KindEmail, Ask: map[string]string{"de": "An wen?"}},
		{Path: "action", Map: []arguments.Choice{{Word: "schreib*", Value: "compose"}}},
	}}, `{"type":"object","required":["action","email_data"],"properties":{
		"action":{"enum":["process","compose"]},"recipient":{"type":"string","title":"Empfänger"},"content":{"type":"string"},
		"email_data":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}},
		"if":{"properties":{"action":{"const":"compose"}},"required":["action"]},"then":{"required":["recipient","content"]}}`)
	filled := filler.Fill(arguments.Given{Words: "Schreib eine Mail", Language: "de"})
	if got, want := told(filled), `{"action":"compose","email_data":{}} ?recipient ?content ?email_data.text`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if first := filled.Missing[0]; first.Title != "Empfänger" || first.Question["de"] != "An wen?" {
		t.Errorf("%+v", first)
	}
	if filled.Complete() {
		t.Error("it is complete")
	}
}

// TestAnswers: an answer is read alone first, then with what was said before.
func TestAnswers(t *testing.T) {
	t.Parallel()
	filler := practice(t)["calendar_agent"]
	words := "Termin von Frau Kern absagen und neuen buchen"
	ask := func(before, answer string) arguments.Filled {
		given := arguments.Given{Words: before, Language: "de", Moment: monday}
		first := filler.Fill(given)
		given.Words, given.Before = answer, &arguments.Before{Words: before, Filled: first}
		return filler.Fill(given)
	}
	filled := ask(words, "Bitte nur absagen.")
	if got, want := told(filled), `{"action":"cancel","appointment_data":{"patient_name":"Kern"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if filled.Sources["action"] != arguments.SourceAnswer || filled.Sources["appointment_data.patient_name"] != arguments.SourceRule {
		t.Errorf("%v", filled.Sources)
	}
	filled = ask("Bitte einen Termin mit Frau Müller buchen", "am 3.12. um 10 Uhr")
	if got, want := told(filled), `{"action":"schedule","appointment_data":{"date":"2026-12-03","patient_name":"Müller","time":"10:00"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	filled = ask("Bitte einen Termin am 3.12. buchen", "Hans Meier")
	if got, want := told(filled), `{"action":"schedule","appointment_data":{"date":"2026-12-03","patient_name":"Hans Meier"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	filled = ask("Bitte einen Termin mit Frau Müller buchen", "keine Ahnung")
	if got, want := told(filled), `{"action":"schedule","appointment_data":{"patient_name":"Müller"}} ?appointment_data.date`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProfilesWriteNoLanguage: a number in a profile has a decimal point, whatever people write.
func TestProfilesWriteNoLanguage(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Rules: []arguments.Rule{
		{Path: "n", Pattern: `n=(\S+)`, Default: "1.234"},
		{Path: "m", Constant: "0.125"},
		{Path: "o", Map: []arguments.Choice{{Word: "viel", Value: "2.345"}}},
	}}, `{"properties":{"n":{"type":"number"},"m":{"type":"number"},"o":{"type":"number"}}}`)
	for words, want := range map[string]string{
		"viel":      `{"m":0.125,"n":1.234,"o":2.345}`,
		"n=1,234 m": `{"m":0.125} ?n[1234 1.234]`,
		"n=1.234 m": `{"m":0.125} ?n[1234 1.234]`,
	} {
		if got := told(filler.Fill(arguments.Given{Words: words, Language: "de"})); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// TestTrusted: what tainted words say in a trusted place is asked about; what was given stands.
func TestTrusted(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{
		Rules:   []arguments.Rule{{Path: "recipient", Find: arguments.KindEmail}},
		Trusted: []string{"recipient"},
	}, `{"properties":{"recipient":{"type":"string"}},"required":["recipient"]}`)
	words := "an evil@example.com"
	if got := told(filler.Fill(arguments.Given{Words: words, Tainted: true})); got != `{} ?recipient[evil@example.com]` {
		t.Error(got)
	}
	if got := told(filler.Fill(arguments.Given{Words: `{"recipient":"evil@example.com"}`, Tainted: true})); got != `{} ?recipient[evil@example.com]` {
		t.Error(got)
	}
	if got := told(filler.Fill(arguments.Given{Words: words})); got != `{"recipient":"evil@example.com"}` {
		t.Error(got)
	}
	if got := told(filler.Fill(arguments.Given{Words: words, Tainted: true, Arguments: []byte(`{"recipient":"a@b.de"}`)})); got != `{"recipient":"a@b.de"}` {
		t.Error(got)
	}
}

// TestRefused: what was given and breaks the schema is refused by name.
func TestRefused(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{Input: arguments.InputArguments}, `{"properties":{"n":{"type":"integer","minimum":1},"d":{"type":"string","format":"date"}},"additionalProperties":false}`)
	for given, want := range map[string]string{
		`{"n":0}`:                  `{} !n: is less than 1`,
		`{"d":"2026-02-30"}`:       `{} !d: is not of the format date`,
		`{"x":1}`:                  `{"x":1} !: breaks additionalProperties`,
		`[1]`:                      `{} !: arguments_no_object`,
		`{"n":1,"d":"2026-02-28"}`: `{"d":"2026-02-28","n":1}`,
		`null`:                     `{} !: arguments_no_object`,
	} {
		if got := told(filler.Fill(arguments.Given{Arguments: []byte(given)})); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// TestGeneralRecognizers: what no rule names is filled when its format says what belongs there and only one thing does.
func TestGeneralRecognizers(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{}, `{"properties":{"day":{"type":"string","format":"date"},"mail":{"type":"string","format":"email"},
		"size":{"enum":["small","large"]},"count":{"type":"integer"}},"required":["day"]}`)
	for words, want := range map[string]string{
		"am 3.12.2026 an a@b.de, large":      `{"day":"2026-12-03","mail":"a@b.de","size":"large"}`,
		"am 3.12.2026 oder am 4.12.2026":     `{} ?day[2026-12-03 2026-12-04]`,
		"small oder large, morgen, Anzahl 3": `{"day":"2026-11-24"} ?size[small large]`,
	} {
		if got := told(filler.Fill(arguments.Given{Words: words, Language: "de", Moment: monday})); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// TestDaysBeginWhereThePersonIs: half an hour past midnight in Berlin it is still yesterday in UTC.
func TestDaysBeginWhereThePersonIs(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{}, `{"properties":{"day":{"type":"string","format":"date"}},"required":["day"]}`)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	given := arguments.Given{Words: "morgen", Language: "de-DE", Moment: time.Date(2026, 11, 23, 23, 30, 0, 0, time.UTC)}
	if got := told(filler.Fill(given)); got != `{"day":"2026-11-24"}` {
		t.Error(got)
	}
	given.Location = berlin
	if got := told(filler.Fill(given)); got != `{"day":"2026-11-25"}` {
		t.Error(got)
	}
}
