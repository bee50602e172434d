package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxBelow     = 25      // lines of a signature with its disclaimer
	maxBareBelow = 8       // lines of a signature below dashes without their blank
	maxSignature = 100     // bytes of a line that a program adds, without its links
	maxDelimited = 4 << 10 // bytes of a signature with its disclaimer
	maxFreeWords = 5       // words of a line that a program adds, besides those of its template
)

// splitSignature takes off what a mail program adds by itself: what stands below
// a line of two dashes (RFC 3676, section 4.3), up to where a quotation breaks
// the lines, or at the end a line such as "Sent from my iPhone" below an empty
// one. A name below a closing stays: it says who writes and how to reach them.
func (l *Languages) splitSignature(lines []string, breaks []int) (words, signature string) {
	if at, end := delimited(lines, breaks); at < end {
		if rest := tidy(slices.Concat(lines[:at], lines[end:])); rest != "" {
			return rest, tidy(lines[at:end])
		}
	}
	text := tidy(lines)
	if !strings.Contains(text, "\n\n") { // which is found out much faster than where the last one is
		return text, ""
	}
	at := strings.LastIndex(text, "\n\n")
	above, last := text[:at], text[at+2:]
	if strings.Contains(last, "\n") {
		return text, ""
	}
	if !l.isSignature(last) {
		return text, ""
	}
	return trimText(above), strings.TrimSpace(last)
}

// isSignature tells whether a program has added a line by itself, with or without where
// its words lead.
func (l *Languages) isSignature(line string) bool {
	for _, words := range []string{withoutLinks(line), line} {
		words = strings.Trim(words, "-_<[ \t")
		if normal := Normalize(words); normal != "" && len(normal) <= maxSignature && l.signature(normal, words) {
			return true
		}
	}
	return false
}

// isSentence tells whether a line that begins as those of programs goes on as people write:
// with more words than names have, or with the end of a sentence behind a word in small
// letters. known is how many of its words programs write.
func isSentence(line string, known int) bool {
	words := strings.Fields(line)
	if len(words) <= known {
		return false
	}
	free := words[known:]
	isName := func(word string) bool {
		inner := strings.TrimLeftFunc(word, func(r rune) bool { return !isWordRune(r) })
		_, size := utf8.DecodeRuneInString(inner)
		return strings.ContainsFunc(inner[size:], unicode.IsUpper) || strings.ContainsFunc(word, unicode.IsDigit)
	}
	if isName(free[0]) && (len(free) == 1 || strings.ContainsAny(free[0][len(free[0])-1:], ".,;!")) {
		return false // "iPhone. Please excuse typos."
	}
	if len(free) > maxFreeWords {
		return true
	}
	last := free[len(free)-1]
	return endsSentence(line) && beginsLower(last) && !isName(last)
}

// delimited returns where the last signature begins, with the dashes above it,
// and where it ends. Without the blank behind them, dashes also divide lists, so
// they have to stand alone.
func delimited(lines []string, breaks []int) (begin, end int) {
	begin, bare := -1, -1
	count := 0
	for i, line := range lines {
		switch strings.TrimSuffix(line, "\r") {
		case "-- ":
			begin = i
		case "--":
			bare = i
			count++
		}
	}
	most := maxBelow
	if begin < 0 && count == 1 {
		begin, most = bare, maxBareBelow
	}
	if begin < 0 {
		return 0, 0
	}
	end = len(lines)
	for _, at := range breaks {
		if at > begin {
			end = at
			break
		}
	}
	below, size := 0, 0
	for _, line := range lines[begin+1 : end] {
		size += len(line)
		if strings.TrimSpace(line) != "" {
			below++
		}
	}
	if below == 0 || below > most || size > maxDelimited {
		return 0, 0
	}
	return begin, end
}

// withoutLinks leaves out where the words of a line lead.
func withoutLinks(line string) string {
	if at := strings.Index(line, "<http"); at >= 0 {
		if end := strings.IndexByte(line[at:], '>'); end >= 0 {
			return line[:at] + line[at+end+1:]
		}
	}
	return line
}
