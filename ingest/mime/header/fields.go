package header

import (
	"slices"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// An Authorship is what From and Reply-To say beyond their addresses.
type Authorship struct {
	From, ReplyTo Reading
}

// Fill fills in what the header says, with at most so many addresses and references.
// Answers go nowhere that a Reply-To names in a way that can be read differently.
func (h Header) Fill(mail *schemas.EmailReceived, maxAddresses, maxReferences int, found *defect.Problems) Authorship {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.Count(name) > 1 {
			found.Add(defect.ProblemDuplicate)
		}
	}
	mail.MessageID = FirstID(h.First("message-id"))
	mail.InReplyTo = FirstID(h.First("in-reply-to"))
	mail.References = references(h.First("references"), maxReferences, found)
	left := maxAddresses
	author := Authorship{From: ReadAddresses(h, "from", &left, found), ReplyTo: ReadAddresses(h, "reply-to", &left, found)}
	mail.From = slices.Concat([]schemas.Address{}, author.From.List)
	if !author.ReplyTo.Disputed {
		mail.ReplyTo = author.ReplyTo.List
	}
	mail.To = ReadAddresses(h, "to", &left, found).List
	mail.Cc = ReadAddresses(h, "cc", &left, found).List
	if len(mail.From) == 0 && len(h) > 0 {
		found.Add(defect.ProblemFrom)
	}
	mail.Subject = words(h.First("subject"), found)
	mail.Language = language(h.First("content-language"))
	if value := h.First("date"); value != "" {
		date, ok := parseDate(value)
		if !ok {
			found.Add(defect.ProblemDate)
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
		if !charset.IsLetter(byte(c&0x7f)) && c != '-' || c > 0x7f {
			return ""
		}
	}
	return charset.Truncate(tag, 35)
}
