package header

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// An AddressList is what the address fields of one name say.
type AddressList struct {
	Mailboxes []schemas.Address
	BareWord  string // the first name that stands where an address should, or beside none: MAILER-DAEMON, MAILER-DAEMON <>
	IsNull    bool   // a pair of angle brackets stands there with nothing between them
	// Ambiguous tells that another program may find another address in the fields:
	// what no grammar allows, obsolete syntax, an address in a comment. The list
	// holds only what the standard reads; where that is nothing, nothing is guessed.
	Ambiguous bool
}

// ParseAddresses reads every field of a name (RFC 5322, sections 3.4 and 4.4). A
// malformed list gives the addresses that stand in it as they stand; none is ever
// put together from pieces.
func ParseAddresses(h Header, name string, left *int, found *defect.List) AddressList {
	var all AddressList
	for i := range h {
		if h[i].Name != name || h[i].Value == "" {
			continue
		}
		r := addressParser{lexer: lexer{text: h[i].Value}, left: *left - len(all.Mailboxes), defects: found}
		r.read()
		all.Mailboxes = append(all.Mailboxes, r.found.Mailboxes...)
		all.Ambiguous = all.Ambiguous || r.found.Ambiguous
		all.BareWord, all.IsNull = cmp.Or(all.BareWord, r.found.BareWord), all.IsNull || r.found.IsNull
	}
	*left -= len(all.Mailboxes)
	return all
}

// An addressParser reads one field. net/mail's parser gives no address of a list
// with one malformed member, and does not tell which lists can be read in two ways.
type addressParser struct {
	lexer   lexer
	left    int  // addresses that are still kept
	full    bool // one more stands there
	defects *defect.List
	found   AddressList
	group   bool // inside of "name: …;"
	set     encoding.Encoding
	guessed bool // set is what the whole field looks like
}

func (r *addressParser) read() {
	var buffer [10]token
	tokens := buffer[:0] // of the member that is read
	inside := false      // of angle brackets that begin with a route, where a comma separates nothing
	for {
		one := r.lexer.next()
		switch {
		case one.is(tokenEnd):
			r.member(tokens, one.comment)
			if r.group || r.lexer.unclosed || r.lexer.encodedSpecials {
				r.markAmbiguous()
			}
			return
		case one.is(',') && !inside, one.is(';'):
			inside = false
			r.member(tokens, one.comment)
			tokens = tokens[:0]
			r.group = r.group && !one.is(';')
		case one.is(':') && !r.group && beginsGroup(tokens):
			if strings.Contains(phrase(tokens)+tokens[0].comment+one.comment, "@") {
				r.markAmbiguous()
			}
			r.group, tokens = true, tokens[:0]
		default:
			inside = one.is('@') && len(tokens) > 0 && tokens[len(tokens)-1].is('<') || inside && !one.is(':') && !one.is('>')
			if len(tokens) < maxTokens {
				tokens = append(tokens, one)
			}
		}
		if r.full {
			r.defects.Add(defect.TooManyAddresses)
			return
		}
	}
}

const maxTokens = 1000 // of one member; one that has more names nobody

// beginsGroup tells whether what stands before a colon is the name of a group.
func beginsGroup(tokens []token) bool {
	return len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t token) bool { return t.is('@') || t.is('<') })
}

func (r *addressParser) markAmbiguous() {
	r.found.Ambiguous = true
	r.defects.Add(defect.AddressList)
}

// member takes what stands between two separators. last is a comment at its end.
func (r *addressParser) member(tokens []token, last string) {
	if len(tokens) == 0 { // RFC 5322, section 4.4
		if strings.Contains(last, "@") {
			r.markAmbiguous()
		}
		return
	}
	open := slices.IndexFunc(tokens, func(t token) bool { return t.is('<') })
	name := ""
	one, ok := parseBareAddr(tokens)
	if open >= 0 {
		one, ok = parseAngleAddr(tokens[open+1:])
		name = phrase(tokens[:open])
		// An address for a name is nothing that others could take for another one when it is the same.
		one.ambiguous = one.ambiguous || hasAt(tokens[:open]) && !strings.EqualFold(strings.ReplaceAll(name, " ", ""), one.address)
	}
	if !ok || len(tokens) == maxTokens {
		r.unreadable(tokens, open)
		return
	}
	if one.ambiguous || anotherAddress(last, one.address) || slices.ContainsFunc(tokens, func(t token) bool { return anotherAddress(t.comment, one.address) }) {
		r.markAmbiguous()
	}
	if r.full = r.left == 0; r.full {
		return
	}
	r.left--
	if name == "" { // programs wrote it into a comment before there were display names
		name = strings.ReplaceAll(cmp.Or(last, tokens[0].comment), `\`, "")
	}
	r.found.Mailboxes = append(r.found.Mailboxes, schemas.Address{Name: r.name(name), Address: one.address})
}

// unreadable notes a member without an address.
func (r *addressParser) unreadable(tokens []token, open int) {
	r.defects.Add(defect.AddressList)
	text := phrase(tokens)
	if hasAt(tokens) || strings.ContainsAny(DecodeWords(text, &defect.List{}), "@\uff20\ufe6b") {
		r.found.Ambiguous = true
	}
	inside := tokens[open+1:]
	if open >= 0 && len(inside) == 1 && inside[0].is('>') {
		r.found.IsNull = true
		r.found.BareWord = cmp.Or(r.found.BareWord, unstructured(phrase(tokens[:open]), &defect.List{}))
	}
	if r.found.BareWord == "" && len(inside) > 0 && inside[0].is(tokenAtom) && (len(inside) == 1 || inside[1].is('>')) {
		r.found.BareWord = inside[0].text
	}
}

func hasAt(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.is('@') })
}

// anotherAddress tells whether a comment holds an address that is not the one.
func anotherAddress(comment, address string) bool {
	return strings.Contains(comment, "@") && !strings.EqualFold(strings.TrimSpace(comment), address)
}

// parseBareAddr reads an address that stands without angle brackets, maybe with one
// that was never opened.
func parseBareAddr(tokens []token) (addrSpec, bool) {
	stray := false
	for len(tokens) > 0 && tokens[len(tokens)-1].is('>') {
		tokens, stray = tokens[:len(tokens)-1], true
	}
	one, ok := parseAddrSpec(tokens)
	one.ambiguous = one.ambiguous || stray
	return one, ok
}

// parseAngleAddr reads what stands behind the first angle bracket of a member.
func parseAngleAddr(tokens []token) (addrSpec, bool) {
	odd := false
	for len(tokens) > 0 && tokens[0].is('<') {
		tokens, odd = tokens[1:], true
	}
	end := slices.IndexFunc(tokens, func(t token) bool { return t.is('>') })
	if end < 0 {
		end, odd = len(tokens), true
	}
	inside, behind := tokens[:end], tokens[min(end+1, len(tokens)):]
	if slices.ContainsFunc(behind, func(t token) bool { return t.is('<') || t.is('@') }) {
		return addrSpec{}, false
	}
	odd = odd || len(behind) > 0
	if len(inside) == 0 {
		return addrSpec{}, false
	}
	if colon := slices.IndexFunc(inside, func(t token) bool { return t.is(':') }); colon > 0 && (inside[0].is('@') || colon == 1 && strings.EqualFold(inside[0].text, "mailto")) {
		inside, odd = inside[colon+1:], true // an obsolete route, or a link
	}
	one, ok := parseAddrSpec(inside)
	one.ambiguous = one.ambiguous || odd
	return one, ok
}

// phrase returns the words of a name, without comments and quotation marks.
func phrase(tokens []token) string {
	if len(tokens) == 1 {
		return tokens[0].text
	}
	var text strings.Builder
	for i, one := range tokens {
		if i > 0 && one.spaced {
			text.WriteByte(' ')
		}
		text.WriteString(one.text)
	}
	return text.String()
}

// name decodes a display name. One of raw octets is read in the character set that
// the whole field looks like, since a name alone is short.
func (r *addressParser) name(text string) string {
	if strings.Contains(text, "=?") || charset.IsUTF8([]byte(text)) {
		return unstructured(text, r.defects)
	}
	if !r.guessed {
		r.guessed, r.set = true, charset.Detect([]byte(r.lexer.text))
	}
	if _, likely := charset.RepairUTF8([]byte(text)); r.set != nil && !likely {
		if decoded, err := r.set.NewDecoder().String(text); err == nil {
			text = decoded
		}
	}
	return unstructured(text, r.defects)
}
