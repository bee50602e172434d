package mime

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	maxMarkerLine    = 500 // bytes; a longer line announces nothing
	minRule          = 5   // dashes of a rule above a quotation
	attributionLines = 4   // an attribution may be wrapped into so many
	maxHeaderLines   = 14  // of a copied header, from its first field to its last
	maxGap           = 3   // lines below an announcement, within which its quotation begins
)

// An occasion is what the header says of why a mail was written.
type occasion struct {
	forwarded bool // the mail passes another one on
	reply     bool // it answers another one
}

// A splitter separates the new words of a mail from those it quotes. It passes
// over the lines once, and looks at a bounded number of lines around each.
type splitter struct {
	words  *Languages
	lines  []string
	folded [window]foldedLine // the lines around, as they are compared
	begins [window]announced  // attributions, by the line where they begin
	seen   int                // lines that were looked at for ends of attributions
	steps  int                // comparisons, for a test
}

// window is how many lines around a line are remembered, at least.
const window = 32

type foldedLine struct {
	number int // counted from 1
	text   string
}

// announced is a quotation's announcement.
type announced struct {
	line  int // where it begins
	lines int
	sure  bool // also when the quotation below is not marked
}

// parts are the lines of a text. Together they are all of it.
type parts struct {
	own, passed, quoted []string

	breaks []int // where in own a quotation stood between
}

// splitText separates the new words of a mail from those it quotes; together
// they are the whole text. A mail that is passed on is new, with what stands
// below; so is one that holds nothing but a quotation.
func (l *Languages) splitText(text string, about occasion) (fresh, quoted, signature string) {
	p := newSplitter(l, text).split(about)
	own, signature := l.splitSignature(p.own, p.breaks)
	switch {
	case signature == "":
		fresh = tidy(slices.Concat(p.own, p.passed))
	case len(p.passed) == 0:
		fresh = own
	default:
		fresh = own + "\n\n" + tidy(p.passed)
	}
	if fresh == "" {
		return strings.TrimSpace(text), "", ""
	}
	return fresh, tidy(p.quoted), signature
}

func newSplitter(l *Languages, text string) *splitter {
	return &splitter{words: l, lines: strings.Split(text, "\n")}
}

func (s *splitter) split(about occasion) parts {
	var p parts
	announced := false // a line marked with ">" in a mail that answers nothing is its author's
	for i := 0; i < len(s.lines); {
		if isMarked(s.lines[i]) {
			if about.reply || announced {
				p.quote(s.lines[i])
			} else {
				p.own = append(p.own, s.lines[i])
			}
			i++
			continue
		}
		kind, count := s.announcement(i)
		switch {
		case kind == nothing:
			p.own = append(p.own, s.lines[i])
			i++
			continue
		case kind == forward, !announced && (about.forwarded || kind == copied && !about.reply):
			p.passed = s.lines[i:]
			return p
		case kind == unmarked, kind == copied:
			p.quote(s.lines[i:]...)
			return p
		}
		announced = true
		p.quote(s.lines[i : i+count]...)
		i += count
	}
	return p
}

func (p *parts) quote(lines ...string) {
	p.quoted = append(p.quoted, lines...)
	if at := len(p.own); len(p.breaks) == 0 || p.breaks[len(p.breaks)-1] != at {
		p.breaks = append(p.breaks, at)
	}
}

// A kind says what a line announces.
type kind int

const (
	nothing  kind = iota
	marked        // a quotation whose lines are marked, so that others are an answer below or between
	unmarked      // a quotation that reaches to the end
	copied        // the same, below a header; in a mail that answers nothing, it is what that passes on
	forward       // a mail that is passed on
)

// announcement tells what line i announces, with the count of lines that do.
func (s *splitter) announcement(i int) (what kind, count int) {
	line := s.lines[i]
	if line == "" || len(line) > maxMarkerLine {
		return nothing, 0
	}
	if found, is := s.attribution(i); is {
		switch below := s.below(i + found.lines); {
		case below < len(s.lines) && isMarked(s.lines[below]):
			return marked, found.lines
		case found.sure:
			return unmarked, found.lines
		}
		return nothing, 0
	}
	begin := strings.TrimLeft(line, " \t*")
	if strings.HasPrefix(begin, "--") || strings.HasPrefix(begin, "__") {
		return s.rule(i)
	}
	if !mayBeLabel(line) {
		return nothing, 0
	}
	if folded := s.fold(i); strings.HasSuffix(folded, ":") && s.words.forwards[strings.Trim(folded, "-_ :")] {
		return forward, 1
	}
	if s.copiedHeader(i, false) {
		return copied, 1
	}
	return nothing, 0
}

// rule tells what a line that begins with dashes announces: by the words
// between them, or by the header below.
func (s *splitter) rule(i int) (what kind, count int) {
	folded := s.fold(i)
	inner := strings.Trim(folded, "-_ :")
	below := s.below(i + 1)
	s.steps++
	switch {
	case s.words.forwards[inner]:
		return forward, 1
	case s.words.separators[inner]:
		if below < len(s.lines) {
			_, attributed := s.attribution(below)
			if attributed || isMarked(s.lines[below]) {
				return marked, 1
			}
		}
		return unmarked, 1
	case inner == "" && len(folded) >= minRule && below < len(s.lines) && s.copiedHeader(below, true):
		return copied, 1
	}
	return nothing, 0
}

// below returns the first line from i on that is not empty, within maxGap lines.
func (s *splitter) below(i int) int {
	for at := i; at < min(i+maxGap, len(s.lines)); at++ {
		if strings.TrimSpace(s.lines[at]) != "" {
			return at
		}
	}
	return len(s.lines)
}

func isMarked(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), ">") }

// mayBeLabel is true of every line that begins with the name of a field.
func mayBeLabel(line string) bool {
	begin := line[:min(len(line), 60)]
	return strings.Contains(begin, ":") || strings.Contains(begin, "：")
}

// copiedHeader tells whether line i begins a header that was copied into the
// text: three fields in one language, one of which says from whom, and one that
// only mail has, unless a rule stands above.
func (s *splitter) copiedHeader(i int, ruled bool) bool {
	var roles [maxLanguages]role
	if !s.labels(i, &roles) {
		return false
	}
	mail := ruled || strings.Contains(s.lines[i], "@")
	others := 0 // lines in a row that continue a field, or none
	for at := i; at < min(i+maxHeaderLines, len(s.lines)) && others <= maxGap; at++ {
		line := s.lines[at]
		if len(line) > 4*maxMarkerLine {
			break // long lists of addresses stand in one line
		}
		if at > i && !s.labels(at, &roles) {
			others++
			continue
		}
		others = 0
		mail = mail || strings.Contains(line, "@")
		for language := range s.words.tags {
			if roles[language].header(mail) {
				return true
			}
		}
	}
	return false
}

// header tells whether fields of one language make a header.
func (r role) header(mail bool) bool {
	count := 0
	for one := roleSent; one <= roleSubject; one <<= 1 {
		if r&one != 0 {
			count++
		}
	}
	return r&roleFrom != 0 && count >= 2 && (mail || r&(roleSent|roleSubject) != 0)
}

// labels adds what the label of line i says in each language, and tells whether
// there is one.
func (s *splitter) labels(i int, roles *[maxLanguages]role) bool {
	line := s.lines[i]
	if !mayBeLabel(line) {
		return false
	}
	s.steps++
	var folded string
	if len(line) <= maxMarkerLine {
		folded = s.fold(i)
	} else {
		folded = fold(strings.ToValidUTF8(line[:maxMarkerLine], ""))
	}
	name, _, _ := strings.Cut(folded, ":")
	found := s.words.labels[name]
	for _, one := range found {
		roles[one.language] |= one.role
	}
	return len(found) > 0
}

// fold returns line i as it is compared, and remembers it for a while.
func (s *splitter) fold(i int) string {
	kept := &s.folded[i%window]
	if kept.number != i+1 {
		s.steps++
		kept.number, kept.text = i+1, fold(s.lines[i])
	}
	return kept.text
}

// fold makes lines comparable: form NFC, lower case, single plain blanks, plain
// signs, without blanks and asterisks around, and without blanks before a colon.
func fold(line string) string {
	folded := strings.ToLower(norm.NFC.String(line))
	if !isASCII(folded) {
		folded = plainSigns.Replace(folded)
	}
	if strings.Contains(folded, "  ") || strings.Contains(folded, "\t") {
		folded = strings.Join(strings.Fields(folded), " ")
	}
	folded = strings.ReplaceAll(strings.Trim(folded, " \t\r*"), ":*", ":")
	return strings.ReplaceAll(strings.ReplaceAll(folded, "*:", ":"), " :", ":")
}

// plainSigns writes the signs of several alphabets in one way, and leaves out
// those that are not seen.
var plainSigns = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u3000", " ", "\u200b", "", "\u200e", "", "\u200f", "", "\ufeff", "",
	"\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "«", `"`, "»", `"`, "：", ":", "，", ",", "（", "(", "）", ")",
)

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
