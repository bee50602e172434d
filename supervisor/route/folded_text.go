package route

import (
	"sort"
	"unicode"
	"unicode/utf8"
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
