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
// Answers go nowhere that a Reply-To names in a way that can be read differently. Ours
// are addresses that are no ids.
func (h Header) Fill(mail *schemas.EmailReceived, maxAddresses, maxReferences int, ours []string, found *defect.List) Authors {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.Count(name) > 1 {
			found.Add(defect.DuplicateField)
		}
	}
	left := maxAddresses
	author := Authors{From: ParseAddresses(h, "from", &left, found), ReplyTo: ParseAddresses(h, "reply-to", &left, found)}
	mail.From = slices.Concat([]schemas.Address{}, author.From.Mailboxes)
	if !author.ReplyTo.Ambiguous {
		mail.ReplyTo = author.ReplyTo.Mailboxes
	}
	mail.To = ParseAddresses(h, "to", &left, found).Mailboxes
	mail.Cc = ParseAddresses(h, "cc", &left, found).Mailboxes
	h.fillIDs(mail, maxReferences, ours, found)
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

// fillIDs fills in the ids. An address of the mail, or one of ours, is no id: strangers who write it
// into their mails have no conversation with each other.
func (h Header) fillIDs(mail *schemas.EmailReceived, maxReferences int, ours []string, found *defect.List) {
	addresses := map[string]bool{}
	for _, one := range ours {
		addresses[schemas.Mailbox(one)] = true
	}
	for _, one := range slices.Concat(mail.From, mail.ReplyTo, mail.To, mail.Cc) {
		addresses[schemas.Mailbox(one.Address)] = true
	}
	for i := range h {
		switch h[i].Name {
		case "sender", "delivered-to", "x-original-to", "envelope-to", "x-delivered-to":
			value := h[i].Value
			addresses[schemas.Mailbox(strings.Trim(value[strings.LastIndexByte(value, '<')+1:], " <>"))] = true
		}
	}
	isAddress := func(id string) bool { return addresses[schemas.Mailbox(id)] }
	if id := FirstID(h.First("message-id")); !isAddress(id) {
		mail.MessageID = id
	}
	mail.InReplyTo = answeredID(h.First("in-reply-to"), isAddress)
	mail.References = references(h.First("references"), maxReferences, isAddress, found)
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
