package route

import (
	"unicode"
	"unicode/utf8"
)

// An outline is a text as the complexity check reads it, in folded offsets.
type outline struct {
	clauses  []clause
	verbs    []occurrence // outside of quotes and material
	material int          // where the material of a request begins, or the end of the text
}

// A clause is a part of the text between two boundaries.
type clause struct {
	before   boundaries // what sets it apart from the clause before
	previous int        // where the clause before ends
	start    int
	end      int
	verb     int  // index of its first verb, or -1
	wordless bool // it begins with something that is no word, such as a formula
	question bool // its sentence ends with a question mark
	telling  bool // its sentence holds a verb
	asking   bool // its sentence asks as a whole, from the clause sentence on
	sentence int
}

// boundaries is a set of what stands between two clauses.
type boundaries uint8

const (
	boundaryComma boundaries = 1 << iota
	boundarySeparator
	boundarySentence
	boundaryItem
	boundaryParagraph
	boundaryColon
)

// sentenceStart is what a sentence may begin with.
const sentenceStart = boundarySentence | boundaryItem | boundaryParagraph | boundaryColon

// An outliner reads a folded text from front to back.
type outliner struct {
	text       []byte
	lines      []line
	verbs      []occurrence
	separators []occurrence // in text order
	outline    outline
	open       clause // the clause being read
	sentence   int    // index of the first clause of the sentence being read
	asked      bool   // a verb was read
	told       bool   // the sentence being read holds a verb
	unquoted   bool   // no quotation is closed from here on
}

func (c *complexity) outline(f *folded) outline {
	o := outliner{text: f.text, lines: f.lines, verbs: c.verbs.longest(f), separators: c.separators.longest(f)}
	o.open.verb = -1
	at := 0
	for at = o.skip(at); at < len(o.text); at = o.skip(at) {
		if o.takeItem(&at) || o.takeVerb(&at) || o.takeSeparator(&at) || o.takeQuote(&at) {
			continue
		}
		if o.text[at] == ':' && o.isMaterial(at) {
			break
		}
		if kind, size := o.boundaryAt(at); kind != 0 {
			o.boundary(kind, at, at+size, o.text[at] == '?')
			at += size
			continue
		}
		at++
	}
	o.outline.material = at
	o.closeClause(len(o.text))
	o.closeSentence(false)
	return o.outline
}

// skip returns the next place from at on at which anything may begin or end.
func (o *outliner) skip(at int) int {
	next := len(o.text)
	if len(o.verbs) > 0 {
		next = min(next, o.verbs[0].start)
	}
	if len(o.separators) > 0 {
		next = min(next, o.separators[0].start)
	}
	if len(o.lines) > 0 {
		next = min(next, o.lines[0].at)
	}
	for at < next && !isMark(o.text[at]) {
		at++
	}
	return at
}

// isMark says whether c may set clauses apart or begin a quotation.
func isMark(c byte) bool {
	switch c {
	case '\n', '.', '!', '?', ';', ',', ':', '"':
		return true
	}
	return false
}

func (o *outliner) takeVerb(at *int) bool {
	for len(o.verbs) > 0 && o.verbs[0].start < *at {
		o.verbs = o.verbs[1:] // in a quote or in a separator
	}
	if !o.isVerb(*at) {
		return false
	}
	verb := o.verbs[0]
	if o.open.verb < 0 {
		o.open.verb = len(o.outline.verbs)
	}
	o.outline.verbs = append(o.outline.verbs, verb)
	o.asked, o.told = true, true
	*at = verb.end
	return true
}

func (o *outliner) takeSeparator(at *int) bool {
	for len(o.separators) > 0 && o.separators[0].start < *at {
		o.separators = o.separators[1:]
	}
	if len(o.separators) == 0 || o.separators[0].start != *at {
		return false
	}
	end := o.separators[0].end
	o.boundary(boundarySeparator, *at, end, false)
	*at = end
	return true
}

// takeItem skips what marks a list item at the beginning of a line.
func (o *outliner) takeItem(at *int) bool {
	for len(o.lines) > 0 && o.lines[0].at < *at {
		o.lines = o.lines[1:]
	}
	if len(o.lines) == 0 || o.lines[0].at != *at {
		return false
	}
	begun := o.lines[0]
	o.lines = o.lines[1:]
	size := itemMark(o.text[*at:])
	if size == 0 && !begun.item {
		return false
	}
	o.boundary(boundaryItem, *at, *at+size, false)
	*at += size
	return size > 0
}

// itemMark returns the length of "1. ", "2) ", "* " and their like.
func itemMark(text []byte) int {
	if r, size := utf8.DecodeRune(text); r == '*' || r == '•' || r == '·' {
		if size < len(text) && text[size] == ' ' {
			return size + 1
		}
		return 0
	}
	digits := 0
	for digits < len(text) && digits < 3 && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits+1 < len(text) && (text[digits] == '.' || text[digits] == ')') && text[digits+1] == ' ' {
		return digits + 2
	}
	return 0
}

// takeQuote skips a quotation that is closed.
func (o *outliner) takeQuote(at *int) bool {
	if o.unquoted || o.text[*at] != '"' || *at > 0 && !isOpening(o.text[*at-1]) {
		return false
	}
	for end := *at + 1; end < len(o.text); end++ {
		if o.text[end] != '"' || isOpening(o.text[end-1]) {
			continue
		}
		if next, _ := utf8.DecodeRune(o.text[end+1:]); end+1 == len(o.text) || !isWordRune(next) {
			*at = end + 1
			return true
		}
	}
	o.unquoted = true
	return false
}

func isOpening(before byte) bool {
	return before == ' ' || before == '\n' || before == '(' || before == ':'
}

// isMaterial says whether the colon at at ends a request and words follow. What
// is no word, such as a formula, is an argument and ends with its clause.
func (o *outliner) isMaterial(at int) bool {
	next := o.afterSpace(at + 1)
	if !o.asked || next == at+1 || next == len(o.text) {
		return false
	}
	first, _ := utf8.DecodeRune(o.text[next:])
	if first == '"' {
		end := next
		return !o.takeQuote(&end)
	}
	if !unicode.IsLetter(first) {
		return false
	}
	// "second task: compare …" announces a request, not material.
	return o.told || !o.isVerb(next)
}

// isVerb says whether the next verb to be read begins at at.
func (o *outliner) isVerb(at int) bool {
	return len(o.verbs) > 0 && o.verbs[0].start == at
}

func (o *outliner) afterSpace(at int) int {
	for at < len(o.text) && (o.text[at] == ' ' || o.text[at] == '\n') {
		at++
	}
	return at
}

// boundaryAt returns the boundary that punctuation at at makes, and its length.
func (o *outliner) boundaryAt(at int) (boundaries, int) {
	spaced := at+1 == len(o.text) || o.text[at+1] == ' ' || o.text[at+1] == '\n'
	switch o.text[at] {
	case '\n':
		return boundaryParagraph, 1
	case '.':
		// "e.g." and "z.B." end no sentence.
		if spaced && (at < 2 || o.text[at-2] != '.' || o.text[at-1] < 'a') {
			return boundarySentence, 1
		}
	case '!', '?', ';':
		if spaced {
			return boundarySentence, 1
		}
	case ',':
		if spaced {
			return boundaryComma, 1
		}
	case ':':
		if spaced && (!o.asked || !o.told && o.isVerb(o.afterSpace(at+1))) {
			return boundaryColon, 1
		}
	}
	return 0, 0
}

// boundary ends the clause being read at start and begins one at end, or widens
// the boundary before a clause that has no content yet.
func (o *outliner) boundary(kind boundaries, start, end int, question bool) {
	if o.afterSpace(o.open.start) >= start {
		o.open.before |= kind
		o.open.start = end
		if kind&sentenceStart != 0 {
			o.closeSentence(question)
		}
		return
	}
	ends := start
	if kind&boundarySentence != 0 {
		ends = end // its punctuation belongs to the sentence
	}
	o.closeClause(ends)
	previous := o.outline.clauses[len(o.outline.clauses)-1].end
	o.open = clause{before: kind, previous: previous, start: end, verb: -1}
	if kind&sentenceStart != 0 {
		o.closeSentence(question)
	}
}

func (o *outliner) closeClause(end int) {
	o.open.start = o.afterSpace(o.open.start)
	for end > o.open.start && (o.text[end-1] == ' ' || o.text[end-1] == '\n') {
		end--
	}
	o.open.end = end
	first, _ := utf8.DecodeRune(o.text[o.open.start:])
	o.open.wordless = !unicode.IsLetter(first)
	o.outline.clauses = append(o.outline.clauses, o.open)
}

// closeSentence tells the clauses of the sentence read what it is.
func (o *outliner) closeSentence(question bool) {
	for i := o.sentence; i < len(o.outline.clauses); i++ {
		o.outline.clauses[i].question = question
		o.outline.clauses[i].telling = o.told
	}
	o.sentence = len(o.outline.clauses)
	o.told = false
}
