package mime

import (
	"net"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"podium/schemas"
)

// A methodResult is one result of Authentication-Results (RFC 8601, section 2.2).
type methodResult struct {
	method, result string            // lower case
	properties     map[string]string // "header.d" and others; names in lower case
}

const maxResults = 100 // of one field

// authResults returns what the receiving server found: of the topmost field that
// carries one of the names by which it is known. All other fields are whatever
// the sender wrote (RFC 8601, section 5). A name that is empty stands for a
// server which writes none; it is believed only in the topmost field of all.
func authResults(h header, servers []string) (results []methodResult, found bool) {
	topmost := true
	for i := range h {
		if h[i].name != "authentication-results" {
			continue
		}
		server, results := parseAuthResults(h[i].value)
		isOurs := func(name string) bool { return strings.EqualFold(name, server) && (name != "" || topmost) }
		if slices.ContainsFunc(servers, isOurs) {
			return results, true
		}
		topmost = false
	}
	return nil, false
}

func parseAuthResults(value string) (server string, results []methodResult) {
	pieces := splitQuoted(withoutComments(value), ';')
	if first := strings.Fields(pieces[0]); len(first) > 0 && !strings.Contains(pieces[0], "=") {
		server = strings.Trim(first[0], `"`)
		pieces = pieces[1:]
	}
	for _, piece := range pieces[:min(len(pieces), maxResults)] {
		if one, ok := parseResult(piece); ok {
			results = append(results, one)
		}
	}
	return server, results
}

// parseResult reads `method/version=result reason="…" type.property=value`.
func parseResult(piece string) (methodResult, bool) {
	one := methodResult{properties: map[string]string{}}
	rest := piece
	for {
		name, behind, found := strings.Cut(rest, "=")
		if !found {
			break
		}
		names := strings.Fields(name)
		value, after := authValue(strings.TrimLeft(behind, " \t"))
		rest = after
		if len(names) == 0 {
			continue
		}
		last := strings.ToLower(names[len(names)-1])
		if one.method == "" {
			one.method, _, _ = strings.Cut(last, "/")
			one.result = strings.ToLower(value)
		} else if _, known := one.properties[last]; !known {
			one.properties[last] = value
		}
	}
	return one, one.method != "" && one.result != ""
}

// authValue takes a word or a quoted string off the beginning.
func authValue(text string) (value, rest string) {
	if strings.HasPrefix(text, `"`) {
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return unquote(text[:i+1]), text[i+1:]
			}
		}
		return "", ""
	}
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// withoutComments removes comments, which nest (RFC 5322, section 3.2.2). What
// follows one that is not closed belongs to it.
func withoutComments(text string) string {
	if !strings.Contains(text, "(") {
		return text
	}
	var out strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		escaped := c == '\\' && (quoted || depth > 0) && i+1 < len(text)
		switch {
		case escaped && depth == 0:
			out.WriteString(text[i : i+2])
		case escaped:
		case c == '"' && depth == 0:
			quoted = !quoted
			out.WriteByte(c)
		case c == '(' && !quoted:
			depth++
		case c == ')' && depth > 0:
			if depth--; depth == 0 {
				out.WriteByte(' ')
			}
		case depth == 0:
			out.WriteByte(c)
		}
		if escaped {
			i++
		}
	}
	return out.String()
}

// judge makes the verdict on a mail from the results of the receiving server.
// from is the domain of its only author; "" is none, and then nothing is aligned.
func judge(results []methodResult, from string) schemas.MailAuth {
	verdict := schemas.MailAuth{Verdict: schemas.AuthNone}
	for i := range results {
		one := results[i].auth(from)
		if one.Method == "dmarc" && one.Verdict != schemas.AuthNone {
			return one // its domain owner's policy has the last word
		}
		if rank(one) > rank(verdict) {
			verdict = one
		}
	}
	return verdict
}

// rank orders verdicts by how much they say: an aligned pass most.
func rank(auth schemas.MailAuth) int {
	switch {
	case auth.Verdict == schemas.AuthPass && auth.Aligned:
		return 3
	case auth.Verdict == schemas.AuthPass:
		return 2
	case auth.Verdict == schemas.AuthFail:
		return 1
	}
	return 0
}

// auth says what one result means for a mail from a domain.
func (r *methodResult) auth(from string) schemas.MailAuth {
	none := schemas.MailAuth{Verdict: schemas.AuthNone}
	domain := ""
	switch r.method {
	case "dmarc":
		if domain = r.properties["header.from"]; domain == "" {
			domain = from
		}
	case "dkim":
		if domain = r.properties["header.d"]; domain == "" {
			domain = domainOf(r.properties["header.i"])
		}
	case "spf":
		if domain = domainOf(r.properties["smtp.mailfrom"]); domain == "" {
			domain = r.properties["smtp.mailfrom"]
		}
	}
	domain = plainDomain(domain)
	if domain == "" {
		return none
	}
	found := schemas.MailAuth{Domain: domain, Method: r.method, Aligned: aligned(domain, from)}
	switch r.result {
	case "pass":
		found.Verdict = schemas.AuthPass
	case "fail", "hardfail", "softfail", "permerror", "policy":
		found.Verdict = schemas.AuthFail
	default:
		return none
	}
	if r.method == "dmarc" && !found.Aligned && (from != "" || found.Verdict != schemas.AuthFail) {
		return none // about another From than the one that is shown
	}
	return found
}

// aligned tells whether two domains belong to the same organization, as the
// public suffix list says (RFC 7489, section 3.1, relaxed mode).
func aligned(domain, from string) bool {
	return domain != "" && from != "" && (domain == from || organization(domain) == organization(from))
}

// organization returns the organizational domain, or the domain itself when it
// has none.
func organization(domain string) string {
	if net.ParseIP(strings.Trim(domain, "[]")) != nil {
		return domain
	}
	found, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return domain
	}
	return found
}

// domainOf returns what stands behind the last "@", as the DNS writes it, or "".
func domainOf(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return ""
	}
	return plainDomain(address[at+1:])
}

// plainDomain returns a domain in lower case and in ASCII, or "" for what is none.
func plainDomain(domain string) string {
	domain = strings.ToLower(strings.Trim(domain, " <>.\t"))
	if domain == "" || len(domain) > 253 || strings.ContainsAny(domain, "@ \t\"()<>,;:\\/") {
		return ""
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil {
		for i := range len(domain) {
			if domain[i] <= ' ' || domain[i] > 0x7e {
				return ""
			}
		}
		return domain // an underscore or the like; it is compared, not looked up
	}
	return ascii
}

// Allowed reports whether an allow list names the author of a mail. Entries are
// addresses, or "@domain" for everybody there; letter case does not matter. Only
// a mail whose single From address was authenticated and aligned, and can be read
// in one way only, is ever allowed: anybody can write any From.
func Allowed(mail *schemas.EmailReceived, entries []string) bool {
	if mail.Auth.Verdict != schemas.AuthPass || !mail.Auth.Aligned || len(mail.From) != 1 ||
		slices.Contains(mail.Suspicious, suspiciousFrom) || slices.Contains(mail.Suspicious, suspiciousMalformed) {
		return false
	}
	address := mail.From[0].Address
	domain := domainOf(address)
	return domain != "" && slices.ContainsFunc(entries, func(entry string) bool {
		if everybody, ok := strings.CutPrefix(entry, "@"); ok {
			return plainDomain(everybody) == domain
		}
		local, _, _ := strings.Cut(entry, "@")
		own := address[:strings.LastIndexByte(address, '@')]
		return strings.EqualFold(local, own) && domainOf(entry) == domain
	})
}
