package arguments_test

import (
	"testing"
	"time"

	"podium/supervisor/arguments"
)

// TestDayAndPartInOneWord: a day of the week and a part of the day that are one word are that day, and say which half of it an hour is of. A
// name stays a name beside them, and words that only begin so are none.
func TestDayAndPartInOneWord(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, time.November, 30, 10, 0, 0, 0, time.UTC)
	filler, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{
		{Path: "who", Find: arguments.KindName, After: []string{"fuer"}}, {Path: "day", Find: arguments.KindDate}, {Path: "time", Find: arguments.KindTime},
	}}, []byte(`{"type":"object","properties":{"who":{"type":"string"},"day":{"type":"string","format":"date"},"time":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"am Donnerstagnachmittag um 4":                             `{"day":"2026-12-03","time":"16:00"}`,
		"DONNERSTAGNACHMITTAG um 4":                                `{"day":"2026-12-03","time":"16:00"}`,
		"am Freitagvormittag um 9":                                 `{"day":"2026-12-04","time":"09:00"}`,
		"Mittwochmorgen um 8":                                      `{"day":"2026-12-02","time":"08:00"}`,
		"am Dienstagabend um 6":                                    `{"day":"2026-12-01","time":"18:00"}`,
		"Mittwochfrüh um 8":                                        `{"day":"2026-12-02","time":"08:00"}`,
		"am Sonnabendvormittag um 10":                              `{"day":"2026-12-05","time":"10:00"}`,
		"am Donnerstagnachmittag, 3.12.":                           `{"day":"2026-12-03"}`,
		"nächste Woche Donnerstagnachmittag um 4":                  `{"day":"2026-12-10","time":"16:00"}`,
		"für Anna Weber Donnerstagnachmittag 15:30 Uhr":            `{"day":"2026-12-03","time":"15:30","who":"Anna Weber"}`,
		"am Donnerstagnachmittag":                                  `{"day":"2026-12-03"}`,
		"der Freitagnachmittagsverkehr, die Montagmorgenmüdigkeit": `{}`,
	} {
		given := arguments.Given{Words: words, Language: "de", Moment: monday}
		if got := filler.Fill(given); string(got.Values) != want {
			t.Errorf("%s: %s", words, got.Values)
		}
	}
}
