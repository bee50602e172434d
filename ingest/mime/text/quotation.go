package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxMarkerLine    = 500 // bytes; a longer line announces nothing
	minRule          = 5   // dashes of a rule above a quotation
	attributionLines = 4   // an attribution may be wrapped into so many
	maxHeaderLines   = 14  // of a copied header, from its first field to its last
	maxGap           = 3   // lines below an announcement, within which its quotation begins
	maxFramed        = 10  // lines between arrows that point at them
	minWrapped       = 60  // characters of a line that a program wraps, with its mark
)

// A splitter separates the new words of a mail from those it quotes. It passes
// over the lines once, and looks at a bounded number of lines around each. The
// ports of email_reply_parser are not used: they throw away what is quoted, and
// their languages are code.
type splitter struct {
	words  *Languages
	lines  []string
	normal [window]normalizedLine // the lines around, as they are compared
	begins [window]introduction   // attributions, by the line where they begin
	seen   int                    // lines that were looked at for ends of attributions
	steps  int                    // comparisons, for a test
	ahead  lookahead
}

// A lookahead is the next introduction below the line where it was looked for.
type lookahead struct {
	splitter *splitter // nil until one is looked for
	line     int       // of the introduction, or the number of lines where there is none
	evidence int
	marked   bool
}

// window is how many lines around a line are remembered, at least.
const window = 32

type normalizedLine struct {
	number int // counted from 1
	text   string
}

// An introduction is what a program writes above a quotation.
type introduction struct {
	line  int // where it begins
	lines int

	own      int // bytes of its first line that are the writer's words
	evidence int // of a program that wrote it

	sure   bool // also when the quotation below is not marked
	dashed bool // between dashes
}

// splitLines are the lines of a text. Together they are all of it.
type splitLines struct {
	own, forwarded, quoted []string

	breaks []int // where in own a quotation stood between
}

// Split separates the new words of a mail from those it quotes; together
// they are the whole text. A mail that is passed on is new, with what stands
// below; so is one that holds nothing but a quotation.
func (l *Languages) Split(text string, about Purpose) (fresh, quoted, signature string) {
	p := newSplitter(l, text).split(about)
	own, signature := l.splitSignature(p.own, p.breaks)
	switch {
	case signature == "":
		fresh = tidy(slices.Concat(p.own, p.forwarded))
	case len(p.forwarded) == 0:
		fresh = own
	default:
		fresh = own + "\n\n" + tidy(p.forwarded)
	}
	if strings.Trim(fresh, ruleSigns+"|\n") == "" && signature == "" {
		return trimText(text), "", ""
	}
	return trimText(fresh), tidy(p.quoted), signature
}

func newSplitter(l *Languages, text string) *splitter {
	return newSplitterOf(l, strings.Split(text, "\n"), 0)
}

// newSplitterOf returns a splitter that begins at a line.
func newSplitterOf(l *Languages, lines []string, begin int) *splitter {
	return &splitter{words: l, lines: lines, seen: begin}
}

func (s *splitter) split(about Purpose) splitLines {
	var p splitLines
	announced := false // a line marked with ">" in a mail that answers nothing is its author's
	evidence := 0      // of the introductions above
	for i := 0; i < len(s.lines); {
		quotes := about.Reply || announced
		if isMarked(s.lines[i]) {
			i += s.splitMarked(&p, i, quotes, announced)
			continue
		}
		if quotes && s.continuesMarked(i) {
			p.quote(s.lines[i])
			i++
			continue
		}
		kind, found := s.introductionAt(i)
		switch {
		case kind == nothing, kind == said && (!quotes && !about.Forward || s.isReported(found, evidence)):
			p.own = append(p.own, s.lines[i])
			i++
			continue
		case kind == forward, !announced && (about.Forward || kind == copied && !about.Reply):
			p.forwarded = s.lines[i:]
			return p
		}
		first := p.takeOwnWords(s.lines[i], found.own)
		if kind != marked {
			p.quote(append([]string{first}, s.lines[i+1:]...)...)
			return p
		}
		announced, evidence = true, max(evidence, found.evidence)
		p.quote(first)
		p.quote(s.lines[i+1 : i+found.lines]...)
		i += found.lines
	}
	return p
}

// isReported tells whether the writer of the mail reports what is said below an attribution
// without an address, because a line that shows more of a program introduces the quotation: one
// above, whose evidence is given, or the next one below.
func (s *splitter) isReported(found introduction, above int) bool {
	if found.evidence >= evidenceAddress+evidenceYear || found.dashed {
		return false
	}
	if found.evidence < above {
		return true
	}
	below := s.lookAhead(found.line + found.lines)
	return below.evidence > found.evidence && (below.marked || found.evidence <= evidenceYear)
}

// lookAhead returns the next introduction from line i on. It passes over the lines once,
// however often it is called.
func (s *splitter) lookAhead(i int) lookahead {
	if s.ahead.splitter == nil {
		s.ahead = lookahead{splitter: newSplitterOf(s.words, s.lines, i), line: -1}
	}
	if s.ahead.line >= i {
		return s.ahead
	}
	steps := s.ahead.splitter.steps
	s.ahead.line, s.ahead.evidence, s.ahead.marked = len(s.lines), 0, false
	for at := i; at < len(s.lines); at++ {
		if isMarked(s.lines[at]) {
			continue
		}
		kind, found := s.ahead.splitter.introductionAt(at)
		if kind == said && found.evidence < evidenceAll || kind == nothing || kind == forward {
			continue
		}
		s.ahead.line, s.ahead.evidence, s.ahead.marked = at, found.evidence, kind == marked
		break
	}
	s.steps += s.ahead.splitter.steps - steps
	return s.ahead
}

// splitMarked takes lines from i on that are marked as quoted, and returns how many. They
// are the writer's in a mail that quotes nothing, and where arrows stand around them.
func (s *splitter) splitMarked(p *splitLines, i int, quotes, announced bool) (count int) {
	count = 1
	framed := 0
	if !announced {
		framed = s.countFramed(i)
	}
	if quotes && framed == 0 {
		p.quote(s.lines[i])
		return count
	}
	count = max(1, framed)
	p.own = append(p.own, s.lines[i:i+count]...)
	return count
}

// countFramed returns how many lines from i on stand between arrows that point at them, as in
// ">>> Order here <<<", or 0.
func (s *splitter) countFramed(i int) int {
	if !strings.HasPrefix(strings.ReplaceAll(s.lines[i], " ", ""), ">>") {
		return 0
	}
	for at := i; at < min(i+maxFramed, len(s.lines)); at++ {
		line := strings.TrimSpace(s.lines[at])
		switch {
		case at > i && isMarked(line):
			return 0
		case strings.HasSuffix(line, "<<"):
			return at - i + 1
		}
	}
	return 0
}

// continuesMarked tells whether line i is the end of the marked line above, which a
// program has wrapped without marking both: marked lines stand around it, the one above
// is as long as programs make them and goes on in small letters.
func (s *splitter) continuesMarked(i int) bool {
	line := strings.TrimSpace(s.lines[i])
	if i == 0 || i+1 >= len(s.lines) || line == "" || len(line) > minWrapped ||
		!isMarked(s.lines[i-1]) || !isMarked(s.lines[i+1]) {
		return false
	}
	above := strings.TrimRight(s.lines[i-1], " \t\r")
	if utf8.RuneCountInString(above) < minWrapped || strings.ContainsAny(above[len(above)-1:], ".?!:") ||
		strings.HasSuffix(line, ":") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(first)
}

// takeOwnWords adds the words of the writer at the beginning of a line to theirs, and returns the rest.
func (p *splitLines) takeOwnWords(line string, own int) (rest string) {
	if own == 0 {
		return line
	}
	p.own = append(p.own, line[:own])
	return strings.TrimLeft(line[own:], " \t")
}

func (p *splitLines) quote(lines ...string) {
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
	said          // the same, below an attribution; in a mail that answers nothing, its author reports it
	copied        // the same, below a header; in a mail that answers nothing, it is what that passes on
	forward       // a mail that is passed on
)

// introductionAt tells what line i announces, and which lines do.
func (s *splitter) introductionAt(i int) (what kind, found introduction) {
	line := s.lines[i]
	if line == "" || len(line) > maxMarkerLine {
		return nothing, introduction{}
	}
	if found, is := s.attribution(i); is {
		switch below := s.below(i + found.lines); {
		case below < len(s.lines) && isMarked(s.lines[below]):
			return marked, found
		case found.dashed:
			return unmarked, found
		case found.sure:
			return said, found
		}
		return nothing, introduction{}
	}
	one := introduction{line: i, lines: 1, evidence: evidenceAll}
	if beginsRule(strings.TrimLeft(line, " \t*")) {
		return s.rule(i, s.normalized(i)), one
	}
	if at := behindWords(line); at > 0 {
		kind := s.rule(i, Normalize(line[at:]))
		if one.own = len(strings.TrimRight(line[:at], " \t")); kind != nothing && kind != said {
			return kind, one
		}
	}
	if !mayBeLabel(line) {
		return nothing, introduction{}
	}
	if normal := s.normalized(i); strings.HasSuffix(normal, ":") && s.words.forwards[strings.Trim(normal, ruleSigns)] {
		return forward, one
	}
	if s.copiedHeader(i, false) {
		return copied, one
	}
	return nothing, introduction{}
}

// beginsRule tells whether a line begins with two signs of which rules are made.
func beginsRule(line string) bool {
	return slices.ContainsFunc(ruleBeginnings(), func(signs string) bool { return strings.HasPrefix(line, signs) })
}

func ruleBeginnings() []string {
	return []string{"--", "__", "==", "––", "——", "──", "━━"}
}

// behindWords returns where words between dashes begin, dashes included, or a long rule, at the
// end of a line that begins with other words, or 0. People write two dashes within a sentence, so
// three stand on either side.
func behindWords(line string) int {
	inner := strings.TrimRight(line, ruleSigns+"\t\r*")
	end := strings.TrimLeft(line[len(inner):], " ")
	length := utf8.RuneCountInString(end)
	if !beginsRule(end) || length < minBehind {
		return 0
	}
	for _, signs := range ruleBeginnings() {
		if at := strings.LastIndex(inner, signs); at > 0 {
			before := strings.TrimRight(inner[:at], ruleSigns)
			if utf8.RuneCountInString(strings.TrimSpace(inner[len(before):at+len(signs)])) >= minBehind {
				return len(before)
			}
		}
	}
	if length >= minLongRule {
		return len(inner)
	}
	return 0
}

const (
	minBehind   = 3  // dashes on either side of words that stand behind others
	minLongRule = 10 // signs of a rule that stands behind words
)

// rule tells what line i, of which normal is the part from dashes on, announces: by the words
// between them, or by the header below.
func (s *splitter) rule(i int, normal string) kind {
	inner := strings.Trim(normal, ruleSigns)
	below := s.below(i + 1)
	s.steps++
	switch {
	case s.words.forwards[inner]:
		return forward
	case s.words.separators[inner]:
		if below < len(s.lines) {
			_, attributed := s.attribution(below)
			if attributed || isMarked(s.lines[below]) {
				return marked
			}
		}
		return s.separatorKind(inner, below)
	case inner == "" && len(strings.TrimSpace(s.lines[i])) >= minRule && below < len(s.lines) &&
		(s.copiedHeader(below, true) || s.hasHeaderShape(i, below)):
		return copied
	}
	return nothing
}

// separatorKind tells what words between dashes announce. A single word, such as
// "Original", people write as well, above what they compare.
func (s *splitter) separatorKind(words string, below int) kind {
	switch first, _ := utf8.DecodeRuneInString(words); {
	case strings.Contains(words, " "), strings.Contains(words, "-"), !unicode.IsLower(first):
		return unmarked
	case below < len(s.lines) && s.copiedHeader(below, true):
		return copied
	}
	return said
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

// normalized returns line i as it is compared, and remembers it for a while.
func (s *splitter) normalized(i int) string {
	kept := &s.normal[i%window]
	if kept.number != i+1 {
		s.steps++
		kept.number, kept.text = i+1, Normalize(s.lines[i])
	}
	return kept.text
}
