package arguments_test

import (
	"slices"
	"testing"
	"time"

	"podium/supervisor/arguments"
)

// TestADayHasTheMonthBehindIt: what is asked of two days has no third one that nobody meant, and of a day of the week that is today it has
// today and the one in a week. A list has all of its days.
func TestADayHasTheMonthBehindIt(t *testing.T) {
	t.Parallel()
	filler, err := arguments.Compile(arguments.Spec{Input: arguments.InputArguments},
		[]byte(`{"type": "object", "required": ["date"], "properties": {"date": {"type": "string", "format": "date"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		today, language, words string
		want                   []string
	}{
		{"2026-11-23", "de", "Einen Termin am 3. oder 4. Dezember bitte", []string{"2026-12-03", "2026-12-04"}},
		{"2026-11-23", "de", "am 3. und am 4. Dezember", []string{"2026-12-03", "2026-12-04"}},
		{"2026-11-23", "de", "am 3. oder 4. Dezember 2027", []string{"2027-12-03", "2027-12-04"}},
		{"2026-12-10", "de", "am 3. oder 4. Dezember", []string{"2027-12-03", "2027-12-04"}},
		{"2026-12-02", "de", "am 3. oder 4. Dezember", []string{"2026-12-03", "2026-12-04"}},
		{"2026-11-23", "en", "on the 3rd or 4th of December", []string{"2026-12-03", "2026-12-04"}},
		{"2026-11-23", "de", "Termin am Montag", []string{"2026-11-23", "2026-11-30"}},
		{"2026-11-23", "en", "on Monday, please", []string{"2026-11-23", "2026-11-30"}},
	} {
		today, err := time.Parse(time.DateOnly, test.today)
		if err != nil {
			t.Fatal(err)
		}
		got := filler.Fill(arguments.Given{Words: test.words, Language: test.language, Moment: today})
		if len(got.Missing) != 1 || !slices.Equal(got.Missing[0].Readings, test.want) {
			t.Errorf("%q on %s: %s, asks %+v, want %v", test.words, test.today, got.Values, got.Missing, test.want)
		}
	}
	for _, test := range []struct {
		language, words string
		want            []string
	}{
		{"de", "am 3., 4. oder 5. Dezember", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"de", "Termin: 3., 4. oder 5. Dezember bitte", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"de", "am 3., 4., 7. und 9.12.", []string{"2026-12-03", "2026-12-04", "2026-12-07", "2026-12-09"}},
		{"de", "am 3./4. Dezember", []string{"2026-12-03", "2026-12-04"}},
		{"de", "am 3.12., 4. oder 5.", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"de", "am 26., 27. oder 28.", []string{"2026-11-26", "2026-11-27", "2026-11-28"}},
		{"de", "am 30. November, 1. oder 2. Dezember", []string{"2026-11-30", "2026-12-01", "2026-12-02"}},
		{"en", "on the 3rd, 4th or 5th of December", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"en", "on December 3rd, 4th or 5th", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"en", "on December 3, 4 or 5", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"en", "on 3, 4 or 5 December", []string{"2026-12-03", "2026-12-04", "2026-12-05"}},
		{"en", "on December 3, 4 pm", nil},
		{"en", "on December 3 and 4 boxes", nil},
		{"de", "am 3. Dezember, 4.30 Uhr", nil},
		{"de", "am 3. Dezember und 4. Zimmer", nil},
	} {
		today := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
		got := filler.Fill(arguments.Given{Words: test.words, Language: test.language, Moment: today})
		if test.want == nil {
			if string(got.Values) != `{"date":"2026-12-03"}` {
				t.Errorf("%q: %s, asks %+v, want one day", test.words, got.Values, got.Missing)
			}
			continue
		}
		if len(got.Missing) != 1 || !slices.Equal(got.Missing[0].Readings, test.want) {
			t.Errorf("%q: %s, asks %+v, want %v", test.words, got.Values, got.Missing, test.want)
		}
	}
}
