package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Guard returns the text of a cell in which no spreadsheet finds a formula: an apostrophe stands before each. A formula
// begins where the cell does. Spreadsheets that read the table with semicolons or tabs between its cells find one behind
// each of these too, and in each line. White space and characters that are not seen before it do not hide it, nor does the
// width that a sign has for scripts of East Asia. Numbers are no texts: do not guard them.
func Guard(text string) string {
	var safe strings.Builder
	if strings.TrimLeft(text, "\t\r\n") != text {
		safe.WriteByte('\'')
	}
	for text != "" {
		end := strings.IndexAny(text, ";\t\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		first := strings.TrimLeftFunc(text[:end], isUnseen)
		if c, _ := utf8.DecodeRuneInString(first); first != "" && strings.ContainsRune("=+-@", narrow(c)) {
			safe.WriteByte('\'')
		}
		safe.WriteString(text[:end])
		text = text[end:]
	}
	return safe.String()
}

// isUnseen reports whether a character before a formula may be dropped by a spreadsheet.
func isUnseen(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
}

// narrow returns a character without the width that it has for scripts of East Asia.
func narrow(c rune) rune {
	folded, _ := utf8.DecodeRuneInString(norm.NFKC.String(string(c)))
	return folded
}
