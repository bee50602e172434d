package route

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A folder folds texts. It is immutable and may be shared.
type folder struct {
	table [tableSize]entry
}

// fold returns the folded form of any text, also one that is not valid UTF-8.
func (f *folder) fold(text string) *folded { return f.foldWithout(text, span{}) }

// foldMessage is fold for the words of a message, of which the rules read MaxRead bytes at most.
func (f *folder) foldMessage(text string) *folded { return f.foldWithout(text, unreadMiddle(text)) }

// foldWithout is fold without a part of the text, in whose place a blank line stands.
func (f *folder) foldWithout(text string, left span) *folded {
	size := len(text) - (left.end - left.start)
	b := folding{folded: folded{source: text, text: make([]byte, 0, size+size/16+16)}}
	for at := 0; at < len(text); {
		if at >= left.start && at < left.end {
			b.separator(at, left.end, 2, false)
			at = left.end
			continue
		}
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

// An entry is the folding of one rune that stands alone.
type entry struct {
	kind  entryKind
	size  uint8
	bytes [4]byte
}

type entryKind uint8

// tableSize bounds the runes whose folding is looked up: Latin, Greek, Cyrillic,
// Armenian and Hebrew, two bytes each at most.
const tableSize = 0x600

const (
	entryWhole     entryKind = iota // needs normalization together with its neighbors
	entryLetters                    // bytes[:size]
	entrySeparator                  // white space or a hyphen
)

const (
	// MaxRead bounds the bytes of a message that the rules of a profile read: keywords, patterns, the complexity check, and the
	// expressions for entities and parameters. Of a longer message they read the beginning and the end. What a message costs
	// grows with its length times the number of patterns; agents get all of it.
	MaxRead = 32 << 10
	// readEnd is how much of it is the end of the message.
	readEnd = 8 << 10
	// wordLimit is how far a cut moves so that it divides no word.
	wordLimit = 256
)

// Excerpt returns what the rules read of the words of a message: all of them, or the beginning and the end with a blank line
// between them.
func Excerpt(text string) string {
	left := unreadMiddle(text)
	if left.end == 0 {
		return text
	}
	return text[:left.start] + "\n\n" + text[left.end:]
}

// unreadMiddle returns the part of a message that is not read. It begins and ends between words, or at least between runes.
func unreadMiddle(text string) span {
	if len(text) <= MaxRead {
		return span{}
	}
	start, end := MaxRead-readEnd, len(text)-readEnd
	for start > 0 && !utf8.RuneStart(text[start]) && start > MaxRead-readEnd-utf8.UTFMax {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) && end < len(text)-readEnd+utf8.UTFMax {
		end++
	}
	if space := strings.LastIndexAny(text[start-wordLimit:start], " \n"); space >= 0 {
		start += space - wordLimit
	}
	if space := strings.IndexAny(text[end:end+wordLimit], " \n"); space >= 0 {
		end += space
	}
	return span{start: start, end: end}
}
