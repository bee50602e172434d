package mime_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// A splitCase is one mail whose lines say where they belong:
//
//	== name
//	subject: Fwd: x      otherwise Re: Question
//	first                it answers nothing
//	t|new text           q|quotation      s|signature      |  (an empty line)
//	h|<p>                the body is this page, and the other lines are only expected
//
// A "~" at the end of a line stands for a blank.
type splitCase struct {
	name    string
	subject string
	first   bool
	body    []string
	page    []string
	want    splitParts
}

// splitParts are the lines of each part that are not empty.
type splitParts struct{ text, quoted, signature []string }

func (p splitParts) equal(other splitParts) bool {
	return slices.Equal(p.text, other.text) && slices.Equal(p.quoted, other.quoted) && slices.Equal(p.signature, other.signature)
}

// readSplitCases reads the cases of a file of testdata/split.
func readSplitCases(tb testing.TB, file string) []splitCase {
	tb.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var cases []splitCase
	for number, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if name, begins := strings.CutPrefix(line, "== "); begins {
			cases = append(cases, splitCase{name: name, subject: "Re: Question"})
			continue
		}
		one := &cases[len(cases)-1]
		if line == "first" {
			one.first, one.subject = true, "Question"
			continue
		}
		if subject, found := strings.CutPrefix(line, "subject: "); found {
			one.subject = subject
			continue
		}
		label, text, found := strings.Cut(line, "|")
		if before, blank := strings.CutSuffix(text, "~"); blank {
			text = before + " "
		}
		shown := strings.TrimSpace(text)
		switch {
		case found && label == "h":
			one.page = append(one.page, text)
			continue
		case found && label == "t":
			one.want.text = append(one.want.text, shown)
		case found && label == "q":
			one.want.quoted = append(one.want.quoted, shown)
		case found && label == "s":
			one.want.signature = append(one.want.signature, shown)
		case found && strings.TrimSpace(label) == "" && shown == "":
		default:
			tb.Fatalf("%s:%d: %q", file, number+1, line)
		}
		one.body = append(one.body, text)
	}
	for i := range cases {
		cases[i].want.quoted = slices.DeleteFunc(cases[i].want.quoted, func(line string) bool { return line == "" })
	}
	return cases
}

// mail is the whole message.
func (c *splitCase) mail() string {
	header := []string{"From: Writer <writer@example.com>", "To: office@example.net", "Message-ID: <2@example.com>", "Subject: =?utf-8?Q?" + encodeQ(c.subject) + "?="}
	if !c.first {
		header = append(header, "In-Reply-To: <1@example.net>", "References: <1@example.net>")
	}
	kind, body := "text/plain", c.body
	if len(c.page) > 0 {
		kind, body = "text/html", c.page
	}
	return crlf(append(append(header, "Content-Type: "+kind+"; charset=utf-8", ""), body...)...)
}

// encodeQ writes every byte of a text for an encoded word.
func encodeQ(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, "=%02X", text[i])
	}
	return out.String()
}

func nonEmptyLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func partsOf(mail *schemas.EmailReceived) splitParts {
	return splitParts{text: nonEmptyLines(mail.Text), quoted: nonEmptyLines(mail.Quoted), signature: nonEmptyLines(mail.Signature)}
}

// A score counts the cases of a language.
type score struct{ right, all int }

func (s score) atLeast(percent int) bool { return s.right*100 >= s.all*percent }

// TestSplitCorpus_I19 splits mails as the programs of the world write them. The
// cases in *.held.txt were written before the splitter and are kept aside: which
// of them go wrong is not shown, so that nobody fits the words to them.
func TestSplitCorpus_I19(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/split/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]map[bool]score{}
	all := 0
	for _, file := range files {
		language, held := strings.CutSuffix(strings.TrimSuffix(filepath.Base(file), ".txt"), ".held")
		if scores[language] == nil {
			scores[language] = map[bool]score{}
		}
		for _, one := range readSplitCases(t, file) {
			mail, err := mime.Parse(t.Context(), strings.NewReader(one.mail()), mime.Options{Sink: kept{}})
			if err != nil {
				t.Fatal(err)
			}
			counted := scores[language][held]
			counted.all++
			all++
			if got := partsOf(&mail); got.equal(one.want) {
				counted.right++
			} else if !held {
				t.Logf("%s: %s:\n got %q\nwant %q", language, one.name, got, one.want)
			}
			scores[language][held] = counted
		}
	}
	if all < 200 {
		t.Errorf("there are only %d cases", all)
	}
	for _, language := range slices.Sorted(maps.Keys(scores)) {
		open, held := scores[language][false], scores[language][true]
		t.Logf("%-8s open %2d of %2d, held aside %2d of %2d", language, open.right, open.all, held.right, held.all)
		if held.all*4 < open.all {
			t.Errorf("%s: too few cases are held aside", language)
		}
		least := leastRight[language]
		if least == 0 {
			least = 75
		}
		if !open.atLeast(least) || !held.atLeast(least) {
			t.Errorf("%s: %d of %d and %d of %d are right, want %d %%", language, open.right, open.all, held.right, held.all, least)
		}
	}
}

// leastRight is what a language promises, in percent.
var leastRight = map[string]int{"en": 90, "de": 90, "fr": 90}
