package route

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	diaeresis   = '\u0308'
	trademark   = '\u2122'
	zeroSpace   = '\u200b' // a word ends there, though nothing is seen
	lineBreak   = '\u2028'
	paragraph   = '\u2029'
	replacement = "\ufffd" // stands for a byte that is not UTF-8
)

// A folding is a folded text that is being built.
type folding struct {
	folded
	run    run
	umlaut bool  // a diaeresis would make an umlaut of the last letter
	last   piece // the last letters, whether they are a piece or not
	// taken is the end of the last segment that left something.
	taken int
}

// A run is a run of separators, folded to one space or one blank line.
type run struct {
	open       bool
	start, end int // in the source
	separators int // bytes of the folded text it takes: 0 while closed
	newlines   int
	dash       bool // there was a dash after the last newline
}

// segment folds a part of the source by its full normalization.
func (b *folding) segment(start, end int) {
	source := b.source[start:end]
	if first, size := utf8.DecodeRuneInString(source); first == utf8.RuneError && size == 1 {
		b.letters([]byte(replacement), start, end)
		return
	} else if first == trademark {
		// Its compatibility form would become a part of the word before it.
		b.separator(start, end, 0, false)
		return
	}
	var space [64]byte
	decomposed := norm.NFKD.AppendString(space[:0], source)
	for len(decomposed) > 0 {
		r, size := utf8.DecodeRune(decomposed)
		decomposed = decomposed[size:]
		switch {
		case r == diaeresis && b.umlaut:
			b.letters([]byte{'e'}, start, end)
			b.umlaut = false
		case isDropped(r):
			b.drop(start, end)
		case isSeparator(r):
			b.separator(start, end, newlines(r), unicode.Is(unicode.Pd, r))
			b.umlaut = false
		default:
			var one [utf8.UTFMax]byte
			letters := appendLetter(one[:0], r)
			b.letters(letters, start, end)
			b.umlaut = letters[0] == 'a' || letters[0] == 'o' || letters[0] == 'u'
		}
	}
}

// letters appends what the source from start to end is folded to.
func (b *folding) letters(letters []byte, start, end int) {
	b.closeRun()
	at := len(b.text)
	b.text = append(b.text, letters...)
	more := start < b.taken // of a segment that left something before
	b.taken = end
	if !more || b.last.end != end || b.last.atEnd != at {
		b.last = piece{at: at, start: start, end: end}
	}
	b.last.atEnd = len(b.text)
	known := len(b.pieces) - 1
	switch {
	case more && known >= 0 && b.pieces[known].at == b.last.at:
		b.pieces[known] = b.last
	case more || b.last.atEnd-at != end-start:
		b.pieces = append(b.pieces, b.last)
	}
}

// drop skips a part of the source.
func (b *folding) drop(start, end int) {
	if b.run.open {
		b.run.end = end
		return
	}
	at := len(b.text)
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].start == start && b.pieces[last].atEnd == at {
		return
	}
	if at > 0 && b.folded.end(at) == end {
		return
	}
	b.pieces = append(b.pieces, piece{at: at, atEnd: at, start: start, end: end})
}

func (b *folding) separator(start, end, newlines int, dash bool) {
	if !b.run.open {
		b.run = run{open: true, start: start, separators: 1}
		b.text = append(b.text, ' ')
	}
	b.run.end, b.taken = end, end
	if newlines > 0 {
		b.run.newlines += newlines
		b.run.dash = false
	}
	b.run.dash = b.run.dash || dash
	if b.run.newlines > 1 && b.run.separators == 1 {
		b.run.separators = 2
		b.text = append(b.text[:len(b.text)-1], "\n\n"...)
	}
}

func (b *folding) closeRun() {
	if !b.run.open {
		return
	}
	at := len(b.text)
	if b.run.separators != b.run.end-b.run.start {
		b.pieces = append(b.pieces, piece{at: at - b.run.separators, atEnd: at, start: b.run.start, end: b.run.end})
	}
	if b.run.newlines > 0 {
		b.lines = append(b.lines, line{at: at, item: b.run.dash})
	}
	b.run = run{}
}

func newlines(r rune) int {
	switch r {
	case '\n', lineBreak:
		return 1
	case paragraph, '\f':
		return 2
	}
	return 0
}

func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Pd, r) ||
		r == zeroSpace || r == '\u2212' // minus
}

// isDropped says whether a decomposed rune leaves no trace: the diacritics of
// Latin, Greek and Cyrillic, what selects a glyph, and the invisible. Marks of
// other scripts are letters in all but name and stay.
func isDropped(r rune) bool {
	switch {
	case r < 0x80 || r == zeroSpace:
		return false
	case 0x300 <= r && r <= 0x36f, 0x1ab0 <= r && r <= 0x1aff, 0x1dc0 <= r && r <= 0x1dff,
		0x20d0 <= r && r <= 0x20ff, 0xfe20 <= r && r <= 0xfe2f: // combining diacritics
		return true
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef: // variation selectors
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// appendLetter appends the folding of a rune that has no decomposition.
func appendLetter(to []byte, r rune) []byte {
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return append(to, "ss"...)
	case 'æ':
		return append(to, "ae"...)
	case 'œ', 'ø':
		return append(to, "oe"...)
	case 'þ':
		return append(to, "th"...)
	case 'đ', 'ð':
		return append(to, 'd')
	case 'ħ':
		return append(to, 'h')
	case 'ı':
		return append(to, 'i')
	case 'ł':
		return append(to, 'l')
	case 'ς':
		return append(to, "σ"...)
	case '‘', '’', '‚', '‛', 'ʼ', '‹', '›':
		return append(to, '\'')
	case '“', '”', '„', '‟', '«', '»':
		return append(to, '"')
	}
	return utf8.AppendRune(to, r)
}
