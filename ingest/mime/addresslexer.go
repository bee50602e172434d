package mime

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is one lexical element of an address list (RFC 5322, section 3.2).
type token struct {
	kind   tokenKind
	text   string // of a quoted string and of a comment, what stands in it
	apart  bool   // blanks or a comment stand before it
	remark string // the comments that stand before it
}

type tokenKind byte

const (
	tokenWord    tokenKind = 'w' // an atom, or an encoded word
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
	text     string
	at       int
	open     bool // a quotation mark or a parenthesis is not closed; it stands for itself, as all behind it do
	domain   bool // the token before was "@", so that a bracket begins a domain literal
	encloses bool // an encoded word holds characters that end a word
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
			if !l.open {
				end = commentEnd(l.text[l.at:])
			}
			if end < 0 {
				l.open = true
				return l.take(before, tokenStray, 1)
			}
			before.remark = strings.TrimSpace(before.remark + " " + l.text[l.at+1:l.at+end-1])
			l.at += end
		default:
			return l.token(before)
		}
		before.apart = true
	}
	return before
}

func (l *lexer) token(before token) token {
	switch c := l.text[l.at]; c {
	case '"':
		return l.quoted(before)
	case '[':
		if end := strings.IndexAny(l.text[l.at+1:], "[]\\<>\"@, \t"); l.domain && end >= 0 && l.text[l.at+1+end] == ']' {
			return l.take(before, tokenLiteral, end+2)
		}
		return l.take(before, tokenStray, 1)
	case '<', '>', '@', ',', ';', ':', '.':
		return l.take(before, tokenKind(c), 1)
	case ')', ']', '\\':
		return l.take(before, tokenStray, 1)
	}
	if end := encodedLength(l.text[l.at:]); end > 0 {
		l.encloses = l.encloses || strings.ContainsAny(l.text[l.at:l.at+end], "<>@,;:\"()")
		return l.take(before, tokenWord, end)
	}
	end := l.at
	for end < len(l.text) && isAtom(l.text[end]) {
		end++
	}
	if end == l.at {
		return l.take(before, tokenStray, 1) // a control
	}
	return l.take(before, tokenWord, end-l.at)
}

func (l *lexer) take(before token, kind tokenKind, length int) token {
	before.kind, before.text = kind, l.text[l.at:l.at+length]
	l.at += length
	l.domain = kind == '@'
	return before
}

func (l *lexer) quoted(before token) token {
	if l.open {
		return l.take(before, tokenStray, 1)
	}
	for i := l.at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '"':
			before = l.take(before, tokenQuoted, i+1-l.at)
			before.text = unquote(before.text)
			return before
		}
	}
	l.open = true
	return l.take(before, tokenStray, 1)
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

// A spec is a mailbox as a field names it.
type spec struct {
	address string
	odd     bool // others may read another address: obsolete syntax, or none that the standard knows
}

const maxAddress = 512 // bytes; RFC 5321 allows 254

// parseSpec reads `local@domain` (RFC 5322, sections 3.4.1 and 4.4). It joins
// nothing that the standard does not join: words with a blank between them are no
// local part. What cannot be seen, and an encoded word, is no part of an address.
func parseSpec(tokens []token) (spec, bool) {
	at := slices.IndexFunc(tokens, func(t token) bool { return t.is('@') })
	if at <= 0 || at == len(tokens)-1 {
		return spec{}, false
	}
	local, oddLocal, ok := parseLocal(tokens[:at])
	if !ok {
		return spec{}, false
	}
	domain, oddDomain, ok := parseDomain(tokens[at+1:])
	address := local + "@" + domain
	if !ok || len(address) > maxAddress || !utf8.ValidString(address) || strings.ContainsFunc(address, unseen) ||
		strings.Contains(address, "=?") && encodedWord.MatchString(address) {
		return spec{}, false
	}
	return spec{address: address, odd: oddLocal || oddDomain}, true
}

func unseen(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// parseLocal takes dots wherever they stand, since addresses such as "a..b" are in use.
func parseLocal(tokens []token) (local string, odd, ok bool) {
	if len(tokens) == 1 && tokens[0].is(tokenWord) {
		return tokens[0].text, false, true
	}
	var text strings.Builder
	quoted := false
	for i, one := range tokens {
		joins := i == 0 || one.is('.') || tokens[i-1].is('.')
		if !joins || !one.is('.') && !one.is(tokenWord) && !one.is(tokenQuoted) {
			return "", false, false
		}
		odd = odd || i > 0 && (one.apart || quoted || one.is(tokenQuoted))
		quoted = quoted || one.is(tokenQuoted)
		text.WriteString(one.text)
	}
	local = text.String()
	if quoted && !isDotAtom(local) {
		local = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(local) + `"`
	}
	return local, odd, local != "" && local != `""`
}

func isDotAtom(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			if !isAtom(part[i]) {
				return false
			}
		}
	}
	return true
}

func parseDomain(tokens []token) (domain string, odd, ok bool) {
	if len(tokens) == 1 && tokens[0].is(tokenLiteral) {
		return tokens[0].text, false, len(tokens[0].text) > 2
	}
	var text strings.Builder
	for i, one := range tokens {
		if i%2 == 1 && !one.is('.') || i%2 == 0 && !one.is(tokenWord) {
			return "", false, false
		}
		odd = odd || i > 0 && one.apart
		text.WriteString(one.text)
	}
	return text.String(), odd, len(tokens)%2 == 1
}
