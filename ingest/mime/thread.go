package mime

import (
	"slices"
	"strings"

	"podium/schemas"
)

// PartitionKey names the conversation that a mail belongs to, from the mail
// alone: the oldest id of References, else In-Reply-To, else what a signed
// address of ours stands for, else its own Message-ID, else the SHA-256 of its
// bytes. A bounce belongs to the conversation of the mail that it reports on. No
// mail has the key of a conversation that another door has begun.
func PartitionKey(mail *schemas.EmailReceived) string {
	key := conversation(mail)
	if strings.Contains(key, "/") {
		return "mail/" + key // the keys of other doors hold one too, and the sender of a mail chooses its ids
	}
	return key
}

func conversation(mail *schemas.EmailReceived) string {
	switch {
	case mail.Class == schemas.MailBounce && mail.Thread != "":
		return mail.Thread
	case len(mail.References) > 0:
		return mail.References[0]
	case mail.InReplyTo != "":
		return mail.InReplyTo
	case mail.Thread != "":
		return mail.Thread
	case mail.MessageID != "":
		return mail.MessageID
	default:
		return mail.Raw.SHA256
	}
}

// Session returns the session that a mail answers: that of the newest letter which it
// names and known proves to be ours. "" is none, and then its thread says where it
// belongs. A bounce names the letter that it reports on. A mail program may make any
// thread of it, and leave ids out: one of ours is enough.
func Session(mail *schemas.EmailReceived, known func(messageID string) (session string, ours bool)) string {
	if known == nil {
		return ""
	}
	named := []string{mail.InReplyTo}
	if mail.Bounce != nil {
		named = []string{mail.Bounce.MessageID, mail.InReplyTo}
	}
	for _, id := range slices.Backward(mail.References) {
		named = append(named, id)
	}
	for _, id := range named {
		if session, ours := known(id); ours {
			return session
		}
	}
	return ""
}

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
	value = plainIDs(value)
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

// plainIDs decodes the encoded words of a field of ids, which RFC 2047 forbids and
// programs write around long ids. What stands between angle brackets is an id already.
func plainIDs(value string) string {
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
		out.WriteString(strings.Map(visible, decodeWords(outside, &problems{})))
		out.WriteString(inside)
	}
	return out.String()
}

// firstID returns the first id of a field, or "".
func firstID(value string) string {
	if ids := messageIDs(value); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// references returns the ids of References, oldest first; of too many, the
// oldest one, which names the conversation, and the newest ones.
func references(value string, limits Limits, found *problems) []string {
	ids := messageIDs(value)
	if len(ids) > limits.References {
		found.add(problemReferences)
		ids = slices.Concat(ids[:1], ids[len(ids)-limits.References+1:])
	}
	return ids
}
