package arguments_test

import (
	"testing"
	"time"

	"podium/supervisor/arguments"
)

// TestDayOfBirthIsNoOtherDay: a day that a pattern reads as one that was is not offered as the day of something to come.
func TestDayOfBirthIsNoOtherDay(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, time.November, 30, 10, 0, 0, 0, time.UTC)
	filler, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{
		{Path: "born", Pattern: `(?i)geb(?:oren am|\.)\s*(?P<value>[\d.]+)`, As: arguments.KindDate, Past: true}, {Path: "day", Find: arguments.KindDate},
	}}, []byte(`{"type":"object","properties":{"born":{"type":"string","format":"date"},"day":{"type":"string","format":"date"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"Termin für Frau Weber, geb. 2.2.1960, am 8.12. um 9 Uhr": `{"born":"1960-02-02","day":"2026-12-08"}`,
		"am 8.12., geboren am 2.2.1960":                           `{"born":"1960-02-02","day":"2026-12-08"}`,
		"geboren am 2.2.1960.8.12.":                               `{}`,
		"am 8.12. oder 9.12., geboren am 2.2.1960":                `{"born":"1960-02-02"}`,
	} {
		given := arguments.Given{Words: words, Language: "de", Moment: monday}
		if got := filler.Fill(given); string(got.Values) != want {
			t.Errorf("%s: %s", words, got.Values)
		}
	}
}
