package text

import (
	"strings"

	"podium/ingest/mime/charset"
)

// A textBuilder lays text out in lines.
type textBuilder struct {
	out     strings.Builder
	breaks  int  // newlines at the end of out; 2 also at its beginning
	space   bool // a blank is due before the next word
	quoted  int  // open quotations
	literal int  // open pre elements
}

func (b *textBuilder) text(text string) {
	if b.literal == 0 {
		b.words(text)
		return
	}
	for line := range strings.Lines(text) {
		content, newline := strings.CutSuffix(line, "\n")
		b.words(content)
		if newline {
			b.newline()
		}
	}
}

func (b *textBuilder) words(line string) {
	for _, r := range charset.Clean(line) {
		if r == ' ' || r == '\t' || r == '\n' || r == '\u00a0' {
			b.space = true
			continue
		}
		if b.breaks > 0 {
			b.prefix()
		} else if b.space {
			b.out.WriteByte(' ')
		}
		b.space = false
		b.out.WriteRune(r)
	}
}

func (b *textBuilder) prefix() {
	b.breaks = 0
	if b.quoted > 0 {
		b.out.WriteString(strings.Repeat(">", min(b.quoted, 10)) + " ")
	}
}

// newline ends the line, empty or not; two empty lines in a row are one.
func (b *textBuilder) newline() {
	b.space = false
	if b.breaks < 2 {
		b.out.WriteByte('\n')
		b.breaks++
	}
}

// breakLine makes sure that at least n newlines stand before what comes next.
func (b *textBuilder) breakLine(n int) {
	for b.breaks < n {
		b.newline()
	}
}

func (b *textBuilder) boundary(kind elementKind) {
	switch kind {
	case kindBlock, kindBreak:
		b.breakLine(1)
	case kindParagraph:
		b.breakLine(2)
	case kindCell:
		b.space = true
	case kindInline, kindVoid, kindRaw, kindDropped:
	}
}
