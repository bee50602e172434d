package document

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// A run is text of a PDF at a place, in points from the lower left corner.
type run struct {
	page       int
	x, y, size float64
	font, text string
}

// A paper is what a PDF holds, as far as its drawing needs it.
type paper struct {
	runs  []run
	fonts map[string]*embedded // by name in the pages
	links []string
}

// An embedded font: which glyph of the file a character is.
type embedded struct {
	file   *sfnt.Font
	glyphs []byte // two bytes for each character
}

var (
	object    = regexp.MustCompile(`(?s)(\d+) 0 obj\n(.*?)\nendobj`)
	reference = func(key string) *regexp.Regexp { return regexp.MustCompile(key + ` (\d+) 0 R`) }
	operation = regexp.MustCompile(`(?s)BT /F(\w+) ([\d.]+) Tf ET|BT ([\d.-]+) ([\d.-]+) Td \(((?:\\.|[^\\)])*)\) Tj ET`)
)

func unpacked(t *testing.T, body string) []byte {
	t.Helper()
	_, stream, _ := strings.Cut(body, "stream\n")
	packed, err := zlib.NewReader(strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func follow(t *testing.T, objects map[string]string, from, key string) string {
	t.Helper()
	found := reference(key).FindStringSubmatch(from)
	if found == nil {
		t.Fatalf("no %s in %s", key, from)
	}
	return objects[found[1]]
}

// readPDF reads what has been drawn, and by which outlines.
func readPDF(t *testing.T, file []byte) *paper {
	t.Helper()
	objects := map[string]string{}
	var pages []string
	for _, found := range object.FindAllStringSubmatch(string(file), -1) {
		objects[found[1]] = found[2]
		if strings.Contains(found[2], "/Type /Page\n") {
			pages = append(pages, found[2])
		}
	}
	read := &paper{fonts: map[string]*embedded{}}
	for _, link := range regexp.MustCompile(`/URI \(([^)]*)\)`).FindAllStringSubmatch(string(file), -1) {
		read.links = append(read.links, link[1])
	}
	for number, page := range pages {
		resources := follow(t, objects, page, "/Resources")
		for _, font := range regexp.MustCompile(`/F(\w+) (\d+) 0 R`).FindAllStringSubmatch(resources, -1) {
			descendant := objects[regexp.MustCompile(`/DescendantFonts \[(\d+) 0 R\]`).FindStringSubmatch(objects[font[2]])[1]]
			parsed, err := sfnt.Parse(unpacked(t, follow(t, objects, follow(t, objects, descendant, "/FontDescriptor"), "/FontFile2")))
			if err != nil {
				t.Fatal(err)
			}
			read.fonts[font[1]] = &embedded{file: parsed, glyphs: unpacked(t, follow(t, objects, descendant, "/CIDToGIDMap"))}
		}
		var font, size string
		for _, found := range operation.FindAllStringSubmatch(string(unpacked(t, follow(t, objects, page, "/Contents"))), -1) {
			if found[1] != "" {
				font, size = found[1], found[2]
				continue
			}
			at := run{page: number, font: font, text: textOf(found[5])}
			for of, number := range map[*float64]string{&at.x: found[3], &at.y: found[4], &at.size: size} {
				*of, _ = strconv.ParseFloat(number, 64)
			}
			read.runs = append(read.runs, at)
		}
	}
	return read
}

// textOf reads a text of a PDF: UTF-16 with backslashes.
func textOf(escaped string) string {
	plain := strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`, `\r`, "\r").Replace(escaped)
	units := make([]uint16, len(plain)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16([]byte(plain[2*i:]))
	}
	return string(utf16.Decode(units))
}

// width is what a viewer takes for a text of size 1.
func (e *embedded) width(t *testing.T, text string) (width float64) {
	t.Helper()
	for _, c := range text {
		units := fixed.Int26_6(e.file.UnitsPerEm())
		advance, err := e.file.GlyphAdvance(new(sfnt.Buffer), sfnt.GlyphIndex(binary.BigEndian.Uint16(e.glyphs[2*int(c):])), units, font.HintingNone)
		if err != nil {
			t.Fatal(err)
		}
		width += float64(advance) / float64(units)
	}
	return width
}

func drawn(t *testing.T, markdown string) (*paper, []byte) {
	t.Helper()
	fonts, err := readFonts()
	if err != nil {
		t.Fatal(err)
	}
	file, err := read([]byte(markdown), "test", "de").drawn(fonts)
	if err != nil {
		t.Fatal(err)
	}
	return readPDF(t, file), file
}

func outlineOf(t *testing.T, font *sfnt.Font, glyph sfnt.GlyphIndex) sfnt.Segments {
	t.Helper()
	drawn, err := font.LoadGlyph(new(sfnt.Buffer), glyph, fixed.Int26_6(font.UnitsPerEm()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(drawn)
}

// TestEveryGlyph: each character that is accepted is in the file with the outline of its font, in every face.
func TestEveryGlyph(t *testing.T) {
	t.Parallel()
	fonts, err := readFonts()
	if err != nil {
		t.Fatal(err)
	}
	var accepted []rune
	for c := rune(0x21); c <= 0xFFFF; c++ {
		if drawable(c) && fonts[regular].has(c) && legible(string(c)) == string(c) && c != 0xA0 {
			accepted = append(accepted, c)
		}
	}
	for _, c := range "äöüÄÖÜßẞ€„“–…ŁódźČñçÅøæþđşğ→☐✓≥µ°½Ωжщ" {
		if !slices.Contains(accepted, c) {
			t.Errorf("%c is not accepted", c)
		}
	}
	var text strings.Builder
	for _, mark := range []string{"", "*", "**", "***"} {
		for i, c := range accepted {
			if mark != "" && c > 0x250 { // all of them four times would take half a minute
				continue
			}
			if i%60 == 0 {
				text.WriteString("\n\n")
			}
			text.WriteString(mark + escaped(string(c)) + mark + " ")
		}
	}
	read, _ := drawn(t, text.String())
	seen := map[rune]int{}
	for _, r := range read.runs {
		font := read.fonts[r.font]
		for _, c := range r.text {
			if seen[c]++; c == ' ' {
				continue
			}
			glyph := sfnt.GlyphIndex(binary.BigEndian.Uint16(font.glyphs[2*int(c):]))
			original := fonts[regular].font
			for _, f := range []face{regular, bold, italic, boldItalic} { // whichever face the run has
				of, err := fonts[f].font.GlyphIndex(new(sfnt.Buffer), c)
				if err == nil && slices.Equal(outlineOf(t, font.file, glyph), outlineOf(t, fonts[f].font, of)) && glyph != 0 {
					original = nil
					break
				}
			}
			if original != nil {
				t.Errorf("%c (%U) is drawn otherwise than its font has it", c, c)
			}
		}
	}
	for _, c := range accepted {
		if seen[c] < 1 || c < 0x250 && seen[c] < 4 {
			t.Errorf("%c (%U) is drawn %d times", c, c, seen[c])
		}
	}
	if len(accepted) < 4000 {
		t.Errorf("only %d characters are accepted", len(accepted))
	}
}

// TestNoGlyph: a character that cannot be drawn is named, and no file is made.
func TestNoGlyph(t *testing.T) {
	t.Parallel()
	fonts, err := readFonts()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"x 🙂 y":               "🙂 (U+1F642)",
		"**漢字** 漢":            "漢 (U+6F22), 字 (U+5B57)",
		"سلام":                "س (U+0633), ل (U+0644), ا (U+0627), م (U+0645)",
		"a\u202Eb":            "U+202E",
		"x\u0301":             "U+0301",
		"`\u0007`":            "U+0007",
		"| a |\n|---|\n| 한 |": "한 (U+D55C)",
		"# 漢":                 "漢 (U+6F22)",
		"1. 漢":                "漢 (U+6F22)",
		"    漢":               "漢 (U+6F22)",
		"漢漢漢一二三四五六七八九十": "漢 (U+6F22), 一 (U+4E00), 二 (U+4E8C), 三 (U+4E09), 四 (U+56DB), 五 (U+4E94), 六 (U+516D), 七 (U+4E03), 八 (U+516B), 九 (U+4E5D), …",
	} {
		file, err := read([]byte(text), "test", "de").drawn(fonts)
		lacking, is := errors.AsType[*glyphError](err)
		if !is || file != nil || lacking.listed() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	composed, _ := drawn(t, "u\u0308 soft\u00ADhyphen zero\u200Bwidth")
	if got := composed.text(); got != "ü softhyphen zerowidth" {
		t.Errorf("%q", got)
	}
}

// TestOutlineOfMissing: a font that lists a character and draws its box for it does not have it, as the Go fonts do with ẞ.
func TestOutlineOfMissing(t *testing.T) {
	t.Parallel()
	font, err := readOutlines(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	if font.has('ẞ') || !font.has('ß') || !font.has(' ') || font.has('漢') {
		t.Error("ẞ and 漢 are boxes in it, ß and the blank are not")
	}
	// One that lists a character, and draws for it what it draws for those that it lacks.
	font.missing = outlineOf(t, font.font, mustIndex(t, font.font, 'x'))
	if font.known = map[rune]glyph{}; font.has('x') {
		t.Error("a listed character with the outline of a missing one is taken for drawn")
	}
}

func mustIndex(t *testing.T, font *sfnt.Font, c rune) sfnt.GlyphIndex {
	t.Helper()
	glyph, err := font.GlyphIndex(new(sfnt.Buffer), c)
	if err != nil || glyph == 0 {
		t.Fatal(glyph, err)
	}
	return glyph
}

// text is what is drawn, with a blank for each new line.
func (p *paper) text() string {
	var said strings.Builder
	for i, r := range p.runs {
		if i > 0 && (r.y != p.runs[i-1].y || r.page != p.runs[i-1].page) {
			said.WriteByte(' ')
		}
		said.WriteString(r.text)
	}
	return strings.Join(strings.Fields(said.String()), " ")
}

// TestNothingIsLost: all words are drawn, in order, inside of the margins, over as many pages as they need.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	var words, rows []string
	for i := range 2500 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	for i := range 120 {
		rows = append(rows, fmt.Sprintf("| row%d | %s | %d |", i, strings.Join(words[:1+i%30], " "), i))
	}
	long := strings.Repeat("Donaudampfschifffahrt", 20)
	markdown := "# A title\n\n" + strings.Join(words, " ") + "\n\n" + long + "\n\n> quoted\n\n3. three\n4. four\n   - inner\n\n```\ncode  here\n```\n\n[link](https://example.org/a_b) **bold**" +
		"*italic* &amp; \\* [bad](javascript:x) <mail@example.org>\n\n| a | b | c |\n|---|:-:|--:|\n" + strings.Join(rows, "\n") + "\n"
	read, _ := drawn(t, markdown)
	text := read.text()
	at := 0
	for _, want := range slices.Concat([]string{"A title"}, words, []string{"quoted", "3.", "three", "4.", "four", "•", "inner", "code here", "link bolditalic & * bad mail@example.org", "row0", "row119"}) {
		found := strings.Index(text[at:], want)
		if found < 0 {
			t.Fatalf("%s is not there, or out of order", want)
		}
		at += found
	}
	if !strings.Contains(strings.ReplaceAll(text, " ", ""), long) {
		t.Error("a word that is wider than a line is not whole")
	}
	if !slices.Equal(read.links, []string{"https://example.org/a_b", "mailto:mail@example.org"}) {
		t.Errorf("links %q", read.links)
	}
	const point = millimetersOfPoint
	last := read.runs[len(read.runs)-1]
	if last.page < 4 || last.text != fmt.Sprintf("%d / %d", last.page+1, last.page+1) {
		t.Errorf("the last page says %q", last.text)
	}
	for _, r := range read.runs {
		right := (r.x + read.fonts[r.font].width(t, r.text)*r.size) * point
		if r.x*point < leftMargin-0.1 || r.y*point < 297-footerAt-0.1 || r.y*point > 297-topMargin || right > pageWidth-rightMargin+0.1 {
			t.Errorf("%.30q at %.1f, %.1f to %.1f", r.text, r.x*point, r.y*point, right)
		}
	}
}

// fontsBefore are hashes of the fonts, taken before any PDF is drawn.
var fontsBefore = map[face][sha256.Size]byte{
	regular: sha256.Sum256(regular.file()), bold: sha256.Sum256(bold.file()), italic: sha256.Sum256(italic.file()),
	boldItalic: sha256.Sum256(boldItalic.file()), monospaced: sha256.Sum256(monospaced.file()),
}

// TestFontsAreUnchanged: a PDF that is drawn leaves the fonts as they are, which all documents share.
func TestFontsAreUnchanged(t *testing.T) {
	t.Parallel()
	drawn(t, "# A title\n\n**b** *i* ***bi*** `m`: Αθήνα, Москва, ẞ, →, ∑\n")
	for f, before := range fontsBefore {
		if sha256.Sum256(f.file()) != before {
			t.Errorf("the font %q has changed", f)
		}
	}
}

// TestSameBytes: what is drawn depends on nothing but the text, whatever was drawn before.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	const text = "# Título ẞ\n\n**b** *i* ***bi*** `m` und [x](https://example.org)\n\n- a\n\n| a |\n|---|\n| b |\n"
	_, first := drawn(t, text)
	for range 3 {
		if _, again := drawn(t, text); !bytes.Equal(first, again) {
			t.Fatal("other bytes")
		}
	}
}
