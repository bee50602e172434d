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
	Signatures   []attribution `json:"signatures"`   // lines that mail programs add by themselves
	Bounces      []string      `json:"bounces"`      // beginnings of the subjects of bounces
	AutoReplies  []string      `json:"auto_replies"` // beginnings of the subjects of automatic replies
}

// An attribution is a line that says who wrote what follows, and then must hold
// a digit as well, as every date does; or how the words above were sent.
type attribution struct {
	Starts   string `json:"starts,omitzero"`
	Contains string `json:"contains,omitzero"`
	Ends     string `json:"ends,omitzero"`
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
		all.Signatures = append(all.Signatures, one.Signatures...)
		all.Bounces = append(all.Bounces, one.Bounces...)
		all.AutoReplies = append(all.AutoReplies, one.AutoReplies...)
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
	ends := 0 // the last line looked at that may end an attribution, counted from 1
	seen := 0
	for i := range lines {
		for ; seen < min(i+attributionLines, len(lines)); seen++ {
			if mayEndAttribution(lines[seen]) {
				ends = seen + 1
			}
		}
		if words.announces(lines, i, ends > i) {
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
// attributed is whether an attribution may begin there.
func (m *markers) announces(lines []string, i int, attributed bool) bool {
	if lines[i] == "" || len(lines[i]) > maxMarkerLine {
		return false
	}
	if attributed && m.attribution(lines, i) > 0 {
		return true
	}
	if isASCII(lines[i]) && !strings.Contains(lines[i], ":") && !strings.Contains(lines[i], "--") && !strings.Contains(lines[i], "__") {
		return false // most lines: neither a field nor a rule, whatever folding them would show
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

// mayEndAttribution is true of every line that ends with a colon when it is
// folded, and of few others.
func mayEndAttribution(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " \t*"), ":") || !isASCII(line)
}

// quotedHeader tells whether a line begins a header that was copied into the
// text: a field, and right below it two more, one of the three being From.
func (m *markers) quotedHeader(folded string, below []string) bool {
	from := m.beginsWith(folded, m.From)
	if !from && !m.beginsWith(folded, m.Fields) {
		return false
	}
	found := 0
	for _, line := range below[:min(len(below), 6)] {
		if len(line) > maxMarkerLine {
			break
		}
		switch line = fold(line); {
		case m.beginsWith(line, m.Fields):
			found++
		case m.beginsWith(line, m.From) && !from:
			from = true
			found++
		}
	}
	return from && found >= 2
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

// splitSignature takes the line that a mail program puts at the end by itself,
// such as "Sent from my iPhone" below an empty line, off a text. A person's own signature stays:
// it says who writes and how to reach them.
func splitSignature(text string) (words, signature string) {
	above, last, found := cutLast(strings.TrimRight(text, "\n"), "\n\n")
	if !found || len(last) > maxSignature {
		return text, ""
	}
	line := strings.TrimLeft(fold(last), "-_<[ ")
	for _, known := range loadMarkers().Signatures {
		if strings.HasPrefix(line, known.Starts) && strings.Contains(line, known.Contains) && strings.HasSuffix(line, known.Ends) {
			return strings.TrimSpace(above), strings.TrimSpace(last)
		}
	}
	return text, ""
}

func cutLast(text, separator string) (before, after string, found bool) {
	if !strings.Contains(text, separator) { // which is found out much faster than where the last one is
		return text, "", false
	}
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return text, "", false
}

const maxSignature = 100 // bytes of a line that a program adds

// fold makes lines comparable: form NFC, lower case, plain spaces, without
// blanks, asterisks and quotation marks around, and without blanks before a colon.
func fold(line string) string {
	folded := strings.ToLower(norm.NFC.String(line))
	if !isASCII(folded) {
		folded = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2019", "'").Replace(folded)
	}
	folded = strings.ReplaceAll(strings.Trim(folded, " \t*"), ":*", ":")
	return strings.ReplaceAll(strings.ReplaceAll(folded, "*:", ":"), " :", ":")
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
