package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// commands reports whether a character would command a terminal: control characters
// (C0, DEL and C1) but for line breaks and tabs, and those that turn the direction
// of writing (Unicode property Bidi_Control).
func commands(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r)
}

// Plain returns a text without what would command a terminal.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if commands(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// Line returns a text as one plain line, which nobody can make into two, of at most
// so many characters; 0 is all of them.
func Line(text string, most int) string {
	text = Plain(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); most > 0 && len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// lines returns arguments of which every text is one plain line.
func lines(arguments []any) []any {
	plain := make([]any, len(arguments))
	for i, argument := range arguments {
		switch told := argument.(type) {
		case string:
			plain[i] = Line(told, 0)
		case fmt.Stringer:
			plain[i] = Line(told.String(), 0)
		default:
			plain[i] = argument
		}
	}
	return plain
}

// A Guard is a terminal, or whatever else an output goes to, that nothing which is
// written to it commands. It is safe for use by several goroutines at once.
type Guard struct {
	mu   sync.Mutex
	out  io.Writer // the output itself, on which a Terminal draws
	json bool
	rest []byte // of a character that is not complete yet
}

// NewGuard guards an output. In JSON what would command a terminal is escaped, so
// that programs read what there was; in text it is replaced, as Plain does.
func NewGuard(out io.Writer, json bool) *Guard { return &Guard{out: out, json: json} }

// Write implements io.Writer.
func (g *Guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := append(g.rest, p...)
	written := make([]byte, 0, len(text))
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case !commands(r):
			written = utf8.AppendRune(written, r)
		case g.json:
			written = fmt.Appendf(written, `\u%04x`, r)
		default:
			written = utf8.AppendRune(written, utf8.RuneError)
		}
	}
	g.rest = append([]byte(nil), text...)
	if _, err := g.out.Write(written); err != nil {
		return 0, err
	}
	return len(p), nil
}
