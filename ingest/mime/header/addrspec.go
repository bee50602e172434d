package header

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An addrSpec is a mailbox as a field names it.
type addrSpec struct {
	address   string
	ambiguous bool // others may read another address: obsolete syntax, or none that the standard knows
}

const maxAddress = 512 // bytes; RFC 5321 allows 254

// parseAddrSpec reads `local@domain` (RFC 5322, sections 3.4.1 and 4.4). It joins
// nothing that the standard does not join: words with a blank between them are no
// local part. What cannot be seen, and an encoded word, is no part of an address.
func parseAddrSpec(tokens []token) (addrSpec, bool) {
	at := slices.IndexFunc(tokens, func(t token) bool { return t.is('@') })
	if at <= 0 || at == len(tokens)-1 {
		return addrSpec{}, false
	}
	local, oddLocal, ok := parseLocal(tokens[:at])
	if !ok {
		return addrSpec{}, false
	}
	domain, oddDomain, ok := parseDomain(tokens[at+1:])
	address := local + "@" + domain
	if !ok || len(address) > maxAddress || !utf8.ValidString(address) || strings.ContainsFunc(address, isInvisible) ||
		strings.Contains(address, "=?") && encodedWord.MatchString(address) {
		return addrSpec{}, false
	}
	return addrSpec{address: address, ambiguous: oddLocal || oddDomain}, true
}

func isInvisible(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// parseLocal takes dots wherever they stand, since addresses such as "a..b" are in use.
func parseLocal(tokens []token) (local string, odd, ok bool) {
	if len(tokens) == 1 && tokens[0].is(tokenAtom) {
		return tokens[0].text, false, true
	}
	var text strings.Builder
	quoted := false
	for i, one := range tokens {
		joins := i == 0 || one.is('.') || tokens[i-1].is('.')
		if !joins || !one.is('.') && !one.is(tokenAtom) && !one.is(tokenQuoted) {
			return "", false, false
		}
		odd = odd || i > 0 && (one.spaced || quoted || one.is(tokenQuoted))
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
		if part == "" || slices.ContainsFunc([]byte(part), func(c byte) bool { return !isAtom(c) }) {
			return false
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
		if i%2 == 1 && !one.is('.') || i%2 == 0 && !one.is(tokenAtom) {
			return "", false, false
		}
		odd = odd || i > 0 && one.spaced
		text.WriteString(one.text)
	}
	return text.String(), odd, len(tokens)%2 == 1
}
