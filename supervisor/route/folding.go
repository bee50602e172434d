package route

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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

const (
	diaeresis   = '\u0308'
	trademark   = '\u2122'
	zeroSpace   = '\u200b' // a word ends there, though nothing is seen
	lineBreak   = '\u2028'
	paragraph   = '\u2029'
	replacement = "\ufffd" // stands for a byte that is not UTF-8
)

// A run is a run of separators, folded to one space or one blank line.
type run struct {
	open       bool
	start, end int // in the source
	separators int // bytes of the folded text it takes: 0 while closed
	newlines   int
	dash       bool // there was a dash after the last newline
}

// segment folds a part of the source by its full normalization.
func (f *folding) segment(start, end int) {
	source := f.source[start:end]
	if first, size := utf8.DecodeRuneInString(source); first == utf8.RuneError && size == 1 {
		f.letters([]byte(replacement), start, end)
		return
	} else if first == trademark {
		// Its compatibility form would become a part of the word before it.
		f.separator(start, end, 0, false)
		return
	}
	var space [64]byte
	decomposed := norm.NFKD.AppendString(space[:0], source)
	for len(decomposed) > 0 {
		r, size := utf8.DecodeRune(decomposed)
		decomposed = decomposed[size:]
		switch {
		case r == diaeresis && f.umlaut:
			f.letters([]byte{'e'}, start, end)
			f.umlaut = false
		case isDropped(r):
			f.drop(start, end)
		case isSeparator(r):
			f.separator(start, end, newlines(r), unicode.Is(unicode.Pd, r))
			f.umlaut = false
		default:
			var one [utf8.UTFMax]byte
			letters := appendLetter(one[:0], r)
			f.letters(letters, start, end)
			f.umlaut = letters[0] == 'a' || letters[0] == 'o' || letters[0] == 'u'
		}
	}
}

// letters appends what the source from start to end is folded to.
func (f *folding) letters(letters []byte, start, end int) {
	f.closeRun()
	at := len(f.text)
	f.text = append(f.text, letters...)
	more := start < f.taken // of a segment that left something before
	f.taken = end
	if !more || f.last.end != end || f.last.atEnd != at {
		f.last = piece{at: at, start: start, end: end}
	}
	f.last.atEnd = len(f.text)
	known := len(f.pieces) - 1
	switch {
	case more && known >= 0 && f.pieces[known].at == f.last.at:
		f.pieces[known] = f.last
	case more || f.last.atEnd-at != end-start:
		f.pieces = append(f.pieces, f.last)
	}
}

// drop skips a part of the source.
func (f *folding) drop(start, end int) {
	if f.run.open {
		f.run.end = end
		return
	}
	at := len(f.text)
	if last := len(f.pieces) - 1; last >= 0 && f.pieces[last].start == start && f.pieces[last].atEnd == at {
		return
	}
	if at > 0 && f.folded.end(at) == end {
		return
	}
	f.pieces = append(f.pieces, piece{at: at, atEnd: at, start: start, end: end})
}

func (f *folding) separator(start, end, newlines int, dash bool) {
	if !f.run.open {
		f.run = run{open: true, start: start, separators: 1}
		f.text = append(f.text, ' ')
	}
	f.run.end, f.taken = end, end
	if newlines > 0 {
		f.run.newlines += newlines
		f.run.dash = false
	}
	f.run.dash = f.run.dash || dash
	if f.run.newlines > 1 && f.run.separators == 1 {
		f.run.separators = 2
		f.text = append(f.text[:len(f.text)-1], "\n\n"...)
	}
}

func (f *folding) closeRun() {
	if !f.run.open {
		return
	}
	at := len(f.text)
	if f.run.separators != f.run.end-f.run.start {
		f.pieces = append(f.pieces, piece{at: at - f.run.separators, atEnd: at, start: f.run.start, end: f.run.end})
	}
	if f.run.newlines > 0 {
		f.lines = append(f.lines, line{at: at, item: f.run.dash})
	}
	f.run = run{}
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
