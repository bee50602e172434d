package document

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/go-fonts/dejavu/dejavusansboldoblique"
	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansoblique"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// A face is a font of a document; its text is the style by which fpdf knows it.
type face string

const (
	regular    face = ""
	bold       face = "B"
	italic     face = "I"
	boldItalic face = "BI"
	monospaced face = "M" // in a family of its own
)

func (f face) file() []byte {
	switch f {
	case bold:
		return dejavusansbold.TTF
	case italic:
		return dejavusansoblique.TTF
	case boldItalic:
		return dejavusansboldoblique.TTF
	case monospaced:
		return dejavusansmono.TTF
	case regular:
	}
	return dejavusans.TTF
}

// outlines finds out for which characters a font has an outline. It is safe for use by several goroutines at once.
type outlines struct {
	mu      sync.Mutex
	font    *sfnt.Font
	buffer  sfnt.Buffer
	missing sfnt.Segments // what is drawn for a character that the font lacks
	known   map[rune]glyph
}

// A glyph is what a font draws for a character.
type glyph struct {
	own   bool    // it is the character's own
	width float64 // for a size of 1
}

func readOutlines(file []byte) (*outlines, error) {
	parsed, err := sfnt.Parse(file)
	if err != nil {
		return nil, err
	}
	o := &outlines{font: parsed, known: map[rune]glyph{}}
	drawn, err := o.outline(0)
	o.missing = slices.Clone(drawn)
	return o, err
}

func (o *outlines) outline(index sfnt.GlyphIndex) (sfnt.Segments, error) {
	return o.font.LoadGlyph(&o.buffer, index, fixed.Int26_6(o.font.UnitsPerEm()), nil)
}

// has reports whether a character is drawn as itself: the font lists it, and its outline is not the one for what is missing.
func (o *outlines) has(c rune) bool { return o.glyph(c).own }

func (o *outlines) glyph(c rune) glyph {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, known := o.known[c]
	if known {
		return found
	}
	index, err := o.font.GlyphIndex(&o.buffer, c)
	if err == nil && index != 0 {
		units := fixed.Int26_6(o.font.UnitsPerEm())
		drawn, err := o.outline(index)
		found.own = err == nil && !slices.Equal(drawn, o.missing) && (len(drawn) > 0 || unicode.IsSpace(c))
		advance, err := o.font.GlyphAdvance(&o.buffer, index, units, font.HintingNone)
		found.own, found.width = found.own && err == nil, float64(advance)/float64(units)
	}
	o.known[c] = found
	return found
}

// width is that of a text, for a size of 1.
func (o *outlines) width(text string) (width float64) {
	for _, c := range text {
		width += o.glyph(c).width
	}
	return width
}

// readFonts reads those of documents, a megabyte each.
func readFonts() (map[face]*outlines, error) {
	read := map[face]*outlines{}
	for _, f := range []face{regular, bold, italic, boldItalic, monospaced} {
		var err error
		if read[f], err = readOutlines(f.file()); err != nil {
			return nil, fmt.Errorf("read a font: %w", err)
		}
	}
	return read, nil
}

// drawable reports whether a character is one glyph, to the right of the one before it.
func drawable(c rune) bool {
	properties, _ := bidi.LookupRune(c)
	switch properties.Class() {
	case bidi.R, bidi.AL, bidi.AN, bidi.LRE, bidi.RLE, bidi.LRO, bidi.RLO, bidi.PDF, bidi.LRI, bidi.RLI, bidi.FSI, bidi.PDI:
		return false
	}
	return c <= 0xFFFF && !unicode.In(c, unicode.M, unicode.Cc, unicode.Cf)
}

// legible is a text in composed characters, without those that show nothing.
func legible(text string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '\u00AD', '\u200B', '\u2060', '\uFEFF': // where a line may or may not break
			return -1
		case '\t':
			return ' '
		}
		return c
	}, norm.NFC.String(text))
}

// A glyphError names characters that a PDF cannot show.
type glyphError struct{ characters []rune }

func (e *glyphError) Error() string {
	return fmt.Sprintf("there is no glyph for %d characters, the first is %U", len(e.characters), e.characters[0])
}

// listed are the first of them, for a person.
func (e *glyphError) listed() string {
	const most = 10
	var names []string
	for _, c := range e.characters[:min(most, len(e.characters))] {
		name := fmt.Sprintf("%U", c)
		if unicode.IsGraphic(c) && !unicode.In(c, unicode.M, unicode.Z) {
			name = fmt.Sprintf("%c (%U)", c, c)
		}
		names = append(names, name)
	}
	if len(e.characters) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
