package workflow

import (
	"testing"

	"podium/schemas"
)

func TestAnswerText(t *testing.T) {
	t.Parallel()
	failure := &schemas.Error{Message: map[string]string{"en": "The summary failed.", "de": "Die Zusammenfassung ist fehlgeschlagen."}}
	for name, test := range map[string]struct {
		parts   []string
		failure *schemas.Error
		notes   string
		want    string
	}{
		"nothing":         {nil, nil, "", ""},
		"parts":           {[]string{" 42\n", "", "Short."}, nil, "", "42\n\nShort."},
		"failure":         {nil, failure, "", "Die Zusammenfassung ist fehlgeschlagen."},
		"failure, a part": {[]string{"42"}, failure, "", "Die Zusammenfassung ist fehlgeschlagen.\n\n42"},
		"notes":           {[]string{"42"}, nil, "Empfohlen.", "42\n\nEmpfohlen."},
	} {
		if got := AnswerText(test.parts, test.failure, "de", test.notes, ""); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if got, want := AnswerText([]string{"42", "43"}, failure, "de", "Empfohlen.", "Beides."), "Die Zusammenfassung ist fehlgeschlagen.\n\nBeides.\n\nEmpfohlen."; got != want {
		t.Errorf("a summary: got %q, want %q", got, want)
	}
}
