package mime

import (
	"slices"
	"strings"

	"podium/schemas"
)

// An authorship is what From and Reply-To say beyond their addresses.
type authorship struct {
	from, replyTo reading
}

// fill fills in what the header says, with at most so many addresses and references.
// Answers go nowhere that a Reply-To names in a way that can be read differently.
func (h header) fill(mail *schemas.EmailReceived, maxAddresses, maxReferences int, found *problems) authorship {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.count(name) > 1 {
			found.add(problemDuplicate)
		}
	}
	mail.MessageID = firstID(h.first("message-id"))
	mail.InReplyTo = firstID(h.first("in-reply-to"))
	mail.References = references(h.first("references"), maxReferences, found)
	left := maxAddresses
	author := authorship{from: readAddresses(h, "from", &left, found), replyTo: readAddresses(h, "reply-to", &left, found)}
	mail.From = slices.Concat([]schemas.Address{}, author.from.list)
	if !author.replyTo.disputed {
		mail.ReplyTo = author.replyTo.list
	}
	mail.To = readAddresses(h, "to", &left, found).list
	mail.Cc = readAddresses(h, "cc", &left, found).list
	if len(mail.From) == 0 && len(h) > 0 {
		found.add(problemFrom)
	}
	mail.Subject = words(h.first("subject"), found)
	mail.Language = language(h.first("content-language"))
	if value := h.first("date"); value != "" {
		date, ok := parseDate(value)
		if !ok {
			found.add(problemDate)
		}
		mail.Date = date
	}
	return author
}

// language returns the first tag of Content-Language, when it looks like one.
func language(value string) string {
	tag, _, _ := strings.Cut(value, ",")
	tag = strings.TrimSpace(tag)
	for _, c := range tag {
		if !isLetter(byte(c&0x7f)) && c != '-' || c > 0x7f {
			return ""
		}
	}
	return truncate(tag, 35)
}
