package document

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"podium/schemas/table"
)

// TestNoLinkRunsAProgram: an address that runs a program leads nowhere in either format, however its scheme is written.
func TestNoLinkRunsAProgram(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{`javascript:`, `javascript\:`, `javascript&colon;`, `javascript&#58;`, `JaVaScRiPt\:`, `data\:text/html,`, `vbscript&#x3a;`, `file\://`} {
		for _, text := range []string{"[x](" + scheme + "a)", "[x][r]\n\n[r]: " + scheme + "a", "<" + scheme + "a>", "[x](<" + scheme + "a>)"} {
			made := read([]byte(text), "x", "en")
			file, err := made.html(pageLayout())
			if err != nil {
				t.Fatal(err)
			}
			_, links, _ := strings.Cut(string(file), "<body")
			for _, address := range strings.Split(links, `href="`)[1:] {
				if address[0] != '"' {
					t.Errorf("%s leads to %.30s in HTML", text, address)
				}
			}
			if paper, _ := drawn(t, text); len(paper.links) > 0 {
				t.Errorf("%s leads to %q in PDF", text, paper.links)
			}
		}
	}
}

// TestLongWordIsCheap: a text without a blank, such as a file in base64, costs as much as one with blanks. It is no parallel test, since it counts
// what is allocated.
func TestLongWordIsCheap(t *testing.T) { //nolint:paralleltest // see above
	fonts, err := readFonts()
	if err != nil {
		t.Fatal(err)
	}
	allocated := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := read([]byte(text), "x", "en").drawn(fonts); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const bytes = 48 << 10
	blanks, word := allocated(strings.Repeat("base64 ", bytes/7)), allocated(strings.Repeat("base64x", bytes/7))
	if word > 10*blanks {
		t.Errorf("one word takes %d bytes, and words take %d", word, blanks)
	}
}

// TestMarkupOfDataIsBounded: what strangers write with marks is read in time that grows with the square of some of them, so that it has a bound of
// its own; text without marks has not.
func TestMarkupOfDataIsBounded(t *testing.T) {
	t.Parallel()
	fill := func(template string, data map[string]any) ([]byte, error) {
		parsed, faults := parseTemplate("x.md", template)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return (&filling{say: func(string) string { return "" }}).fill(parsed, data)
	}
	half := strings.Repeat(">", maxMarkup/2)
	if made, err := fill("{{markdown .a}}\n\n{{markdown .b}}", map[string]any{"a": half, "b": half}); err != nil || bytes.Count(made, []byte(">")) != maxMarkup {
		t.Errorf("%d bytes, %v", len(made), err)
	}
	if _, err := fill("{{markdown .a}}\n\n{{markdown .b}}", map[string]any{"a": half, "b": half + ">"}); !errors.Is(err, errTooLong) {
		t.Errorf("more than the bound: %v", err)
	}
	if _, err := fill("{{.a}}", map[string]any{"a": strings.Repeat("a", 2*maxMarkup)}); err != nil {
		t.Errorf("text: %v", err)
	}
	wide := strings.Repeat("|", 19_000) + "\n" + strings.Repeat("|-", 19_000) + "|\n" + strings.Repeat("a\n", 2000)
	if _, err := fill("{{markdown .a}}", map[string]any{"a": wide}); !errors.Is(err, table.ErrTooLarge) {
		t.Errorf("a table of 38 million cells: %v", err)
	}
}
