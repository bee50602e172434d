package route

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestFold_O08_G25(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"case", "PBF_BB_1", "pbf_bb_1"},
		{"umlauts", "Öl für Ärzte: Übung, Straße", "oel fuer aerzte: uebung, strasse"},
		{"umlauts written out", "Oel fuer Aerzte", "oel fuer aerzte"},
		{"decomposed umlauts", "O\u0308l fu\u0308r", "oel fuer"},
		{"umlaut below another mark", "u\u0304\u0308", "ue"},
		{"two diaereses", "u\u0308\u0308", "ue"},
		{"spacing diaeresis", "u\u034f¨\u0301x", "u x"},
		{"capital sharp s", "STRAẞE", "strasse"},
		{"native pairs stay", "Aktuell: Quelle, Poesie", "aktuell: quelle, poesie"},
		{"accents", "Café à la crème, Łódź, Ñandú, Øre", "cafe a la creme, lodz, nandu, oere"},
		{"other diaereses", "naïve Noël", "naive noel"},
		{"ligatures and widths", "ﬁnd ＡＢＣ ²", "find abc 2"},
		{"dotted and dotless i", "İI ı", "ii i"},
		{"final sigma", "ΟΔΟΣ ὁδός", "οδοσ οδοσ"},
		{"cyrillic", "ЁЛКА Йод", "елка иод"},
		{"marks of other scripts stay", "が か", "か\u3099 か"},
		{"space and hyphens", "a - b\u00a0c\u2013d\te\r\nf", "a b c d e f"},
		{"paragraph", "a\n \n\n b", "a\n\nb"},
		{"invisible", "Ter\u00admin\u200d \ufeffx", "termin x"},
		{"zero width space", "a\u200bb", "a b"},
		{"quotes", "„a“ «b» ‘c’", `"a" "b" 'c'`},
		{"trademark", "Orca™ x", "orca x"},
		{"emoji presentation", "❤\ufe0fab", "❤ab"},
		{"control characters", "a\x00b\x1bc", "a b c"},
		{"not UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"replacement character", "\ufffd", "\ufffd"},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := string(newFolder().fold(test.text).text); got != test.want {
				t.Errorf("fold(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestFoldEveryRune shows for every assigned character that folding is idempotent, that no
// normalization form changes its result, and that the table agrees with it.
func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	f := newFolder()
	for r := range rune(unicode.MaxRune) {
		if !unicode.IsGraphic(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			continue
		}
		alone := string(r)
		folded := string(f.fold(alone).text)
		if again := string(f.fold(folded).text); again != folded {
			t.Errorf("%U is folded to %q, and that to %q", r, folded, again)
		}
		for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
			// The trademark's compatibility form is two letters, which is what
			// its folding avoids.
			if form != norm.NFC && form != norm.NFD && strings.ContainsRune(alone, trademark) {
				continue
			}
			if got := string(f.fold(form.String(alone)).text); got != folded {
				t.Errorf("%U is folded to %q, in form %d to %q", r, folded, form, got)
			}
		}
		// A combining mark behind it takes the slow path to the same letters.
		if slow := string(f.fold(alone + "\u034f").text); slow != folded {
			t.Errorf("%U is folded to %q alone and to %q by normalization", r, folded, slow)
		}
	}
}

func TestOffsets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, find, want string }{
		{"für Änderung", "aenderung", "Änderung"},
		{"fu\u0308r A\u0308nderung!", "aenderung", "A\u0308nderung"},
		{"Ter\u00admin\u00ad, bald", "termin", "Ter\u00admin"},
		{"ein  single -\n point", "single point", "single -\n point"},
		{"\u00a0\u00a0x yz", "yz", "yz"},
		{"ﬃx y", "y", "y"},
		{"ﬃx y", "ffix", "ﬃx"},
		{"a\xffb c", "c", "c"},
		{"Straße", "strasse", "Straße"},
		{"a\n\n\nb", "b", "b"},
		{"e\u0301a", "a", "a"},
		{"a™ b", "b", "b"},
		{"½ b", "b", "b"},
		{"엄 b", "b", "b"},       // two letters of the segment's size
		{"\u309bx y", "y", "y"}, // a space and a mark that stays
	} {
		f := newFolder().fold(test.text)
		at := strings.Index(string(f.text), test.find)
		if at < 0 {
			t.Errorf("%q is not in %q", test.find, f.text)
			continue
		}
		if got := test.text[f.start(at):f.end(at+len(test.find))]; got != test.want {
			t.Errorf("%q in %q is %q, want %q", test.find, test.text, got, test.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{"", "für", "fu\u0308r", "a \n\n-b", "\xff\xc3", "Te\u00adrmin ﬃ", "u\u0304\u0308", "½\u00a0½"} {
		f.Add(seed)
	}
	folder := newFolder()
	f.Fuzz(func(t *testing.T, text string) {
		folded := folder.fold(text)
		if !utf8.Valid(folded.text) {
			t.Fatalf("fold(%q) is not UTF-8: %q", text, folded.text)
		}
		if again := folder.fold(string(folded.text)); string(again.text) != string(folded.text) {
			t.Fatalf("fold(%q) is %q, and that %q", text, folded.text, again.text)
		}
		before := 0
		for at, r := range string(folded.text) {
			start, end := folded.start(at), folded.end(at+utf8.RuneLen(r))
			if start < before || end < start || end > len(text) {
				t.Fatalf("fold(%q): %q at %d is [%d:%d] after %d", text, r, at, start, end, before)
			}
			before = start
		}
		if !utf8.ValidString(text) {
			return
		}
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			if got := folder.fold(form.String(text)); string(got.text) != string(folded.text) {
				t.Fatalf("fold(%q) is %q, in form %d %q", text, folded.text, form, got.text)
			}
		}
	})
}
