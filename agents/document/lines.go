package document

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// A piece is text in one face, as wide as it will be drawn, in millimeters.
type piece struct {
	text  string
	face  face
	link  string
	width float64
}

// A line of a paragraph.
type line struct {
	pieces []piece
	width  float64
}

func (l *line) add(p piece) {
	l.width += p.width
	if last := len(l.pieces) - 1; last >= 0 && l.pieces[last].face == p.face && l.pieces[last].link == p.link {
		l.pieces[last].text += p.text
		l.pieces[last].width += p.width
		return
	}
	l.pieces = append(l.pieces, p)
}

// lines breaks spans into lines of a width, at blanks, and words that are wider between their characters.
func (s *sheet) lines(spans []span, size, width float64) []line {
	lines := []line{{}}
	var word line    // what may not be broken
	var blank *piece // before it
	last := func() *line { return &lines[len(lines)-1] }
	place := func() {
		if len(word.pieces) == 0 {
			return
		}
		switch room := width - last().width; {
		case len(last().pieces) == 0:
		case blank != nil && blank.width+word.width <= room:
			last().add(*blank)
		case blank != nil:
			lines = append(lines, line{})
		}
		blank = nil
		if last().width+word.width <= width {
			for _, p := range word.pieces {
				last().add(p)
			}
		} else {
			lines = s.broken(lines, &word, size, width)
		}
		word = line{}
	}
	for _, sp := range spans {
		if sp.end {
			place()
			lines, blank = append(lines, line{}), nil
			continue
		}
		for part := range parts(strings.ReplaceAll(legible(sp.text), "\n", " ")) {
			if part == " " {
				place()
				if len(last().pieces) > 0 {
					measured := s.measured(&sp, " ", size)
					blank = &measured[0]
				}
				continue
			}
			for _, p := range s.measured(&sp, part, size) {
				word.add(p)
			}
		}
	}
	place()
	return lines
}

// broken puts a word that is wider than a line on several.
func (s *sheet) broken(lines []line, word *line, size, width float64) []line {
	for _, p := range word.pieces {
		for _, c := range p.text {
			one := piece{text: string(c), face: p.face, link: p.link, width: s.width(p.face, string(c), size)}
			if last := &lines[len(lines)-1]; last.width+one.width > width && len(last.pieces) > 0 {
				lines = append(lines, line{})
			}
			lines[len(lines)-1].add(one)
		}
	}
	return lines
}

// measured is a text in the faces that have its characters: the one of its style, else the regular one. What neither has is taken down.
func (s *sheet) measured(style *span, text string, size float64) []piece {
	var pieces []piece
	began, in := 0, regular // of the run that is being read
	end := func(at int) {
		if run := text[began:at]; run != "" {
			pieces = append(pieces, piece{text: run, face: in, link: style.link, width: s.width(in, run, size)})
		}
		began = at
	}
	for at, c := range text {
		f := style.face()
		if !s.fonts[f].has(c) {
			f = regular
		}
		if f != in {
			end(at)
			in = f
		}
		if !drawable(c) || !s.fonts[f].has(c) {
			end(at)
			s.lacks(c)
			began = at + utf8.RuneLen(c)
		}
	}
	end(len(text))
	if pieces == nil {
		pieces = []piece{{face: regular}}
	}
	return pieces
}

// parts are the words of a text and the blanks between them, one by one.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := strings.IndexByte(text, ' ')
			switch {
			case end < 0:
				end = len(text)
			case end == 0:
				end = 1
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}
