package mime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/ingest/mime/text"
)

// languageFolder writes files of languages.
func languageFolder(tb testing.TB, files map[string]string) string {
	tb.Helper()
	folder := tb.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return folder
}

const esperanto = `{
  "attributions": ["Je {date}, {name} skribis:"],
  "header": {"from": ["De"], "sent": ["Sendita"], "to": ["Al"], "subject": ["Temo"]},
  "separators": ["Originala mesaĝo"],
  "forwards": ["Plusendita mesaĝo"],
  "forward_subjects": ["PS:"],
  "reply_subjects": ["Resp:"],
  "signatures": ["Sendita de mia {any}"],
  "stubs": ["ne subtenas html"],
  "bounces": ["nelivebla:"],
  "auto_replies": ["aŭtomata respondo:"]
}`

// TestLanguageOfADeployment_I19: a file is all that a further language needs,
// and it changes nothing for the others.
func TestLanguageOfADeployment_I19(t *testing.T) {
	t.Parallel()
	languages, err := text.LoadLanguages(languageFolder(t, map[string]string{"eo.json": esperanto, ".hidden": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	if tags := languages.Tags(); !slices.Contains(tags, "eo") || !slices.Contains(tags, "de") || len(tags) != len(text.DefaultLanguages().Tags())+1 {
		t.Errorf("the languages are %v", tags)
	}
	for name, test := range map[string]struct{ header, body, text, quoted, signature string }{
		"attribution": {
			"In-Reply-To: <1@b.c>\n", "Jes.\n\nSendita de mia telefono\n\nJe 5 majo 2026, Ana skribis:\n\nĈu?", "Jes.",
			"Je 5 majo 2026, Ana skribis:\n\nĈu?", "Sendita de mia telefono",
		},
		"header":     {"In-Reply-To: <1@b.c>\n", "Jes.\n\nDe: Ana\nSendita: lundo\nAl: Ben\nTemo: x\n\nĈu?", "Jes.", "De: Ana\nSendita: lundo\nAl: Ben\nTemo: x\n\nĈu?", ""},
		"separator":  {"", "Jes.\n-----Originala mesaĝo-----\nĈu?", "Jes.", "-----Originala mesaĝo-----\nĈu?", ""},
		"forward":    {"", "Jes.\n--- Plusendita mesaĝo ---\nDe: Ana\nAl: Ben\nTemo: x", "Jes.\n--- Plusendita mesaĝo ---\nDe: Ana\nAl: Ben\nTemo: x", "", ""},
		"subject":    {"Subject: PS: x\n", "Jes.\n\nDe: Ana\nAl: Ben\nTemo: x", "Jes.\n\nDe: Ana\nAl: Ben\nTemo: x", "", ""},
		"reply":      {"Subject: Resp: x\n", "> Ĉu?\nJes.", "Jes.", "> Ĉu?", ""},
		"no reply":   {"Subject: x\n", "> Ĉu?\nJes.", "> Ĉu?\nJes.", "", ""},
		"german too": {"", "Ja.\n\nAm 05.01.2026 um 09:00 schrieb Ana:\n> Ja?", "Ja.", "Am 05.01.2026 um 09:00 schrieb Ana:\n> Ja?", ""},
	} {
		raw := "From: a@b.c\n" + test.header + "Content-Type: text/plain; charset=utf-8\n\n" + test.body
		mail := parseWith(t, raw, mime.Options{Languages: languages})
		if mail.Text != test.text || mail.Quoted != test.quoted || mail.Signature != test.signature {
			t.Errorf("%s: got %q, %q and %q", name, mail.Text, mail.Quoted, mail.Signature)
		}
	}
	if mail := parseWith(t, "From: a@b.c\nSubject: =?utf-8?Q?A=C5=ADtomata_respondo:_x?=\n\nx", mime.Options{Languages: languages}); mail.Class != "autoreply" {
		t.Errorf("its automatic reply is %s", mail.Class)
	}
	raw := "From: a@b.c\nIn-Reply-To: <1@b.c>\n\nJes.\n\nJe 5 majo 2026, Ana skribis:\n\nCu?"
	if mail := parseWith(t, raw, mime.Options{}); mail.Quoted != "" {
		t.Errorf("without the file it is known as well: %q", mail.Quoted)
	}
}

// TestLanguageIsReplaced_I19: a file with the tag of a language of the program
// stands in for it.
func TestLanguageIsReplaced_I19(t *testing.T) {
	t.Parallel()
	languages, err := text.LoadLanguages(languageFolder(t, map[string]string{"de.json": `{"attributions": ["{name} meinte am {date}:"]}`}))
	if err != nil {
		t.Fatal(err)
	}
	for body, quoted := range map[string]bool{
		"Ja.\n\nAna meinte am 5.1.2026:\n\nJa?":                     true,
		"Ja.\n\nAm 05.01.2026 um 09:00 schrieb Ana:\n\nJa?":         false,
		"Yes.\n\nOn 5 Jan 2026, at 09:00, Ana wrote:\n\nReally so?": true,
	} {
		raw := "From: a@b.c\nIn-Reply-To: <1@b.c>\n\n" + body
		if mail := parseWith(t, raw, mime.Options{Languages: languages}); (mail.Quoted != "") != quoted {
			t.Errorf("%q: quoted %q", body, mail.Quoted)
		}
	}
}

// TestLanguageFaults_I19: everything that is wrong is named, with its place.
func TestLanguageFaults_I19(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	many := strings.Repeat(`"some words",`, 64) + `"some words"`
	for name, test := range map[string]struct{ file, content, want string }{
		"unknown key":        {"eo.json", "{\n  \"attribution\": [\"x\"]\n}", `2:3: unknown key "attribution"`},
		"unknown inside":     {"eo.json", `{"header": {"form": ["De"], "from": ["De"], "to": ["Al"], "subject": ["T"]}}`, `1:13: header: unknown key "form"`},
		"several":            {"eo.json", "{\"a\": 1,\n \"b\": {}}", "1:2: unknown key \"a\"\n2:2: unknown key \"b\""},
		"no list":            {"eo.json", `{"stubs": "x"}`, "1:11: stubs: expected a list"},
		"no text":            {"eo.json", `{"stubs": ["ok", 5]}`, "1:18: stubs[1]: expected a text"},
		"no object":          {"eo.json", `[]`, "1:1: expected an object"},
		"header is a list":   {"eo.json", `{"header": []}`, "1:12: header: expected an object"},
		"few fields":         {"eo.json", `{"header": {"from": ["De"], "to": ["Al"]}}`, "1:12: header: from and two others are needed: three fields make a header"},
		"place":              {"eo.json", `{"attributions": ["Je {when}, {name} skribis:"]}`, "1:19: attributions[0]: {when} is no place; there are {date}, {time}, {name}, {address} and {any}"},
		"place open":         {"eo.json", `{"attributions": ["Je {date skribis:"]}`, "1:19: attributions[0]: the place {date skribis: is not closed"},
		"places together":    {"eo.json", `{"attributions": ["Je {date}{name} skribis:"]}`, "1:19: attributions[0]: two places stand side by side before {name}; there have to be words between them"},
		"places":             {"eo.json", `{"signatures": ["sendita` + strings.Repeat(" x {any}", 9) + `"]}`, "1:17: signatures[0]: there are more than 8 places"},
		"no place":           {"eo.json", `{"attributions": ["Ana skribis:"]}`, "1:19: attributions[0]: it has no place, such as {name}"},
		"no colon":           {"eo.json", `{"attributions": ["Je {date}, {name} skribis"]}`, "1:19: attributions[0]: it has to end with a colon"},
		"few words":          {"eo.json", `{"attributions": ["{name} de:"]}`, "1:19: attributions[0]: its words are too few to be told from what people write"},
		"only places":        {"eo.json", `{"signatures": ["{any} sendita {any}"]}`, "1:17: signatures[0]: it has to begin or to end with words"},
		"too short":          {"eo.json", `{"separators": ["- x -"]}`, `1:17: separators[0]: "x" is too short to be told from what people write`},
		"subject":            {"eo.json", `{"reply_subjects": ["re"]}`, `1:21: reply_subjects[0]: "re" does not end with a colon`},
		"too long":           {"eo.json", `{"stubs": ["` + long + `"]}`, "1:12: stubs[0]: it is longer than 200 bytes"},
		"too many":           {"eo.json", `{"stubs": [` + many + `]}`, "1:844: stubs: there are more than 64 entries"},
		"too large":          {"eo.json", strings.Repeat(" ", 65<<10), "1:1: it is larger than 65536 bytes"},
		"not UTF-8":          {"eo.json", "{\"stubs\": [\"\xff\"]}", "1:1: it is not UTF-8"},
		"cut off":            {"eo.json", `{"stubs": [`, "1:12: stubs[0]: it is not JSON: unexpected EOF"},
		"twice":              {"eo.json", "{\"stubs\": [],\n\"stubs\": []}", `2:1: it is not JSON: duplicate object member name`},
		"behind the end":     {"eo.json", "{}\n{}", "2:1: there is something behind the end"},
		"column in letters":  {"eo.json", `{"stubs": ["ĉĝĥĵŝŭ", 1]}`, "1:22: stubs[1]: expected a text"},
		"another kind":       {"eo.yaml", "", "a language is a file such as eo.json or pt-BR.json, named by its tag (BCP 47)"},
		"a name and no tag":  {"Esperanto.json", "{}", "a language is a file such as eo.json or pt-BR.json, named by its tag (BCP 47)"},
		"everything at once": {"eo.json", `{"stubs": [1], "x": 2}`, "1:12: stubs[0]: expected a text\n1:16: unknown key \"x\""},
	} {
		folder := languageFolder(t, map[string]string{test.file: test.content})
		_, err := text.LoadLanguages(folder)
		if _, wrong := errors.AsType[text.LanguageFaults](err); !wrong {
			t.Errorf("%s: the error is %v", name, err)
			continue
		}
		var want []string
		for line := range strings.Lines(test.want) {
			separator := ":"
			if strings.HasPrefix(line, "a language") {
				separator = ": "
			}
			want = append(want, filepath.Join(folder, test.file)+separator+strings.TrimSuffix(line, "\n"))
		}
		if got := err.Error(); got != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, strings.Join(want, "\n"))
		}
	}
}

// TestLanguagesAreBounded_I19: neither is more read than a language may be, nor
// are more languages taken than there may be.
func TestLanguagesAreBounded_I19(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("q%c%c.json", 'a'+i/26, 'a'+i%26)] = "{}"
	}
	if _, err := text.LoadLanguages(languageFolder(t, files)); err == nil || !strings.Contains(err.Error(), "more than 64 languages") {
		t.Errorf("60 languages more: %v", err)
	}
	if _, err := text.LoadLanguages(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestBuiltInLanguages_I19: each language of the program can say everything that
// a file can, and each has cases that are kept aside.
func TestBuiltInLanguages_I19(t *testing.T) {
	t.Parallel()
	tags := text.DefaultLanguages().Tags()
	if len(tags) != 31 {
		t.Errorf("there are %d languages: %v", len(tags), tags)
	}
	for _, tag := range tags {
		content, err := os.ReadFile(filepath.Join("text", "languages", tag+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{
			"attributions", "pronouns", "header", "from", "sent", "date", "to", "subject", "other", "separators", "forwards", "forward_subjects",
			"reply_subjects", "signatures", "stubs", "bounces", "auto_replies",
		} {
			if !strings.Contains(string(content), `"`+key+`": `) {
				t.Errorf("%s has no %s", tag, key)
			}
		}
		for _, cases := range []string{tag + ".txt", tag + ".held.txt"} {
			if _, err := os.Stat(filepath.Join("testdata", "split", cases)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDocumentedLanguage_I19: the example of the documentation is a language.
func TestDocumentedLanguage_I19(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/mail-reading.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "```json\n")
	example, _, closed := strings.Cut(example, "```")
	if !found || !closed {
		t.Fatal("the documentation shows no language")
	}
	languages, err := text.LoadLanguages(languageFolder(t, map[string]string{"eo.json": example}))
	if err != nil {
		t.Fatal(err)
	}
	raw := "From: a@b.c\nIn-Reply-To: <1@b.c>\n\nJes.\n\nSendita de mia telefono\n\nJe 5 majo 2026, Ana skribis:\n\nCu?"
	if mail := parseWith(t, raw, mime.Options{Languages: languages}); mail.Text != "Jes." || mail.Quoted == "" || mail.Signature == "" {
		t.Errorf("got %q, %q and %q", mail.Text, mail.Quoted, mail.Signature)
	}
	for _, tag := range text.DefaultLanguages().Tags() {
		if !strings.Contains(string(page), "| `"+tag+"` |") {
			t.Errorf("the documentation does not name %s", tag)
		}
	}
}
