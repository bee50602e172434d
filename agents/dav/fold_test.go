package dav_test

import (
	"testing"

	"podium/agents/dav"
)

// TestNamesMatch: case, accents and the spelling of umlauts make no difference, and parts of words do.
func TestNamesMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		looked, text string
		want         bool
	}{
		{"müller", "Jürgen MÜLLER-Größ", true},
		{"Mueller", "Jürgen Müller-Größ", true},
		{"Größ, Juergen", "Müller-Groess, Jürgen", true},
		{"Mu\u0308ller", "Müller", true},
		{"Renée Łódź", "renee lodz", true},
		{"Øystein Åse", "Oeystein Aase", true},
		{"Yildiz", "Emre Yıldız", true},
		{"YILDIZ", "Emre Yıldız", true},
		{"yıldız", "EMRE YILDIZ", true},
		{"Ibrahim Sahin", "İBRAHİM ŞAHİN", true},
		{"İrem", "irem ışık", true},
		{"Bauer", "Baur", false},
		{"Muller", "Müller", false},
		{"Anna", "Annabell", false},
		{"", "Anna", false},
		{" - ", "Anna", false},
	} {
		if got := dav.Matches(c.looked, c.text); got != c.want {
			t.Errorf("%q in %q: %t", c.looked, c.text, got)
		}
	}
}

// TestPlainTextIsOneLine without what turns the direction of writing, or ends a line of a calendar.
func TestPlainTextIsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" a \r\nBEGIN:VEVENT\u2028b\tc ": "a BEGIN:VEVENT b c", "x\u202ey\u2066z": "x y z", "\x00": "", "Mu\u0308ller": "Müller", "a\xffb": "ab",
	} {
		if got := dav.Plain(text, 20); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := dav.Plain("äöüß", 3); got != "äöü" {
		t.Errorf("%q", got)
	}
}
