package mime

import (
	"cmp"
	"slices"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/structure"
	"podium/ingest/mime/text"
	"podium/schemas"
)

// fillBounce adds what is known of the mail that a bounce reports on: from the
// report, from the mail that was returned or its header, from the words of the
// programs that write no report, and from the address that it was sent to.
func fillBounce(mail *schemas.EmailReceived, m *structure.Message, words string, options *Options) {
	bounce, said := cmp.Or(m.DeliveryStatus, &schemas.Bounce{}), text.ReadFailure(words)
	if failed := m.Header.First("x-failed-recipients"); bounce.Recipient == "" && failed != "" {
		address, _, _ := strings.Cut(failed, ",")
		bounce.Recipient, bounce.Action = header.Short(address), "failed"
	}
	returned := m.ReturnedHeader
	if len(returned) == 0 {
		returned = header.Parse(said.Returned)
	}
	var original schemas.EmailReceived
	returned.Fill(&original, maxAsked, maxAsked, options.Mailboxes, &defect.List{})
	fillRecipient(bounce, mail, &original, &said, options.Languages)
	if original.MessageID != mail.MessageID {
		bounce.MessageID = cmp.Or(original.MessageID, bounce.MessageID)
	}
	if named := cmp.Or(header.FirstID(m.Header.First("x-riferimento-message-id")), said.MessageID); named != mail.MessageID {
		bounce.MessageID = cmp.Or(bounce.MessageID, named)
	}
	mail.Thread = cmp.Or(slices.Concat(original.References, []string{original.InReplyTo, original.MessageID})...)
	if bounce.MessageID == "" {
		bounce.MessageID = messageSentTo(mail, m.Header, options)
	}
	bounce.MessageID = cmp.Or(bounce.MessageID, mail.InReplyTo)
	if mail.Thread == "" && len(mail.References) == 0 && mail.InReplyTo == "" {
		mail.Thread = bounce.MessageID
	}
	mail.Bounce = bounce
}

// fillRecipient adds what the words say where the report does not: which recipient has not got the
// mail, and the answer of the server that refused it. A recipient of the original mail comes first.
func fillRecipient(bounce *schemas.Bounce, mail, original *schemas.EmailReceived, said *text.Failure,
	languages *text.Languages,
) {
	if bounce.Recipient == "" {
		to, ours := slices.Concat(original.To, original.Cc), slices.Concat(mail.To, mail.Cc, mail.From)
		bounce.Recipient = header.Short(failedRecipient(said.Recipients, to, ours))
	}
	if bounce.Action != "" || bounce.Status != "" {
		return
	}
	bounce.Status, bounce.Diagnostic = said.Status, cmp.Or(bounce.Diagnostic, header.Short(said.Reply))
	subject := text.Normalize(mail.Subject)
	begins, _ := languages.BounceSubject(subject)
	if begins {
		subject, _, _ = strings.Cut(text.BehindTags(subject), ":") // behind the colon is the subject of the mail
	}
	switch isLate := text.IsDelay(subject); {
	case said.Permanent, said.Reply == "" && begins && !isLate:
		bounce.Action = "failed"
	case isLate:
		bounce.Action = "delayed"
	}
}

// failedRecipient returns the first of the addresses in the words of a bounce that is none of ours
// and one of those that the returned mail was for, else the first that is none of ours, else the only
// one that it was for, else one of ours.
func failedRecipient(named []string, to, ours []schemas.Address) string {
	among := func(list []schemas.Address, address string) bool {
		return slices.ContainsFunc(list,
			func(one schemas.Address) bool { return schemas.Mailbox(one.Address) == schemas.Mailbox(address) })
	}
	first := ""
	for _, one := range named {
		if among(to, one) {
			return one
		}
		if !among(ours, one) {
			first = cmp.Or(first, one)
		}
	}
	switch {
	case first == "" && len(to) == 1:
		return to[0].Address
	case first == "" && len(named) > 0:
		return named[0] // the mail came back to whom it was for
	}
	return first
}

// maxAsked bounds how many addresses of a mail Options.Address is asked about, and how many addresses and
// references of a returned mail are read.
const maxAsked = 50

// messageSentTo returns the Message-ID of the mail that an address stands for to
// which this one was sent, or "".
func messageSentTo(mail *schemas.EmailReceived, h header.Header, options *Options) string {
	if options.Address == nil {
		return ""
	}
	candidates := make([]string, 0, maxAsked)
	for i := range h {
		switch h[i].Name {
		case "delivered-to", "x-original-to", "envelope-to", "x-delivered-to":
			candidates = append(candidates, strings.Trim(h[i].Value, " <>"))
		}
	}
	for _, list := range [...][]schemas.Address{mail.To, mail.Cc} {
		for _, one := range list {
			candidates = append(candidates, one.Address)
		}
	}
	for _, address := range candidates[:min(len(candidates), maxAsked)] {
		if id, ok := options.Address(address); ok {
			return id
		}
	}
	return ""
}
