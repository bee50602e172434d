// Package answer tells people in words what agents have answered with data, and what they have said beside
// their results. It is pure: the same result gives the same words.
//
//	Data(result data, Words)       lines, and a file for what the lines leave out
//	ParseTemplate(text).Tell(data) the words of an agent's own template
//	Findings(findings, Words)      recommendations, what was noticed, checks that have failed
//
// Data comes from outside: it becomes text and never markup, and is bounded in lines and bytes.
package answer

import (
	"strings"
	"unicode"

	"podium/schemas"
)

// Words are what a language has for telling data.
type Words struct {
	Texts   *schemas.Texts
	Decimal string // between the whole and the fraction of a number; a point when empty
}

// oneLine makes a line of any text: without line ends, control characters, and what turns the
// direction of writing.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
			return -1
		}
		return r
	}, text))
}
