package mime

import (
	"cmp"
	"strings"

	"podium/ingest/mime/header"
	"podium/ingest/mime/structure"
	"podium/schemas"
)

// fillBounce adds what is known of the mail that a bounce reports on: from the
// report, from the mail that was returned or its header, from the words of the
// programs that write no report, and from the address that it was sent to.
func fillBounce(mail *schemas.EmailReceived, m *structure.Message, options *Options) {
	bounce := cmp.Or(m.DeliveryStatus, &schemas.Bounce{})
	if failed := m.Header.First("x-failed-recipients"); bounce.Recipient == "" && failed != "" {
		address, _, _ := strings.Cut(failed, ",")
		bounce.Recipient, bounce.Action = header.Short(address), "failed"
	}
	returned := m.ReturnedHeader
	if len(returned) == 0 {
		returned = headerInText(mail, options.Limits)
	}
	if id := header.FirstID(returned.First("message-id")); id != "" {
		bounce.MessageID = id
	}
	mail.Thread = threadRoot(returned)
	if bounce.MessageID == "" {
		bounce.MessageID = messageSentTo(mail, m.Header, options)
	}
	bounce.MessageID = cmp.Or(bounce.MessageID, mail.InReplyTo)
	if mail.Thread == "" && len(mail.References) == 0 && mail.InReplyTo == "" {
		mail.Thread = bounce.MessageID
	}
	mail.Bounce = bounce
}

// headerInText finds the header of the returned mail in the words of a bounce
// that has no parts, as qmail and others write it.
func headerInText(mail *schemas.EmailReceived, limits structure.Limits) header.Header {
	for _, text := range [...]string{mail.Text, mail.Quoted} {
		at := strings.Index(strings.ToLower(text), "\nmessage-id:")
		if at < 0 {
			continue
		}
		if begin := strings.LastIndex(text[:at], "\n\n"); begin >= 0 {
			at = begin + 1
		}
		if h := structure.ParseHeader([]byte(text[at+1:]), limits); h.Has("message-id") {
			return h
		}
	}
	return nil
}

// threadRoot returns the oldest id that a header names.
func threadRoot(h header.Header) string {
	for _, name := range [...]string{"references", "in-reply-to", "message-id"} {
		if id := header.FirstID(h.First(name)); id != "" {
			return id
		}
	}
	return ""
}

// maxAsked bounds how many addresses of a mail Options.Address is asked about.
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
