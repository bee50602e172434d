package header

import "strings"

// A token is one lexical element of an address list (RFC 5322, section 3.2).
type token struct {
	kind    tokenKind
	text    string // of a quoted string and of a comment, what stands in it
	spaced  bool   // blanks or a comment stand before it
	comment string // the comments that stand before it
}

type tokenKind byte

const (
	tokenAtom    tokenKind = 'w' // an atom, or an encoded word
	tokenQuoted  tokenKind = '"'
	tokenLiteral tokenKind = '[' // a domain literal, with its brackets
	tokenStray   tokenKind = '?' // what has no place in a list: a control, a bracket that is not closed
	tokenEnd     tokenKind = 0
	// Every other special stands for itself: < > @ , ; : and the dot.
)

func (t token) is(kind tokenKind) bool { return t.kind == kind }

// A lexer takes an address list apart, octet by octet: a character set that uses
// octets of ASCII for its letters can hide nothing from it that others see.
type lexer struct {
	text            string
	at              int
	unclosed        bool // a quotation mark or a parenthesis is not closed; it stands for itself, as all behind it do
	afterAt         bool // the token before was "@", so that a bracket begins a domain literal
	encodedSpecials bool // an encoded word holds characters that end a word
}

// next returns the next token, with what was passed over before it.
func (l *lexer) next() token {
	var before token
	for l.at < len(l.text) {
		switch c := l.text[l.at]; c {
		case ' ', '\t', '\r', '\n':
			l.at++
		case '(':
			end := -1
			if !l.unclosed {
				end = commentEnd(l.text[l.at:])
			}
			if end < 0 {
				l.unclosed = true
				return l.take(before, tokenStray, 1)
			}
			before.comment = strings.TrimSpace(before.comment + " " + l.text[l.at+1:l.at+end-1])
			l.at += end
		default:
			return l.token(before)
		}
		before.spaced = true
	}
	return before
}

func (l *lexer) token(before token) token {
	switch c := l.text[l.at]; c {
	case '"':
		return l.quoted(before)
	case '[':
		if end := strings.IndexAny(l.text[l.at+1:], "[]\\<>\"@, \t"); l.afterAt && end >= 0 && l.text[l.at+1+end] == ']' {
			return l.take(before, tokenLiteral, end+2)
		}
		return l.take(before, tokenStray, 1)
	case '<', '>', '@', ',', ';', ':', '.':
		return l.take(before, tokenKind(c), 1)
	case ')', ']', '\\':
		return l.take(before, tokenStray, 1)
	}
	if end := encodedLength(l.text[l.at:]); end > 0 {
		l.encodedSpecials = l.encodedSpecials || strings.ContainsAny(l.text[l.at:l.at+end], "<>@,;:\"()")
		return l.take(before, tokenAtom, end)
	}
	end := l.at
	for end < len(l.text) && isAtom(l.text[end]) {
		end++
	}
	if end == l.at {
		return l.take(before, tokenStray, 1) // a control
	}
	return l.take(before, tokenAtom, end-l.at)
}

func (l *lexer) take(before token, kind tokenKind, length int) token {
	before.kind, before.text = kind, l.text[l.at:l.at+length]
	l.at += length
	l.afterAt = kind == '@'
	return before
}

func (l *lexer) quoted(before token) token {
	if l.unclosed {
		return l.take(before, tokenStray, 1)
	}
	end := QuotedEnd(l.text[l.at:])
	if end < 0 {
		l.unclosed = true
		return l.take(before, tokenStray, 1)
	}
	before = l.take(before, tokenQuoted, end)
	before.text = Unquote(before.text)
	return before
}

// commentEnd returns where a comment ends, or -1 when it is not closed. Comments
// nest (RFC 5322, section 3.2.2).
func commentEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

const maxEncodedWord = 512 // bytes; RFC 2047 allows 75

// encodedLength returns how long the encoded word is that a text begins with, or
// 0. Programs write characters in it that RFC 2047 forbids in a name.
func encodedLength(text string) int {
	if !strings.HasPrefix(text, "=?") {
		return 0
	}
	text = text[:min(len(text), maxEncodedWord)]
	marks := 0
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			return 0
		case c != '?':
		case marks < 2:
			marks++
		case i+1 < len(text) && text[i+1] == '=':
			return i + 2
		default:
			return 0
		}
	}
	return 0
}

func isAtom(c byte) bool {
	return c > ' ' && c != 0x7f && strings.IndexByte(`()<>[]:;@\,."`, c) < 0
}
