package document

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
)

// The measures of a page (A4), in millimeters, and of text, in points.
const (
	leftMargin, rightMargin   = 25.0, 20.0
	topMargin, bottomMargin   = 25.0, 22.0
	pageWidth, pageHeight     = 210.0, 297.0
	footerAt                  = pageHeight - 12.0
	indentation               = 7.0
	gap                       = 2.6 // after a paragraph
	cellGap                   = 3.0 // between columns
	textSize, codeSize        = 10.0, 9.0
	footerSize                = 8.0
	millimetersOfPoint        = 25.4 / 72
	lineHeight                = 1.42 // of the size
	baseline                  = 1.05 // of the size, from the top of a line
	maxPages                  = 200
	family, monospacedFamily  = "DejaVuSans", "DejaVuSansMono"
	bullet                    = "•"
	quotationGrey, ruleGrey   = 90, 170
	keepWithHeading           = 3 // lines
	largestHeading, headStep  = 18.0, 2.5
	smallestHeading, maxQuote = 10.5, 8
)

// A sheet is a PDF while it is drawn.
type sheet struct {
	pdf         *fpdf.Fpdf
	added       map[face]bool // the fonts that the PDF has
	fonts       map[face]*outlines
	page        *page
	y           float64 // of the top of the next line
	left, right float64 // of the text
	missing     []rune
}

// drawn is the page as a PDF. A *glyphError names the characters that it cannot show.
func (p *page) drawn(fonts map[face]*outlines) ([]byte, error) {
	s := &sheet{
		pdf: fpdf.New("P", "mm", "A4", ""), added: map[face]bool{}, fonts: fonts, page: p, left: leftMargin, right: pageWidth - rightMargin,
	}
	s.pdf.SetAutoPageBreak(false, 0)
	s.pdf.SetMargins(0, 0, 0)
	s.pdf.SetCellMargin(0)
	s.pdf.SetCatalogSort(true)
	s.pdf.SetTitle(p.title, true)
	s.pdf.SetLang(p.language)
	s.pdf.SetProducer("Podium", true)
	for _, set := range []func(time.Time){s.pdf.SetCreationDate, s.pdf.SetModificationDate} {
		set(time.Unix(0, 0).UTC()) // the same input is the same bytes
	}
	s.next()
	s.blocks(p.root)
	s.footers()
	if len(s.missing) > 0 {
		return nil, &glyphError{characters: s.missing}
	}
	if s.pdf.PageCount() > maxPages {
		return nil, errTooLong
	}
	var file bytes.Buffer
	err := s.pdf.Output(&file)
	return file.Bytes(), err
}

func (s *sheet) lacks(c rune) {
	if !slices.Contains(s.missing, c) {
		s.missing = append(s.missing, c)
	}
}

// use sets the font. Each PDF gets a copy of it: fpdf writes into the bytes that it is given.
func (s *sheet) use(f face, size float64) {
	name, style := family, string(f)
	if f == monospaced {
		name, style = monospacedFamily, ""
	}
	if !s.added[f] {
		s.pdf.AddUTF8FontFromBytes(name, style, bytes.Clone(f.file()))
		s.added[f] = true
	}
	s.pdf.SetFont(name, style, size)
}

func (s *sheet) width(f face, text string, size float64) float64 {
	return s.fonts[f].width(text) * size * millimetersOfPoint
}

func heightOf(size float64) float64 { return size * millimetersOfPoint * lineHeight }

// next begins a page.
func (s *sheet) next() {
	if s.pdf.PageCount() <= maxPages { // one more is too many, and says so
		s.pdf.AddPage()
	}
	s.y = topMargin
}

// room begins a page if what is to come does not fit.
func (s *sheet) room(height float64) {
	if s.y+height > pageHeight-bottomMargin && s.y > topMargin {
		s.next()
	}
}

// draw puts one line at a place.
func (s *sheet) draw(l *line, x, y, size float64) {
	for _, p := range l.pieces {
		s.use(p.face, size)
		s.pdf.Text(x, y+size*millimetersOfPoint*baseline, p.text)
		if p.link != "" {
			s.pdf.LinkString(x, y, p.width, heightOf(size), p.link)
		}
		x += p.width
	}
}

// paragraph draws spans line by line.
func (s *sheet) paragraph(spans []span, size float64) {
	for _, l := range s.lines(spans, size, s.right-s.left) {
		s.room(heightOf(size))
		s.draw(&l, s.left, s.y, size)
		s.y += heightOf(size)
	}
}

func (s *sheet) blocks(parent ast.Node) {
	for child := parent.FirstChild(); child != nil; child = child.NextSibling() {
		s.block(child)
	}
}

func (s *sheet) block(node ast.Node) {
	switch n := node.(type) {
	case *ast.Heading:
		size := max(smallestHeading, largestHeading-headStep*float64(n.Level-1))
		if s.y > topMargin {
			s.y += gap
		}
		s.room(heightOf(size) + keepWithHeading*heightOf(textSize))
		s.paragraph(s.page.spans(n, span{bold: true}), size)
		s.y += gap / 2
	case *ast.Paragraph:
		s.paragraph(s.page.spans(n, span{}), textSize)
		s.y += gap
	case *ast.TextBlock: // of a list without gaps
		s.paragraph(s.page.spans(n, span{}), textSize)
	case *ast.List:
		s.entries(n)
	case *ast.Blockquote:
		s.indented(func() {
			s.pdf.SetTextColor(quotationGrey, quotationGrey, quotationGrey)
			s.blocks(n)
			s.pdf.SetTextColor(0, 0, 0)
		})
	case *ast.ThematicBreak:
		s.room(heightOf(textSize))
		s.rule(s.y + heightOf(textSize)/2)
		s.y += heightOf(textSize)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		s.code(node)
	case *extensionast.Table:
		s.table(n)
	default:
		s.blocks(node)
	}
}

// indented draws further to the right, as long as there is room for words.
func (s *sheet) indented(inner func()) {
	left := s.left
	s.left = min(left+indentation, leftMargin+maxQuote*indentation)
	inner()
	s.left = left
}

func (s *sheet) rule(y float64) {
	s.pdf.SetDrawColor(ruleGrey, ruleGrey, ruleGrey)
	s.pdf.SetLineWidth(0.2)
	s.pdf.Line(s.left, y, s.right, y)
}

func (s *sheet) entries(list *ast.List) {
	number := list.Start
	for entry := list.FirstChild(); entry != nil; entry = entry.NextSibling() {
		marker := bullet
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + string(list.Marker)
			number++
		}
		marked := s.lines([]span{{text: marker}}, textSize, s.right-s.left)[0]
		s.room(heightOf(textSize))
		at, top, first := s.left, s.y, s.pdf.PageNo()
		s.draw(&marked, at+indentation-1.5-marked.width, top, textSize)
		s.indented(func() { s.blocks(entry) })
		if s.y == top && s.pdf.PageNo() == first { // an entry without text
			s.y += heightOf(textSize)
		}
	}
	if list.IsTight {
		s.y += gap
	}
}

func (s *sheet) code(node ast.Node) {
	segments := node.Lines()
	for i := range segments.Len() {
		segment := segments.At(i)
		text := bytes.TrimRight(segment.Value(s.page.source), "\r\n")
		s.paragraph([]span{{text: string(bytes.ReplaceAll(text, []byte(" "), []byte("\u00A0"))), code: true}}, codeSize)
	}
	s.y += gap
}

// footers number the pages of a document that has several.
func (s *sheet) footers() {
	pages := s.pdf.PageCount()
	for number := 1; pages > 1 && number <= pages; number++ {
		s.pdf.SetPage(number)
		text := fmt.Sprintf("%d / %d", number, pages)
		s.use(regular, footerSize)
		s.pdf.Text(pageWidth-rightMargin-s.pdf.GetStringWidth(text), footerAt, text)
	}
}
