package plan

import (
	"strings"
	"testing"
	"time"

	"podium/supervisor/arguments"
)

// TestWhatIsNotSureIsAsked: a degree is a part of a name. Another patient than the one of the session is asked about, and so are a day that may
// be the next one and each of several things of which one is enough.
func TestWhatIsNotSureIsAsked(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"name":{"type":"string"},"patient_id":{"type":"string"},"date":{"type":"string","format":"date"},
		"phone":{"type":"string"},"email":{"type":"string"}},"anyOf":[{"required":["phone"]},{"required":["email"]}]}`
	filler, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{
		{Path: "name", Find: arguments.KindName, After: []string{"an"}},
		{Path: "patient_id", Pattern: `P-\d+`},
		{Path: "patient_id", Entity: "patient_id"},
		{Path: "date", Find: arguments.KindDate, Past: true},
		{Path: "phone", Find: arguments.KindPhone},
		{Path: "email", Find: arguments.KindEmail},
	}}, []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	filled := filler.Fill(arguments.Given{
		Words: "An Dr. Brandt, Patient P-2, Datum 4.12.", Language: "de",
		Moment: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC), Entities: map[string]string{"patient_id": "P-1"},
	})
	parts := []string{string(filled.Values)}
	for _, missing := range filled.Missing {
		parts = append(parts, missing.Path)
	}
	if got, want := strings.Join(parts, " "), `{"name":"Dr. Brandt"} patient_id date phone email`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestValuesWithoutAnEndAreReadOnce: in a long value that does not end, other values begin, each of which would be read to the end
// of the text. A few of them are tried.
func TestValuesWithoutAnEndAreReadOnce(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat("0,", textLimit/2-1024)
	for name, test := range map[string]struct {
		text  string
		finds int
	}{
		"one":                   {`[` + padding + `["write"]`, 1},
		"hundreds":              {strings.Repeat("[", 250) + padding + `["write"]`, 0},
		"hundreds, short":       {strings.Repeat("[", 250) + `["write"]`, 1},
		"braces in a sentence":  {strings.Repeat("{so} ", 200) + padding + `["write"]`, 1},
		"hundreds, in the past": {strings.Repeat("[", 250) + strings.Repeat(padding, 2) + `]["write"]`, 1},
	} {
		if found := jsonIn(test.text); len(found) != test.finds {
			t.Errorf("%s: %d values are found, want %d", name, len(found), test.finds)
		}
	}
}
