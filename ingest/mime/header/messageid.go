package header

import (
	"slices"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
)

const maxMessageID = 998 // bytes: RFC 5322, section 2.1.1

// messageIDs returns the ids of a field without angle brackets, each once, in
// order. Ids without brackets, which some programs write, are taken when there
// is no other.
func messageIDs(value string) []string {
	var ids []string
	seen := map[string]bool{}
	add := func(id string) {
		id = strings.ToValidUTF8(strings.Join(strings.Fields(id), ""), "\uFFFD")
		if id != "" && len(id) <= maxMessageID && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	value = decodeIDs(value)
	rest := value
	for {
		_, behind, found := strings.Cut(rest, "<")
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
	if len(ids) == 0 {
		for word := range strings.FieldsSeq(value) {
			if strings.Contains(word, "@") {
				add(strings.Trim(word, "<>,;"))
			}
		}
	}
	return ids
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
func references(value string, most int, found *defect.List) []string {
	ids := messageIDs(value)
	if len(ids) > most {
		found.Add(defect.TooManyReferences)
		ids = slices.Concat(ids[:1], ids[len(ids)-most+1:])
	}
	return ids
}
