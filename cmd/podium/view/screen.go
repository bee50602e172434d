package view

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A screen draws one picture over the other. A picture that fits stands among the
// other lines of the terminal. As soon as one does not fit, or the window changes its
// size, it goes to the alternate screen: of what is drawn there nothing is left to
// scroll back to. It sends no queries: nobody would read the replies.
type screen struct {
	out           io.Writer
	drawn         []string
	columns, rows int // when that was drawn
	alternate     bool
	begun         bool
}

// Sequences that begin and end every picture: a terminal that knows the first shows it
// as a whole (mode 2026), and a line that is wider than was reckoned stays one line.
const (
	beginFrame = ansi.SetModeSynchronizedOutput + ansi.ResetModeTextCursorEnable + ansi.ResetModeAutoWrap
	endFrame   = ansi.SetModeAutoWrap + ansi.ResetModeSynchronizedOutput
)

// draw shows lines, which are less than rows, instead of those before.
func (s *screen) draw(lines []string, fits bool, columns, rows int) {
	resized := s.begun && (columns != s.columns || rows != s.rows)
	if s.begun && !resized && slices.Equal(lines, s.drawn) {
		return
	}
	var b strings.Builder
	b.WriteString(beginFrame)
	if !s.alternate && (!fits || resized) {
		s.erase(&b)
		b.WriteString(ansi.SetModeAltScreenSaveCursor)
		s.alternate = true
	}
	if s.alternate {
		b.WriteString(ansi.CursorHomePosition)
	} else {
		s.back(&b)
	}
	for _, line := range lines {
		b.WriteString(line + ansi.EraseLineRight + "\r\n")
	}
	b.WriteString(ansi.EraseScreenBelow + endFrame)
	s.drawn, s.columns, s.rows, s.begun = lines, columns, rows, true
	_, _ = io.WriteString(s.out, b.String())
}

// close takes the picture away. What is written next stands where it began.
func (s *screen) close() {
	if !s.begun {
		return
	}
	var b strings.Builder
	if s.alternate {
		b.WriteString(ansi.ResetModeAltScreenSaveCursor)
	} else {
		s.erase(&b)
	}
	_, _ = io.WriteString(s.out, b.String()+ansi.SetModeTextCursorEnable)
	*s = screen{out: s.out}
}

// back goes to where the picture begins. The cursor is on the line below it.
func (s *screen) back(b *strings.Builder) {
	b.WriteByte('\r')
	if len(s.drawn) > 0 {
		b.WriteString(ansi.CursorUp(len(s.drawn)))
	}
}

func (s *screen) erase(b *strings.Builder) {
	s.back(b)
	b.WriteString(ansi.EraseScreenBelow)
}
