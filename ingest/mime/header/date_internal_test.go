package header

import (
	"testing"
	"time"
)

// TestDatesOfTheObsoleteSyntax reads dates that RFC 5322 allows (sections 3.3 and 4.3), and forms that programs write.
func TestDatesOfTheObsoleteSyntax(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Mon, 5 Jan 2026 09:00:00 +0000":          "2026-01-05T09:00:00Z",
		"Mon,5 Jan 2026 09:00:00 +0000":           "2026-01-05T09:00:00Z",
		"Wed, 31 Dec 2008 23:59:60 +0000":         "2009-01-01T00:00:00Z",
		"Mon, 05 Jan 126 09:00:00 +0000":          "2026-01-05T09:00:00Z",
		"Mon, 05 Jan 99 09:00:00 +0000":           "1999-01-05T09:00:00Z",
		"5 Jan 26 09:00 +0000":                    "2026-01-05T09:00:00Z",
		"Mon, 05 Jan 2026 09 : 00 : 00 +0000":     "2026-01-05T09:00:00Z",
		"Mon, 05 Jan 2026 09: 00 :00 -0230":       "2026-01-05T11:30:00Z",
		"Mon 5 Jan 2026 09:00:00 +0000":           "2026-01-05T09:00:00Z",
		"Monday, 5 January 2026 09:00:00 +0000":   "2026-01-05T09:00:00Z",
		"Mon, 5-Jan-2026 09:00:00 +0000":          "2026-01-05T09:00:00Z",
		"Mon, 5 Jan 2026 09:00:00 +01:00":         "2026-01-05T08:00:00Z",
		"Mon, 5 Jan 2026 09:00:00 GMT+0100":       "2026-01-05T08:00:00Z",
		"Mon, 5 Jan 2026 09:00:00 GMT+01:00":      "2026-01-05T08:00:00Z",
		"Mon, 5 Jan 2026 09:00:00 UTC+1":          "2026-01-05T08:00:00Z",
		"Mon, 5 Jan 2026 9:00:00 (morning) +0000": "2026-01-05T09:00:00Z",
		"Mon, 5 Jan 2026":                         "",
		"Mon, 35 Jan 2026 09:00:00 +0000":         "",
		"Mon, 5 Foo 2026 09:00:00 +0000":          "",
		"Mon, 5 Jan 2026 25:00:00 +0000":          "",
		"yesterday at 9:00":                       "",
	} {
		date, ok := parseDate(value)
		if got := date.Format(time.RFC3339); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %t, want %q", value, got, ok, want)
		}
	}
}
