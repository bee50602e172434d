package text

import (
	"strings"
	"unicode/utf8"

	"podium/ingest/mime/charset"
)

// A textBuilder lays text out in lines.
type textBuilder struct {
	out    []byte
	breaks int    // newlines at the end of out; 2 also at its beginning
	blanks []byte // due before the next word
	quoted int    // open quotations
	item   string // the marker of a list item, due before its first word

	hard int  // hard blanks among those at the beginning of a line whose blanks collapse
	soft bool // the last of those is no hard one

	struck    bool      // the words at the end of out are struck out, and not yet closed
	script    scriptRun // the raised or lowered words at the end of out
	lastPower power     // where the last raised words stand

	hasStruck, hasScripts bool // for Join: what a plain text cannot show
}

// A wordForm says how words of a page are shown.
type wordForm struct {
	space    whiteSpace
	struck   bool
	script   scriptID
	footnote bool // inside a link to a place of the same page
}

// A whiteSpace says what becomes of blanks and line ends.
type whiteSpace byte

const (
	spaceInherited whiteSpace = iota
	spaceCollapsed            // several are one blank
	spaceLines                // line ends stay, blanks collapse
	spaceKept                 // all stay
)

// struckMark stands on both sides of words that are struck out.
const struckMark = "~~"

func (b *textBuilder) text(text string, form wordForm) {
	if form.space < spaceLines {
		b.words(text, form)
		return
	}
	for line := range strings.Lines(charset.Clean(text)) {
		content, newline := strings.CutSuffix(line, "\n")
		b.words(content, form)
		if newline {
			b.newline()
		}
	}
}

func (b *textBuilder) words(line string, form wordForm) {
	for _, r := range charset.Clean(line) {
		switch {
		case r != ' ' && r != '\t' && r != '\n' && r != '\u00a0':
			b.begin(r, form)
			b.out = utf8.AppendRune(b.out, r)
		case form.space < spaceKept:
			b.indent(r == '\u00a0')
			b.addBlank()
		case r == '\u00a0':
			b.blanks = append(b.blanks, ' ')
		default:
			b.blanks = utf8.AppendRune(b.blanks, r)
		}
	}
}

// indent counts a blank at the beginning of a line whose blanks collapse: a hard one indents the
// line, and so does the first other one behind it. People paste code so.
func (b *textBuilder) indent(hard bool) {
	switch {
	case b.breaks == 0 || b.item != "" || !hard && (b.hard == 0 || b.soft):
		return
	case hard:
		b.hard++
	}
	b.soft = !hard
	b.blanks = append(b.blanks, ' ')
}

// begin writes all that stands before a character: the end of words of another form,
// the beginning of a line, blanks, and the marks of the form.
func (b *textBuilder) begin(r rune, form wordForm) {
	if b.script.id != form.script || b.script.footnote != (form.footnote && form.script.kind != scriptNone) {
		if form.script.kind == scriptNone {
			b.endScript(r)
		} else {
			b.endScript(0) // what follows has a sign of its own
		}
	}
	if b.struck && !form.struck {
		b.endStruck()
	}
	var before rune
	if b.breaks == 0 && len(b.blanks) == 0 {
		before, _ = utf8.DecodeLastRune(b.out)
	}
	b.prefix()
	if form.struck && !b.struck {
		b.out = append(b.out, struckMark...)
		b.struck, b.hasStruck = true, true
	}
	if form.script.kind != scriptNone && b.script.id.kind == scriptNone {
		b.startScript(form, before)
	}
}

// prefix begins a line where one is due, and writes the blanks that are due.
func (b *textBuilder) prefix() {
	if b.breaks > 0 {
		if b.hard > 0 && len(b.blanks) == 1 {
			b.blanks = b.blanks[:0] // one blank is no indentation
		}
		b.breaks, b.hard, b.soft = 0, 0, false
		if b.quoted > 0 {
			b.out = append(b.out, strings.Repeat(">", min(b.quoted, 10))+" "...)
		}
		b.out = append(b.out, b.item...)
		b.item = ""
	}
	b.out = append(b.out, b.blanks...)
	b.blanks = b.blanks[:0]
}

// addBlank makes sure that at least one blank stands before the next word of the line.
func (b *textBuilder) addBlank() {
	if b.breaks == 0 && len(b.blanks) == 0 {
		b.blanks = append(b.blanks, ' ')
	}
}

func (b *textBuilder) clearBlanks() { b.blanks, b.hard, b.soft = b.blanks[:0], 0, false }

// newline ends the line, empty or not; two empty lines in a row are one. The line of a
// list item without a word yet does not end.
func (b *textBuilder) newline() {
	b.clearBlanks()
	if b.item != "" {
		return
	}
	b.endForms()
	if b.breaks < 2 {
		b.out = append(b.out, '\n')
		b.breaks++
	}
}

// breakLine makes sure that at least n newlines stand before what comes next. A line of nothing
// but hard blanks is an empty one.
func (b *textBuilder) breakLine(n int) {
	if b.hard > 0 {
		b.newline()
	}
	for b.breaks < n && b.item == "" {
		b.newline()
	}
}

// startItem begins the line of a list item.
func (b *textBuilder) startItem(marker string) {
	b.flushItem()
	b.breakLine(1)
	b.item = marker
}

// flushItem writes the marker of a list item that has no words.
func (b *textBuilder) flushItem() {
	if b.item != "" {
		b.item = strings.TrimRight(b.item, " ")
		b.blanks = b.blanks[:0]
		b.prefix()
	}
}

func (b *textBuilder) endStruck() {
	b.out = append(b.out, struckMark...)
	b.struck = false
}

// endForms ends words of any form.
func (b *textBuilder) endForms() {
	b.endScript(0)
	if b.struck {
		b.endStruck()
	}
}

// finishText returns all lines, without empty ones around.
func (b *textBuilder) finishText() string {
	b.flushItem()
	b.endForms()
	return trimText(string(b.out))
}

func (b *textBuilder) boundary(kind elementKind) {
	switch kind {
	case kindBlock, kindBreak:
		b.breakLine(1)
	case kindParagraph:
		b.breakLine(2)
	case kindCell:
		if b.breaks > 0 {
			b.clearBlanks() // those of an empty cell
		}
		b.addBlank()
	case kindInline, kindVoid, kindRaw, kindDropped:
	}
}
