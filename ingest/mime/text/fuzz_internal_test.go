package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"podium/ingest/mime/charset"
)

func valid(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	}
}

// FuzzQuotation proves that nothing is lost and nothing is added when a text is
// split, but for blanks and empty lines.
func FuzzQuotation(f *testing.F) {
	for _, seed := range []string{
		"Yes.\n\nOn 5 Jan, Ana wrote:\n> a\nb\n> c", "Ja.\n-----Ursprüngliche Nachricht-----\nVon: x", "> only", "Oui.\nDe : a\nEnvoyé : b\nÀ : c\n\nd", "x\n\nSent from my iPhone",
		"________\nFrom: a\nTo: b\nCc: c\n", "Le 5 a\na écrit\n:\n>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text := charset.Clean(raw)
		words, quoted, signature := DefaultLanguages().Split(text, Purpose{Reply: len(raw)%2 == 0, Forward: len(raw)%7 == 0})
		valid(t, words, signature, quoted)
		if got, want := letterCount(words+signature+quoted), letterCount(text); got != want {
			t.Fatalf("%d characters became %d:\n%q\n%q\n%q", want, got, words, signature, quoted)
		}
		if words == "" && quoted != "" {
			t.Fatalf("everything is taken for a quotation: %q", text)
		}
	})
}

// FuzzFailure proves that what is read of the words of a mail system stands in them, and is bounded.
func FuzzFailure(f *testing.F) {
	for _, seed := range []string{
		"<a@b.example>: host mx said: 550 5.1.1 <a@b.example>: unknown\n\nFrom: x@y.example\nMessage-ID:\n <1@y.example>", "> To: a\n> Subject: b\n>  c\n#5.1.1?",
		"<<< 550 no\n", "a@b.example:\n550 no", "status: 4.4.7", "550 5.1.1 \xff@\xff.x", strings.Repeat("550 a@b.example\n", 3000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		words := charset.Clean(raw)
		found := ReadFailure(words)
		valid(t, found.Reply, found.Status, found.Returned)
		valid(t, found.Recipients...)
		if len(found.Recipients) > maxRecipients || len(found.Returned) > 2*maxFailure {
			t.Fatalf("%d recipients, %d bytes of a header", len(found.Recipients), len(found.Returned))
		}
		for _, one := range append(found.Recipients, found.Reply) {
			if !strings.Contains(words, one) {
				t.Fatalf("%q is not in %q", one, words)
			}
		}
	})
}

// letterCount counts what is no blank.
func letterCount(text string) int { return len(strings.Join(strings.Fields(text), "")) }

// FuzzFlowed proves that joining lines loses nothing and adds nothing but blanks.
func FuzzFlowed(f *testing.F) {
	for _, seed := range []string{"a \nb", "> a \n> b\nc", "-- \nx", " > a", ">> a \n> b", "", "\n\n", " \n "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text := charset.Clean(raw)
		marks := func(text string) string { return strings.ReplaceAll(strings.Join(strings.Fields(text), ""), ">", "") }
		for _, deleteSpace := range []bool{false, true} {
			if got := Unflow(text, deleteSpace); marks(got) != marks(text) || len(got) > 2*len(text) {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}

// FuzzHTML proves that no page breaks the converter.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"<p>a</p><div style='display:none'>b</div>", "<style>.a{display:none}</style><p class=a>x", "<blockquote>a<pre>\nb", "<a href='https://x'>y</a>", "<!--", "<style>@media{.a{", "<td bgcolor=#fff><font color=#ffg>", "&#x0;&bogus;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		visible, hidden := htmlToText(page)
		valid(t, visible, hidden)
	})
}

// FuzzLanguage proves that every file is either taken or named faults with their
// places, and that what is taken cannot break the splitter.
func FuzzLanguage(f *testing.F) {
	for _, seed := range []string{
		`{"attributions": ["Je {date}, {name} skribis:"], "header": {"from": ["De"], "to": ["Al"], "subject": ["Temo"]}}`,
		`{"attributions": [1, "{", "{x}", "{date}{name}"]}`, `{"header": []}`, `[`, `{"a": {"b": [`, `{"stubs": ["a"]} x`, "\xff", `{"signatures": ["Sendita de {any}"]}`,
	} {
		f.Add(seed, "Jes.\n\nJe 5 majo 2026, Ana skribis:\n> Cxu?\n")
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		read, faults := readLanguage("eo.json", []byte(file))
		for _, one := range faults {
			if one.Line < 1 || one.Column < 1 || one.Message == "" || one.File != "eo.json" || (one.Unknown == "") != (one.Known == nil) {
				t.Fatalf("a fault without its place: %+v", one)
			}
		}
		if len(faults) > 0 {
			return
		}
		text = charset.Clean(text)
		all := compile(map[string]vocabulary{"eo": read})
		words, quoted, signature := all.Split(text, Purpose{Reply: true})
		if got, want := letterCount(words+signature+quoted), letterCount(text); got != want {
			t.Fatalf("%d characters became %d", want, got)
		}
	})
}
