package mailparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxMarkerLine    = 500 // bytes; a longer line announces nothing
	minRule          = 5   // dashes of a rule above a quotation
	attributionLines = 4   // an attribution may be wrapped into so many
	maxHeaderLines   = 14  // of a copied header, from its first field to its last
	maxGap           = 3   // lines below an announcement, within which its quotation begins
	maxBelow         = 60  // lines of a signature
	maxSignature     = 100 // bytes of a line that a program adds, without its links
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
type parts struct{ own, passed, quoted []string }

// splitText separates the new words of a mail from those it quotes; together
// they are the whole text. A mail that is passed on is new, with what stands
// below; so is one that holds nothing but a quotation.
func (l *Languages) splitText(text string, about occasion) (fresh, quoted, signature string) {
	p := newSplitter(l, text).split(about)
	own, signature := l.splitSignature(p.own)
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
				p.quoted = append(p.quoted, s.lines[i])
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
			p.quoted = append(p.quoted, s.lines[i:]...)
			return p
		}
		announced = true
		p.quoted = append(p.quoted, s.lines[i:i+count]...)
		i += count
	}
	return p
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

// attribution returns the attribution that begins at line i.
func (s *splitter) attribution(i int) (found announced, is bool) {
	for ; s.seen < min(i+attributionLines, len(s.lines)); s.seen++ {
		if mayEndAttribution(s.lines[s.seen]) {
			s.endsAttribution(s.seen)
		}
	}
	found = s.begins[i%window]
	return found, found.lines > 0 && found.line == i
}

// endsAttribution finds the attribution whose last line is the one at end. A
// date makes it certain, so dated ones come first. Of several beginnings the
// last is taken, because what stands above is more likely the author's; lines
// above that hold a date belong to it as well.
func (s *splitter) endsAttribution(end int) {
	var best announced
	joined, bestDated, above := "", false, ""
	for lines := 1; lines <= attributionLines && end-lines+1 >= 0; lines++ {
		line := s.lines[end-lines+1]
		if strings.TrimSpace(line) == "" || isMarked(line) || len(line)+len(joined) > maxMarkerLine {
			break
		}
		folded := s.fold(end - lines + 1)
		joined, above = strings.TrimSuffix(folded+" "+joined, " "), folded+" "+above
		found, dated, is := s.attributed(joined)
		if is && (best.lines == 0 || dated && (!bestDated || hasMoment(above))) {
			found.lines = lines
			best, bestDated, above = found, dated, ""
		}
	}
	if best.lines > 0 {
		best.line = end - best.lines + 1
		s.begins[best.line%window] = best
	}
}

// attributed compares lines joined into one with the templates. sure is whether
// they are an attribution also above a quotation that is not marked.
func (s *splitter) attributed(joined string) (found announced, dated, is bool) {
	text, dashed := undash(joined)
	if !strings.HasSuffix(text, ":") {
		return announced{}, false, false
	}
	for size := min(maxEnding, len(text)); size > 0; size-- {
		for _, known := range s.words.attributions[text[len(text)-size:]] {
			s.steps++
			name, matched := known.matches(text)
			if !matched {
				continue
			}
			is = true
			withDate := known.has(slotDate)
			found.sure = found.sure || dashed || known.has(slotAddress) ||
				withDate && (strings.Contains(text, "@") || hasMoment(text)) && !s.byPronoun(name)
			dated = dated || withDate
		}
	}
	return found, dated, is
}

// byPronoun tells whether a name is no name: "On 5 May 2026 I wrote:" is what
// somebody writes.
func (s *splitter) byPronoun(name string) bool {
	words := strings.Fields(name)
	return len(words) > 0 && (s.words.pronouns[words[0]] || s.words.pronouns[words[len(words)-1]])
}

// undash takes the dashes off that some programs put on both sides of an
// attribution, and gives it the colon that they leave out.
func undash(line string) (text string, dashed bool) {
	if !strings.HasPrefix(line, "--") || !strings.HasSuffix(line, "--") {
		return line, false
	}
	text = strings.Trim(line, "- ")
	if !strings.HasSuffix(text, ":") {
		text += ":"
	}
	return text, true
}

// hasMoment tells whether a line holds what programs write of a date and people
// seldom do: the year or the time of the day.
func hasMoment(line string) bool {
	digits := 0
	for i := range len(line) {
		c := line[i]
		if c >= '0' && c <= '9' {
			if digits++; digits == 4 && (strings.HasPrefix(line[i-3:], "19") || strings.HasPrefix(line[i-3:], "20")) {
				return true
			}
			continue
		}
		if (c == ':' || c == '.' || c == 'h') && digits > 0 && i+2 < len(line) && isDigit(line[i+1]) && isDigit(line[i+2]) {
			return true
		}
		digits = 0
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// mayEndAttribution is true of every line that ends with a colon or a dash when
// it is folded, and of few others.
func mayEndAttribution(line string) bool {
	end := strings.TrimRight(line, " \t*\r")
	if end == "" || len(line) > maxMarkerLine {
		return false
	}
	last := end[len(end)-1]
	return last == ':' || last == '-' || last >= utf8.RuneSelf
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

// splitSignature takes off what a mail program puts at the end by itself: what
// stands below a line of two dashes (RFC 3676, section 4.3), or a line such as
// "Sent from my iPhone" below an empty one. A name below a closing stays: it says
// who writes and how to reach them.
func (l *Languages) splitSignature(lines []string) (words, signature string) {
	if at := delimiter(lines); at >= 0 {
		if above := tidy(lines[:at]); above != "" {
			return above, tidy(lines[at:])
		}
	}
	text := tidy(lines)
	above, last, found := cutLast(text, "\n\n")
	if !found || strings.Contains(last, "\n") {
		return text, ""
	}
	line := strings.Trim(fold(withoutLinks(last)), "-_<[ ")
	if line == "" || len(line) > maxSignature || !l.signature(line) {
		return text, ""
	}
	return strings.TrimSpace(above), strings.TrimSpace(last)
}

// delimiter returns the line of two dashes above a signature, or -1. Without
// the blank behind them, they also divide lists, so they have to stand alone.
func delimiter(lines []string) int {
	found, bare, below := -1, 0, 0
	for i := len(lines) - 1; i >= 0; i-- {
		switch strings.TrimSuffix(lines[i], "\r") {
		case "-- ":
			if found < 0 && below <= maxBelow {
				found = i
			}
		case "--":
			if bare++; found < 0 && below <= maxBelow {
				found = i
			}
		}
		if strings.TrimSpace(lines[i]) != "" {
			below++
		}
	}
	if bare > 1 {
		return -1
	}
	return found
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

func cutLast(text, separator string) (before, after string, found bool) {
	if !strings.Contains(text, separator) { // which is found out much faster than where the last one is
		return text, "", false
	}
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return text, "", false
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
