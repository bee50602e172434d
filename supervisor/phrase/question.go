package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// questionMarks are those of all scripts: Latin in its widths and doublings, inverted, Greek, Armenian, Arabic, Ethiopic, Limbu, Coptic, Vai,
// Bamum, medieval, reversed, interrobangs and emoji.
const questionMarks = "?¿‽⸘⁇⁈⁉？﹖︖\u037e՞؟⸮፧᥅⳺⳻꘏꛷🯄❓❔⍰⸮"

// Asks reports whether a text asks something: there is a question mark in it that is no part of an address. A question decides nothing.
func Asks(text string) bool {
	for at, c := range text {
		if !strings.ContainsRune(questionMarks, c) {
			// In Greek the semicolon is the question mark.
			if c != ';' || !followsGreek(text[:at]) {
				continue
			}
		}
		if c != '?' {
			return true
		}
		if next, _ := utf8.DecodeRuneInString(text[at+1:]); !insideAddress(text[:at], next) {
			return true
		}
	}
	return false
}

// insideAddress reports whether a question mark stands in an address of the web: the word that it stands in has a scheme, or it is followed by
// the name of a parameter.
func insideAddress(before string, next rune) bool {
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	return strings.Contains(word, "://") && (unicode.IsLetter(next) || unicode.IsDigit(next))
}

func followsGreek(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, unicode.IsSpace))
	return unicode.Is(unicode.Greek, last)
}
