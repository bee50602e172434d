package header

import (
	"slices"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// Authors are what From and Reply-To say beyond their addresses.
type Authors struct {
	From, ReplyTo AddressList
}

// Fill fills in what the header says, with at most so many addresses and references.
// Answers go nowhere that a Reply-To names in a way that can be read differently.
func (h Header) Fill(mail *schemas.EmailReceived, maxAddresses, maxReferences int, found *defect.List) Authors {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.Count(name) > 1 {
			found.Add(defect.DuplicateField)
		}
	}
	mail.MessageID = FirstID(h.First("message-id"))
	mail.InReplyTo = FirstID(h.First("in-reply-to"))
	mail.References = references(h.First("references"), maxReferences, found)
	left := maxAddresses
	author := Authors{From: ParseAddresses(h, "from", &left, found), ReplyTo: ParseAddresses(h, "reply-to", &left, found)}
	mail.From = slices.Concat([]schemas.Address{}, author.From.Mailboxes)
	if !author.ReplyTo.Ambiguous {
		mail.ReplyTo = author.ReplyTo.Mailboxes
	}
	mail.To = ParseAddresses(h, "to", &left, found).Mailboxes
	mail.Cc = ParseAddresses(h, "cc", &left, found).Mailboxes
	if len(mail.From) == 0 && len(h) > 0 {
		found.Add(defect.NoFrom)
	}
	mail.Subject = unstructured(h.First("subject"), found)
	mail.Language = language(h.First("content-language"))
	if value := h.First("date"); value != "" {
		date, ok := parseDate(value)
		if !ok {
			found.Add(defect.Date)
		}
		mail.Date = date
	}
	return author
}

// language returns the first tag of Content-Language, when it looks like one.
func language(value string) string {
	tag, _, _ := strings.Cut(value, ",")
	tag = strings.TrimSpace(tag)
	if strings.ContainsFunc(tag, func(r rune) bool { return !charset.IsLetter(r) && r != '-' }) {
		return ""
	}
	return charset.Truncate(tag, 35)
}
