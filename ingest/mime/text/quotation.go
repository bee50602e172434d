package text

import (
	"slices"
	"strings"
)

const (
	maxMarkerLine    = 500 // bytes; a longer line announces nothing
	minRule          = 5   // dashes of a rule above a quotation
	attributionLines = 4   // an attribution may be wrapped into so many
	maxHeaderLines   = 14  // of a copied header, from its first field to its last
	maxGap           = 3   // lines below an announcement, within which its quotation begins
)

// A Purpose is what the header says of why a mail was written.
type Purpose struct {
	Forward bool // the mail passes another one on
	Reply   bool // it answers another one
}

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
	sure  bool // also when the quotation below is not marked
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
	if fresh == "" {
		return trimText(text), "", ""
	}
	return trimText(fresh), tidy(p.quoted), signature
}

func newSplitter(l *Languages, text string) *splitter {
	return &splitter{words: l, lines: strings.Split(text, "\n")}
}

func (s *splitter) split(about Purpose) splitLines {
	var p splitLines
	announced := false // a line marked with ">" in a mail that answers nothing is its author's
	for i := 0; i < len(s.lines); {
		if isMarked(s.lines[i]) {
			if about.Reply || announced {
				p.quote(s.lines[i])
			} else {
				p.own = append(p.own, s.lines[i])
			}
			i++
			continue
		}
		kind, count := s.introductionAt(i)
		switch {
		case kind == nothing:
			p.own = append(p.own, s.lines[i])
			i++
			continue
		case kind == forward, !announced && (about.Forward || kind == copied && !about.Reply):
			p.forwarded = s.lines[i:]
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
	copied        // the same, below a header; in a mail that answers nothing, it is what that passes on
	forward       // a mail that is passed on
)

// introductionAt tells what line i announces, with the count of lines that do.
func (s *splitter) introductionAt(i int) (what kind, count int) {
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
	if normal := s.normalized(i); strings.HasSuffix(normal, ":") && s.words.forwards[strings.Trim(normal, "-_ :")] {
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
	normal := s.normalized(i)
	inner := strings.Trim(normal, "-_ :")
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
	case inner == "" && len(normal) >= minRule && below < len(s.lines) && s.copiedHeader(below, true):
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

// normalized returns line i as it is compared, and remembers it for a while.
func (s *splitter) normalized(i int) string {
	kept := &s.normal[i%window]
	if kept.number != i+1 {
		s.steps++
		kept.number, kept.text = i+1, Normalize(s.lines[i])
	}
	return kept.text
}
