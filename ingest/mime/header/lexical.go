package header

import "strings"

// SplitQuoted splits at a separator outside quoted strings. It returns at least one piece.
func SplitQuoted(text string, separator byte) []string {
	var pieces []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			pieces = append(pieces, text[start:i])
			start = i + 1
		}
	}
	return append(pieces, text[min(start, len(text)):])
}

// QuotedEnd returns where the quoted string ends that a text begins with, or -1 when it is
// not closed.
func QuotedEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// Unquote returns what stands in a quoted string, or a plain value without a
// comment behind it.
func Unquote(text string) string {
	if !strings.HasPrefix(text, `"`) {
		return StripTrailingComment(text)
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		case text[i] == '"':
			return out.String()
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// StripTrailingComment removes a trailing comment such as "text/plain (probably)".
func StripTrailingComment(text string) string {
	if open := strings.Index(text, " ("); open >= 0 {
		text = text[:open]
	}
	return strings.TrimSpace(text)
}

// StripComments removes comments, which nest (RFC 5322, section 3.2.2). What
// follows one that is not closed belongs to it.
func StripComments(text string) string {
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
