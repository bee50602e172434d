package phrase_test

import (
	"strings"
	"testing"

	"podium/supervisor/phrase"
)

func german() phrase.Words {
	return phrase.Words{
		Phrases: []string{"doch nicht", "nein danke", "hat sich erledigt", "nicht mehr nötig"}, Courtesy: []string{"nein", "danke", "bitte", "das", "vielen dank"},
		Closings: []string{"viele grüße", "vielen dank"},
	}
}

// TestOnly: a phrase with courtesies around it, and a name below; any word more is more.
func TestOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Doch nicht.": true, "nein danke, doch nicht": true, "Nein, danke!": true, "Das hat sich erledigt, vielen Dank": true, "nicht mehr noetig": true,
		"Nein danke, doch nicht.\n\nViele Grüße\nPetra Lindner-Groß": true, "Viele Grüße": false, "": false, "danke": false, "nein": false,
		"Doch nicht um 9": false, "Doch nicht 9": false, "doch nicht am Montag, sondern am Dienstag": false, "Doch nicht. Viele Grüße, und bitte absagen, was noch steht": false,
		"Ist das doch nicht möglich?": false,
	} {
		if got := phrase.Only(text, german()); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestLead: what a text begins with is taken off it.
func TestLead(t *testing.T) {
	t.Parallel()
	known := phrase.Words{Phrases: []string{"ja", "ja genau", "genau", "stimmt"}, Courtesy: []string{"bitte", "danke", "das"}, Closings: []string{"viele grüße", "grüße"}}
	for text, want := range map[string]struct {
		rest  string
		found bool
	}{
		"Ja, genau!": {"", true}, "ja bitte": {"", true}, "Das stimmt. Danke.": {"", true}, "Ja, aber am Dienstag": {"aber am Dienstag", true}, "Jahrestermin": {"Jahrestermin", false},
		"bitte ja": {"", true}, "bitte am Dienstag": {"bitte am Dienstag", false}, "Ja – um 9:30 Uhr": {"um 9:30 Uhr", true}, "": {"", false}, "Genau genommen nicht": {"genommen nicht", true},
		"Ja, genau.\n\nViele Grüße\nPetra Lindner": {"", true}, "Ja, um 9.\nViele Grüße\nPetra Lindner": {"um 9.", true}, "Ja. Viele Grüße an die ganze Belegschaft der Praxis": {"Viele Grüße an die ganze Belegschaft der Praxis", true},
	} {
		if rest, found := phrase.Lead(text, known); rest != want.rest || found != want.found {
			t.Errorf("%q: %q, %v", text, rest, found)
		}
	}
}

// FuzzPhrases: no text breaks the reader, and what is left of one is a part of it.
func FuzzPhrases(f *testing.F) {
	f.Add("Ja, genau!", "ja")
	f.Add("\xff\u2019", "'")
	f.Fuzz(func(t *testing.T, text, known string) {
		words := phrase.Words{Phrases: []string{known}, Closings: []string{known}}
		rest, found := phrase.Lead(text, words)
		if !strings.Contains(text, rest) || !found && rest != text {
			t.Errorf("%q: %q, %v", text, rest, found)
		}
		phrase.Only(text, words)
	})
}

// TestAsks: a question is one in every script. Marks inside of an address of the web ask nothing.
func TestAsks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"yes?": true, "Ja, aber warum?": true, "ok ?": true, "yes??": true, "yes?!": true, "yes？": true, "نعم؟": true, "ναι;": true, "ναι\u037e": true, "¿sí": true, "այո՞": true,
		"yes ⁉": true, "да?": true, "はい？": true, "yes❓": true, "yes?but": true, "https://example.org?": true, "is it https://example.org/?a=b or not?": true, "አዎ፧": true,
		"yes": false, "Yes!": false, "ja, gern.": false, "yes;": false, "https://example.org/?a=b": false, "": false,
	} {
		if got := phrase.Asks(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
