package charset

import (
	"strings"
	"unicode"
)

// Clean makes text safe to store and show: valid UTF-8, line feeds only, no
// control characters but tab and newline, no byte-order mark.
func Clean(text string) string {
	if printable(text) {
		return text
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	if printable(text) || !strings.ContainsFunc(text, unwanted) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unwanted(r):
			return -1
		}
		return r
	}, text)
}

// printable tells of most text, and quickly, that there is nothing to clean.
func printable(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' || c >= 0x7f {
			return false
		}
	}
	return true
}

func unwanted(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\uFEFF'
}

// Visible drops characters that change how the rest is shown: overrides and
// isolates of writing direction (Unicode TR 36, section 2.6), and other controls.
func Visible(r rune) rune {
	if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

// Truncate cuts text to at most n bytes at a character's boundary.
func Truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// IsASCII tells whether a text has no byte above ASCII.
func IsASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// IsLetter tells whether a byte or a character is a letter of ASCII.
func IsLetter[C byte | rune](c C) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
