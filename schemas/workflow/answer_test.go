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
		want    string
	}{
		"nothing":         {nil, nil, ""},
		"parts":           {[]string{" 42\n", "", "Short."}, nil, "42\n\nShort."},
		"failure":         {nil, failure, "Die Zusammenfassung ist fehlgeschlagen."},
		"failure, a part": {[]string{"42"}, failure, "Die Zusammenfassung ist fehlgeschlagen.\n\n42"},
	} {
		if got := AnswerText(test.parts, test.failure, "de"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
