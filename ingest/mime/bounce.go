package mime

import (
	"bytes"
	"strings"

	"podium/schemas"
)

// readReport reads a delivery report (RFC 3464, section 2; RFC 6533): a block of
// fields about the mail, then one for each recipient.
func (w *walker) readReport(data []byte) *schemas.Bounce {
	lines := newLineReader(bytes.NewReader(data))
	bounce := &schemas.Bounce{}
	first := true
	for range maxEntries + 2 {
		h := readHeader(lines, w.limits, &problems{})
		if len(h) == 0 {
			break
		}
		if id := h.first("original-envelope-id"); id != "" {
			bounce.EnvelopeID = shortText(id)
		}
		if id := firstID(h.first("x-original-message-id")); id != "" {
			bounce.MessageID = id
		}
		if !h.has("final-recipient") && !h.has("original-recipient") && !h.has("action") && !h.has("status") {
			continue
		}
		one := delivery(h)
		if first {
			bounce.Delivery, first = one, false
		} else if len(bounce.Others) < maxEntries {
			bounce.Others = append(bounce.Others, one)
		}
	}
	return bounce
}

// delivery reads the fields about one recipient.
func delivery(h header) schemas.Delivery {
	recipient := h.first("original-recipient")
	if recipient == "" {
		recipient = h.first("final-recipient")
	}
	if _, address, typed := strings.Cut(recipient, ";"); typed {
		recipient = address
	}
	diagnostic := h.first("diagnostic-code")
	if kind, text, typed := strings.Cut(diagnostic, ";"); typed && !strings.Contains(kind, " ") {
		diagnostic = text
	}
	one := schemas.Delivery{
		Recipient: shortText(strings.Trim(stripComment(recipient), " <>")), Status: statusCode(h.first("status")), Diagnostic: shortText(diagnostic),
	}
	switch action := strings.ToLower(stripComment(h.first("action"))); action {
	case "failed", "delayed", "delivered", "relayed", "expanded":
		one.Action = action
	}
	return one
}

// statusCode returns the code of RFC 3463 that a text begins with, or "".
func statusCode(text string) string {
	code := strings.TrimRight(strings.SplitN(strings.TrimSpace(text), " ", 2)[0], ".")
	numbers := strings.Split(code, ".")
	if len(numbers) != 3 || !strings.Contains("245", numbers[0]) {
		return ""
	}
	for _, number := range numbers {
		if number == "" || len(number) > 3 || strings.Trim(number, "0123456789") != "" {
			return ""
		}
	}
	return code
}

func shortText(text string) string {
	return truncate(words(text, &problems{}), maxEntryBytes)
}

// fillBounce adds what is known of the mail that a bounce reports on: from the
// report, from the mail that was returned or its header, from the words of the
// programs that write no report, and from the address that it was sent to.
func fillBounce(mail *schemas.EmailReceived, h header, w *walker, options *Options) {
	bounce := w.deliveries
	if bounce == nil {
		bounce = &schemas.Bounce{}
	}
	if failed := h.first("x-failed-recipients"); bounce.Recipient == "" && failed != "" {
		address, _, _ := strings.Cut(failed, ",")
		bounce.Recipient, bounce.Action = shortText(address), "failed"
	}
	returned := w.returned
	if len(returned) == 0 {
		returned = w.headerInText(mail)
	}
	if id := firstID(returned.first("message-id")); id != "" {
		bounce.MessageID = id
	}
	mail.Thread = root(returned)
	if bounce.MessageID == "" {
		bounce.MessageID = ownAddress(mail, h, options)
	}
	if bounce.MessageID == "" {
		bounce.MessageID = mail.InReplyTo
	}
	if mail.Thread == "" && len(mail.References) == 0 && mail.InReplyTo == "" {
		mail.Thread = bounce.MessageID
	}
	mail.Bounce = bounce
}

// headerInText finds the header of the returned mail in the words of a bounce
// that has no parts, as qmail and others write it.
func (w *walker) headerInText(mail *schemas.EmailReceived) header {
	for _, text := range [...]string{mail.Text, mail.Quoted} {
		at := strings.Index(strings.ToLower(text), "\nmessage-id:")
		if at < 0 {
			continue
		}
		if begin := strings.LastIndex(text[:at], "\n\n"); begin >= 0 {
			at = begin + 1
		}
		if h := w.headerOf([]byte(text[at+1:])); h.has("message-id") {
			return h
		}
	}
	return nil
}

// root returns the oldest id that a header names.
func root(h header) string {
	for _, name := range [...]string{"references", "in-reply-to", "message-id"} {
		if id := firstID(h.first(name)); id != "" {
			return id
		}
	}
	return ""
}

// maxAsked bounds how many addresses of a mail Options.Address is asked about.
const maxAsked = 50

// ownAddress returns the Message-ID of the mail that an address stands for to
// which this one was sent, or "".
func ownAddress(mail *schemas.EmailReceived, h header, options *Options) string {
	if options.Address == nil {
		return ""
	}
	candidates := make([]string, 0, maxAsked)
	for i := range h {
		switch h[i].name {
		case "delivered-to", "x-original-to", "envelope-to", "x-delivered-to":
			candidates = append(candidates, strings.Trim(h[i].value, " <>"))
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
