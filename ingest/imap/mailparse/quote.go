package mailparse

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"podium/schemas"
)

//go:embed markers/*.json
var markerFiles embed.FS

// markers are the words by which mail programs announce what they quote, in
// every language of the markers folder. All are lower case and in form NFC.
type markers struct {
	Attributions []attribution `json:"attributions"` // the line above a quotation
	Separators   []string      `json:"separators"`   // between dashes, above a quotation
	Forwards     []string      `json:"forwards"`     // between dashes, above what was passed on
	From         []string      `json:"from"`         // the first field of a quoted header
	Fields       []string      `json:"fields"`       // the others
	Stubs        []string      `json:"stubs"`        // texts that only say that there is an HTML part
}

// An attribution is a line that says who wrote what follows. It must also hold
// a digit, as every date does.
type attribution struct {
	Starts   string `json:"starts,omitzero"`
	Contains string `json:"contains"`
	Ends     string `json:"ends"`
}

var loadMarkers = sync.OnceValue(func() markers { //nolint:gochecknoglobals // embedded words, read once and never changed
	var all markers
	entries, err := markerFiles.ReadDir("markers")
	for _, entry := range entries {
		var one markers
		var body []byte
		if body, err = markerFiles.ReadFile("markers/" + entry.Name()); err == nil {
			err = schemas.Unmarshal(body, &one)
		}
		if err != nil {
			break
		}
		all.Attributions = append(all.Attributions, one.Attributions...)
		all.Separators = append(all.Separators, one.Separators...)
		all.Forwards = append(all.Forwards, one.Forwards...)
		all.From = append(all.From, one.From...)
		all.Fields = append(all.Fields, one.Fields...)
		all.Stubs = append(all.Stubs, one.Stubs...)
	}
	if err != nil {
		panic(fmt.Sprintf("embedded quotation markers: %v", err)) // a test reads them
	}
	return all
})

// matches tells whether lines joined into one are such an attribution. Without
// words that it starts with, its first line must show that it belongs to it.
func (a attribution) matches(joined, first string) bool {
	if a.Starts == "" && !strings.Contains(first, "@") && !strings.Contains(first, a.Contains) {
		return false
	}
	return strings.HasPrefix(joined, a.Starts) && strings.Contains(joined, a.Contains) && strings.HasSuffix(joined, a.Ends)
}

const (
	maxMarkerLine    = 400 // bytes; a longer line announces nothing
	minRule          = 5   // dashes of a rule above a quotation
	attributionLines = 3   // an attribution may be wrapped into so many
)

// splitQuoted separates the new words of a mail from those it quotes; together
// they are the whole text. A mail that holds nothing but a quotation, such as
// one passed on without a word, is taken as new.
func splitText(text string) (fresh, quoted string) {
	words := loadMarkers()
	lines := strings.Split(text, "\n")
	cut := len(lines)
	for i := range lines {
		if words.announces(lines, i) {
			cut = i
			break
		}
	}
	newLines, quotedLines := unquoted(lines[:cut])
	below, belowQuoted := []string(nil), lines[cut:]
	if n := words.attribution(lines, cut); n > 0 {
		if plain, marked := unquoted(lines[cut+n:]); len(marked) > 0 {
			// The quotation is marked line by line, so what is not marked is an answer below or between.
			below, belowQuoted = plain, slices.Concat(lines[cut:cut+n], marked)
		}
	}
	newLines, quotedLines = append(newLines, below...), append(quotedLines, belowQuoted...)
	fresh = tidy(newLines)
	if fresh == "" {
		return strings.TrimSpace(text), ""
	}
	return fresh, tidy(quotedLines)
}

// unquoted separates lines that begin with ">".
func unquoted(lines []string) (plain, quoted []string) {
	for _, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
			quoted = append(quoted, line)
		} else {
			plain = append(plain, line)
		}
	}
	return plain, quoted
}

// announces tells whether line i, with those below it, announces a quotation.
func (m *markers) announces(lines []string, i int) bool {
	if lines[i] == "" || len(lines[i]) > maxMarkerLine {
		return false
	}
	if m.attribution(lines, i) > 0 {
		return true
	}
	folded := fold(lines[i])
	if !strings.HasPrefix(folded, "--") && !strings.HasPrefix(folded, "__") {
		return m.quotedHeader(folded, lines[i+1:])
	}
	inner := strings.Trim(folded, "-_ ")
	if inner == "" && len(folded) >= minRule && i+1 < len(lines) {
		return m.quotedHeader(fold(lines[i+1]), lines[i+2:])
	}
	return slices.Contains(m.Separators, inner)
}

// attribution returns how many lines an attribution takes, as programs wrap it.
func (m *markers) attribution(lines []string, i int) int {
	joined := ""
	for n := 1; n <= attributionLines && i+n <= len(lines); n++ {
		line := lines[i+n-1]
		if line == "" || len(line)+len(joined) > maxMarkerLine {
			return 0
		}
		joined = strings.TrimSpace(joined + " " + fold(line))
		if !strings.HasSuffix(joined, ":") || !strings.ContainsAny(joined, "0123456789") {
			continue
		}
		for _, known := range m.Attributions {
			if known.matches(joined, fold(lines[i])) {
				return n
			}
		}
	}
	return 0
}

// quotedHeader tells whether a line begins a header that was copied into the
// text: "From:" with at least two more fields right below.
func (m *markers) quotedHeader(folded string, below []string) bool {
	if !m.beginsWith(folded, m.From) {
		return false
	}
	found := 0
	for _, line := range below[:min(len(below), 6)] {
		if len(line) <= maxMarkerLine && m.beginsWith(fold(line), m.Fields) {
			found++
		}
	}
	return found >= 2
}

func (m *markers) beginsWith(line string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(line, name) })
}

// stub tells whether a plain text only stands in for an HTML part.
func (m *markers) stub(text string) bool {
	if len(text) > 500 {
		return false
	}
	folded := fold(text)
	return slices.ContainsFunc(m.Stubs, func(words string) bool { return strings.Contains(folded, words) })
}

// fold makes lines comparable: form NFC, lower case, without blanks, asterisks
// and quotation marks around.
func fold(line string) string {
	folded := strings.ToLower(norm.NFC.String(line))
	return strings.ReplaceAll(strings.Trim(folded, " \t*\u00a0"), ":*", ":")
}

// tidy joins lines, with at most one empty line in a row and none around.
func tidy(lines []string) string {
	var out strings.Builder
	empty := 0
	for _, line := range lines {
		line = strings.TrimRight(line, " \t")
		if line == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteString(strings.Repeat("\n", 1+min(empty, 1)))
		}
		empty = 0
		out.WriteString(line)
	}
	return out.String()
}
