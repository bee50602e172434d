package arguments

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// A token is a run of letters, a run of digits, or any other character but white space.
type token struct {
	kind       tokenKind
	fold       string
	start, end int  // in the text
	joined     bool // to the token before it, with nothing in between
	newline    bool // a line begins with it
}

type tokenKind uint8

const (
	tokenWord tokenKind = iota
	tokenNumber
	tokenMark
)

// tokenize takes a text to pieces. Its cost is linear in the text.
func tokenize(text string, fold func(string) string) []token {
	var tokens []token
	space, newline := true, true
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			space, newline = true, newline || r == '\n'
			at += size
			continue
		}
		t := token{kind: tokenMark, start: at, end: at + size, joined: !space, newline: newline}
		switch {
		case r < utf8.RuneSelf && '0' <= r && r <= '9':
			t.kind = tokenNumber
			for t.end < len(text) && '0' <= text[t.end] && text[t.end] <= '9' {
				t.end++
			}
			t.fold = text[t.start:t.end]
		case unicode.IsLetter(r):
			t.kind, t.end = tokenWord, wordEnd(text, at+size)
			t.fold = fold(text[t.start:t.end])
		default:
			t.fold = mark(r)
		}
		tokens = append(tokens, t)
		space, newline, at = false, false, t.end
	}
	return tokens
}

// wordEnd returns where the word ends. An apostrophe between letters is a part of it.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == '\'' || r == '’' {
			next, _ := utf8.DecodeRuneInString(text[at+size:])
			if !unicode.IsLetter(next) {
				return at
			}
		} else if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return at
		}
		at += size
	}
	return at
}

// mark is the plain form of a character that is no letter.
func mark(r rune) string {
	switch {
	case unicode.Is(unicode.Pd, r) || r == '−':
		return "-"
	case r == '’':
		return "'"
	}
	return string(r)
}

// number is the value of a run of at most nine digits.
func (t *token) number() (int, bool) {
	if t.kind != tokenNumber || len(t.fold) > 9 {
		return 0, false
	}
	value, err := strconv.Atoi(t.fold)
	return value, err == nil
}
