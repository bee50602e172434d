package header

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
)

const maxMessageID = 998 // bytes: RFC 5322, section 2.1.1

// messageIDs returns the ids of a field without angle brackets, each once, in
// order. Ids without brackets, which some programs write, are taken when there
// is no other.
func messageIDs(value string) []string {
	ids, _ := idsOf(value)
	return ids
}

// idsOf returns the ids of a field, and whether they stand there as addresses do: without angle brackets, or
// behind words.
func idsOf(value string) (ids []string, loose bool) {
	seen := map[string]bool{}
	add := func(id string) {
		id = strings.ToValidUTF8(repairID(id), "\uFFFD")
		if id != "" && len(id) <= maxMessageID && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	value = stripOuterComments(unescapeIDs(decodeIDs(value)))
	rest := value
	for {
		before, behind, found := strings.Cut(rest, "<")
		if strings.Contains(value, "<") {
			before = bracketedID.ReplaceAllStringFunc(before, func(word string) string {
				add(strings.Trim(word, "[]{} \t"))
				return " "
			})
		}
		loose = loose || strings.ContainsFunc(before, unicode.IsLetter)
		if !found {
			break
		}
		id, after, closed := strings.Cut(behind, ">")
		if !closed {
			break
		}
		if open := strings.LastIndexByte(id, '<'); open >= 0 {
			id = id[open+1:]
		}
		add(id)
		rest = after
	}
	if len(ids) > 0 {
		return ids, loose
	}
	for word := range strings.FieldsSeq(value) {
		if word = strings.Trim(word, "<>,;"); strings.Contains(word, "@") || isURL(word) {
			add(unwrap(word))
		}
	}
	return ids, true
}

// unwrap returns an id without the brackets or quotation marks around it.
func unwrap(id string) string {
	for _, pair := range [...]string{"[]", "()", "{}", `""`, "''"} {
		if len(id) > 2 && id[0] == pair[0] && id[len(id)-1] == pair[1] {
			return id[1 : len(id)-1]
		}
	}
	return id
}

// isURL tells whether an id is written as a URL (RFC 2392).
func isURL(id string) bool { return len(id) > 4 && strings.EqualFold(id[:4], "mid:") }

var (
	bracketedID  = regexp.MustCompile(`[[{][^][{}@ \t]*[0-9][^][{}@ \t]*@[^][{}@ \t]+[]}]`)
	escapedSign  = regexp.MustCompile(`(?i)&(?:amp;)*(?:lt|gt|#0*6[024]|#x0*(?:3c|3e|40));`)
	percentSign  = regexp.MustCompile(`%[2-7][0-9A-Fa-f]`)
	quotedSign   = regexp.MustCompile(`=[2-7][0-9A-Fa-f]`)
	softBreak    = regexp.MustCompile(`=[ \t]+`)
	innerComment = regexp.MustCompile(`(?:^|[ \t])\([^()]*\)|\([^()]*\)(?:[ \t]|$)`)
)

// unescapeIDs restores the angle brackets of a field of ids that a program has escaped as for a page, for
// a URL, or in quoted-printable.
func unescapeIDs(value string) string {
	if strings.Contains(value, "&") {
		value = escapedSign.ReplaceAllStringFunc(value, func(sign string) string {
			sign = strings.ToLower(sign)
			switch {
			case strings.HasSuffix(sign, "lt;"), strings.HasSuffix(sign, "60;"), strings.HasSuffix(sign, "3c;"):
				return "<"
			case strings.HasSuffix(sign, "64;"), strings.HasSuffix(sign, "40;"):
				return "@"
			}
			return ">"
		})
	}
	value = strings.NewReplacer(`\<`, "<", `\>`, ">").Replace(value)
	if strings.Contains(value, "<") && strings.Contains(value, ">") {
		return value
	}
	switch lower := strings.ToLower(value); {
	case strings.Contains(lower, "%3c"):
		value = percentSign.ReplaceAllStringFunc(value, unescapeHex)
	case strings.Contains(lower, "=3c") && !strings.Contains(value, "=?"):
		value = quotedSign.ReplaceAllStringFunc(softBreak.ReplaceAllString(value, ""), unescapeHex)
	}
	return strings.NewReplacer("\uff1c", "<", "\uff1e", ">").Replace(value)
}

// unescapeHex returns the sign that a percent or equals sign and two hexadecimal digits stand for.
func unescapeHex(escaped string) string {
	code, err := strconv.ParseUint(escaped[1:], 16, 7)
	if err != nil || code == 0x7f {
		return escaped
	}
	return string(rune(code))
}

// repairID returns what stands between angle brackets as the id that it is: without blanks and
// comments, and unescaped where it has no at sign otherwise, or escapes where a domain has none.
func repairID(id string) string {
	id = strings.TrimSpace(innerComment.ReplaceAllString(id, " "))
	if isURL(id) {
		id = percentSign.ReplaceAllStringFunc(id[4:], unescapeHex)
	}
	switch at := strings.LastIndexByte(id, '@'); {
	case at < 0 && strings.Contains(id, "%40"):
		id = percentSign.ReplaceAllStringFunc(id, unescapeHex)
	case at < 0 && strings.Contains(id, "=40"):
		id = quotedSign.ReplaceAllStringFunc(softBreak.ReplaceAllString(id, ""), unescapeHex)
	case at >= 0 && strings.Contains(id[at:], "="):
		id = id[:at] + quotedSign.ReplaceAllStringFunc(softBreak.ReplaceAllString(id[at:], ""), unescapeHex)
	}
	return strings.Join(strings.Fields(id), "")
}

// stripOuterComments removes comments that stand outside of angle brackets, where that leaves an id.
// One that is not closed is none.
func stripOuterComments(value string) string {
	if !strings.Contains(value, "(") {
		return value
	}
	var out strings.Builder
	for rest := value; rest != ""; {
		switch next := strings.IndexAny(rest, "(<"); {
		case next < 0:
			out.WriteString(rest)
			rest = ""
		case rest[next] == '<':
			end := strings.IndexByte(rest[next:], '>')
			if end < 0 {
				end = len(rest) - next - 1
			}
			out.WriteString(rest[:next+end+1])
			rest = rest[next+end+1:]
		default:
			end := commentEnd(rest[next:])
			if end < 0 {
				out.WriteString(rest)
				rest = ""
				break
			}
			out.WriteString(rest[:next] + " ")
			rest = rest[next+end:]
		}
	}
	if stripped := out.String(); strings.Contains(stripped, "@") {
		return stripped
	}
	return value
}

// namedIDs returns the ids of a field that names other mails. An address is no id: one of the mail itself
// or of ours, one that is marked as one, and one that stands as addresses do and is without a digit, which each
// id has.
func namedIDs(value string, isAddress func(string) bool) []string {
	ids, loose := idsOf(value)
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return isAddress(id) || loose && !hasDigit(id) || strings.HasPrefix(strings.ToLower(id), "mailto:")
	})
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// answeredID returns the id of In-Reply-To. Of several, the first with a digit counts: programs wrote the
// author's address before the id.
func answeredID(value string, isAddress func(string) bool) string {
	ids := namedIDs(value, isAddress)
	if at := slices.IndexFunc(ids, hasDigit); at > 0 {
		return ids[at]
	}
	if len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// hasDigit tells whether the part of an id before its domain has a digit.
func hasDigit(id string) bool {
	local, _, _ := strings.Cut(id, "@")
	return strings.ContainsAny(local, "0123456789")
}

// decodeIDs decodes the encoded words of a field of ids, which RFC 2047 forbids and
// programs write around long ids. What stands between angle brackets is an id already.
func decodeIDs(value string) string {
	if !strings.Contains(value, "=?") {
		return value
	}
	var out strings.Builder
	for rest := value; rest != ""; {
		outside, inside := rest, ""
		if open := strings.IndexByte(rest, '<'); open >= 0 {
			outside, inside = rest[:open], rest[open:]
			if end := strings.IndexByte(inside, '>'); end >= 0 {
				inside = inside[:end+1]
			}
		}
		rest = rest[len(outside)+len(inside):]
		out.WriteString(strings.Map(charset.Visible, DecodeWords(outside, &defect.List{})))
		out.WriteString(inside)
	}
	return out.String()
}

// FirstID returns the first id of a field, or "".
func FirstID(value string) string {
	if ids := messageIDs(value); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// references returns the ids of References, oldest first; of too many, the
// oldest one, which names the conversation, and the newest ones.
func references(value string, most int, isAddress func(string) bool, found *defect.List) []string {
	ids := namedIDs(value, isAddress)
	if len(ids) > most {
		found.Add(defect.TooManyReferences)
		ids = slices.Concat(ids[:1], ids[len(ids)-most+1:])
	}
	return ids
}
