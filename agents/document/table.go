package document

import (
	extensionast "github.com/yuin/goldmark/extension/ast"
)

// A row of a table: its cells, broken into lines.
type row struct {
	cells  [][]line
	header bool
}

// table draws rows line by line, so that a row may go on on the next page.
func (s *sheet) table(table *extensionast.Table) {
	widths := s.columns(table)
	for node := table.FirstChild(); node != nil; node = node.NextSibling() {
		_, header := node.(*extensionast.TableHeader)
		r := row{header: header}
		height := 0
		for cell := node.FirstChild(); cell != nil && len(r.cells) < len(widths); cell = cell.NextSibling() {
			lines := s.lines(s.page.spans(cell, span{bold: header}), textSize, widths[len(r.cells)])
			r.cells, height = append(r.cells, lines), max(height, len(lines))
		}
		if header {
			s.room(keepWithHeading * heightOf(textSize))
		}
		for i := range height {
			s.room(heightOf(textSize))
			x := s.left
			for column, lines := range r.cells {
				if i < len(lines) {
					s.draw(&lines[i], x+aligned(table, column)*(widths[column]-lines[i].width), s.y, textSize)
				}
				x += widths[column] + cellGap
			}
			s.y += heightOf(textSize)
		}
		s.rule(s.y + 0.4)
		s.y += 1.2
	}
	s.y += gap
}

// aligned is how much of the free room of a cell is to the left of its text.
func aligned(table *extensionast.Table, column int) float64 {
	if column < len(table.Alignments) {
		switch table.Alignments[column] {
		case extensionast.AlignRight:
			return 1
		case extensionast.AlignCenter:
			return 0.5
		case extensionast.AlignLeft, extensionast.AlignNone:
		}
	}
	return 0
}

// columns are as wide as what stands in them; where that is too wide for the page, the wide ones give way.
func (s *sheet) columns(table *extensionast.Table) []float64 {
	widths := make([]float64, len(table.Alignments))
	for node := table.FirstChild(); node != nil; node = node.NextSibling() {
		column := 0
		for cell := node.FirstChild(); cell != nil && column < len(widths); cell = cell.NextSibling() {
			for _, l := range s.lines(s.page.spans(cell, span{bold: node == table.FirstChild()}), textSize, 1e6) {
				widths[column] = max(widths[column], l.width+0.01)
			}
			column++
		}
	}
	room := s.right - s.left - cellGap*float64(len(widths)-1)
	open, share := len(widths), room/float64(max(1, len(widths)))
	for range widths { // what is narrower than its share leaves room to the others
		left, wide := room, 0
		for _, width := range widths {
			if width <= share {
				left -= width
			} else {
				wide++
			}
		}
		if wide == 0 || wide == open {
			break
		}
		open, share = wide, left/float64(wide)
	}
	for i := range widths {
		widths[i] = max(5, min(widths[i], share))
	}
	return widths
}
