package route

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A folded text is the form that keywords and patterns are compared in, with the
// way back to byte offsets in the text as received.
type folded struct {
	text   []byte
	source string
	pieces []piece
	lines  []line
}

// A piece is a part of the folded text whose length differs from its source.
// Between pieces, offsets differ by a constant.
type piece struct {
	at, atEnd  int // in the folded text
	start, end int // in the source
}

// A line is the place in the folded text where a line of the source begins.
type line struct {
	at   int
	item bool // it begins with a dash
}

// start returns where the source of the folded byte at begins.
func (f *folded) start(at int) int {
	last := f.pieceBefore(at)
	if last < 0 {
		return at
	}
	p := f.pieces[last]
	if at < p.atEnd {
		return p.start
	}
	return p.end + at - p.atEnd
}

// end returns where the source of the folded bytes before at ends.
func (f *folded) end(at int) int {
	if at == 0 {
		return 0
	}
	last := f.pieceBefore(at - 1)
	if last < 0 {
		return at
	}
	p := f.pieces[last]
	if at <= p.atEnd {
		return p.end
	}
	return p.end + at - p.atEnd
}

func (f *folded) pieceBefore(at int) int {
	return sort.Search(len(f.pieces), func(i int) bool { return f.pieces[i].at > at }) - 1
}

// wordBefore says whether a word reaches up to at.
func (f *folded) wordBefore(at int) bool {
	if at == 0 {
		return false
	}
	if c := f.text[at-1]; c < utf8.RuneSelf {
		return isWordByte(c)
	}
	r, _ := utf8.DecodeLastRune(f.text[:at])
	return isWordRune(r)
}

// wordAt says whether a word goes on at at.
func (f *folded) wordAt(at int) bool {
	if at == len(f.text) {
		return false
	}
	if c := f.text[at]; c < utf8.RuneSelf {
		return isWordByte(c)
	}
	r, _ := utf8.DecodeRune(f.text[at:])
	return isWordRune(r)
}

// wordStart returns the beginning of the word that reaches up to at, or at itself.
func (f *folded) wordStart(at int) int {
	for f.wordBefore(at) {
		_, size := utf8.DecodeLastRune(f.text[:at])
		at -= size
	}
	return at
}

// A span is a word of the folded text.
type span struct{ start, end int }

// reach makes it the word around at, before or behind it. Asked for places in
// text order, it reads no word twice.
func (s *span) reach(f *folded, at int) {
	if at < s.start || at > s.end {
		*s = span{start: f.wordStart(at), end: f.wordEnd(at)}
	}
}

// wordEnd returns the end of the word that goes on at at, or at itself.
func (f *folded) wordEnd(at int) int {
	for at < len(f.text) {
		c := f.text[at]
		if c < utf8.RuneSelf {
			if !isWordByte(c) {
				return at
			}
			at++
			continue
		}
		r, size := utf8.DecodeRune(f.text[at:])
		if !isWordRune(r) {
			return at
		}
		at += size
	}
	return at
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r))
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// tableSize bounds the runes whose folding is looked up: Latin, Greek, Cyrillic,
// Armenian and Hebrew, two bytes each at most.
const tableSize = 0x600

// A folder folds texts. It is immutable and may be shared.
type folder struct {
	table [tableSize]entry
}

// An entry is the folding of one rune that stands alone.
type entry struct {
	kind  entryKind
	size  uint8
	bytes [4]byte
}

type entryKind uint8

const (
	entryWhole     entryKind = iota // needs normalization together with its neighbors
	entryLetters                    // bytes[:size]
	entrySeparator                  // white space or a hyphen
)

func newFolder() *folder {
	f := &folder{}
	for r := range rune(tableSize) {
		if !norm.NFKD.PropertiesString(string(r)).BoundaryBefore() {
			continue
		}
		b := folding{folded: folded{source: string(r)}}
		b.segment(0, len(b.source))
		switch {
		case b.run.open && b.run.newlines == 0 && b.run.separators == len(b.text):
			f.table[r] = entry{kind: entrySeparator}
		case !b.run.open && len(b.text) > 0 && len(b.text) <= len(entry{}.bytes):
			f.table[r] = entry{kind: entryLetters, size: uint8(len(b.text))}
			copy(f.table[r].bytes[:], b.text)
		}
	}
	return f
}

// fold returns the folded form of any text, also one that is not valid UTF-8.
func (f *folder) fold(text string) *folded {
	b := folding{folded: folded{source: text, text: make([]byte, 0, len(text)+len(text)/16+16)}}
	for at := 0; at < len(text); {
		c := text[at]
		if c < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
			switch e := &f.table[c]; {
			case e.kind == entryLetters:
				if b.run.open {
					b.closeRun()
				}
				b.text = append(b.text, e.bytes[0])
			case c == ' ' && !b.run.open && f.letterAt(text, at+1):
				b.text = append(b.text, c)
			default:
				b.separator(at, at+1, newlines(rune(c)), c == '-')
			}
			at++
			continue
		}
		at = f.foldRune(&b, at)
	}
	b.closeRun()
	return &b.folded
}

// letterAt says whether an ASCII character that is no separator is at at.
func (f *folder) letterAt(text string, at int) bool {
	return at < len(text) && text[at] < utf8.RuneSelf && f.table[text[at]].kind == entryLetters
}

// foldRune folds the rune at at, with the marks that follow it, and returns the
// offset behind them.
func (f *folder) foldRune(b *folding, at int) int {
	r, size := utf8.DecodeRuneInString(b.source[at:])
	if r < tableSize && f.boundary(b.source[at+size:]) {
		switch e := f.table[r]; e.kind {
		case entryLetters:
			b.letters(e.bytes[:e.size], at, at+size)
			return at + size
		case entrySeparator:
			b.separator(at, at+size, 0, unicode.Is(unicode.Pd, r))
			return at + size
		case entryWhole:
		}
	}
	if r != utf8.RuneError || size > 1 {
		size = max(size, norm.NFKD.NextBoundaryInString(b.source[at:], true))
	}
	b.segment(at, at+size)
	return at + size
}

// boundary says whether rest surely begins with something that does not combine
// with what is before it.
func (f *folder) boundary(rest string) bool {
	if rest == "" || rest[0] < utf8.RuneSelf {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return r < tableSize && f.table[r].kind != entryWhole
}
