package trust

import (
	"slices"
	"strings"

	"podium/ingest/mime/header"
)

// A methodResult is one result of Authentication-Results (RFC 8601, section 2.2).
// go-msgauth's authres is not used: it takes what stands in a comment for a
// property, although it is often the sender's, splits at semicolons in comments and
// in quoted strings, and refuses the fields of servers that write no name.
type methodResult struct {
	method, result string            // lower case
	properties     map[string]string // "header.d" and others; names in lower case
}

const maxResults = 100 // of one field

// authResults returns what the receiving server found: of the topmost field that
// carries one of the names by which it is known. All other fields are whatever
// the sender wrote (RFC 8601, section 5). A name that is empty stands for a
// server which writes none; it is believed only in the topmost field of all.
func authResults(h header.Header, servers []string) (results []methodResult, found bool) {
	topmost := true
	for i := range h {
		if h[i].Name != "authentication-results" {
			continue
		}
		server, results := parseAuthResults(h[i].Value)
		isOurs := func(name string) bool { return strings.EqualFold(name, server) && (name != "" || topmost) }
		if slices.ContainsFunc(servers, isOurs) {
			return results, true
		}
		topmost = false
	}
	return nil, false
}

func parseAuthResults(value string) (server string, results []methodResult) {
	pieces := header.SplitQuoted(header.StripComments(value), ';')
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
		if end := header.QuotedEnd(text); end > 0 {
			return header.Unquote(text[:end]), text[end:]
		}
		return "", ""
	}
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}
