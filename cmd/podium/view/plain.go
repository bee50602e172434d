package view

import "strings"

// Plain returns a text without what would command a terminal: control characters but
// for line breaks and tabs, and those that turn the direction of writing.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\uFFFD'
		}
		return r
	}, text)
}
