package structure

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// maxHeaderOnly bounds what is kept of a mail that is not read, in bytes.
const maxHeaderOnly = 4 << 10

// inspection returns what looks at the part while it passes.
func (w *walker) inspection(part *leafPart) *inspection {
	limit := maxSniffed
	switch {
	case part.isMail() && w.nested < maxNested && w.allowance.mails > 0:
		limit = max(limit, w.allowance.bytes)
	case part.isMail():
		limit = maxHeaderOnly
	case part.isDeliveryReport(), part.isHeader(), part.isCalendar(), part.inline && w.fallback == nil:
		limit = maxReport
	}
	return &inspection{limit: limit}
}

// understand adds what the bytes of a part say to its attachment and to the mail.
func (w *walker) understand(ctx context.Context, part *leafPart, seen *inspection, attachment *schemas.MailAttachment) {
	attachment.Sniffed = sniff(seen.head)
	if part.inline && w.fallback == nil && strings.HasPrefix(attachment.Sniffed, "text/") {
		w.fallback, w.fallen = part, seen.head
	}
	switch {
	case attachment.Sniffed == "application/zip":
		attachment.Entries = seen.entries(w.allowance.entries)
		w.allowance.entries -= len(attachment.Entries)
	case part.isMail():
		if w.returned == nil {
			w.returned = HeaderOf(seen.head, w.limits)
		}
		attachment.Messages = w.inside(ctx, seen.head)
	case part.isHeader():
		w.returned = HeaderOf(seen.head, w.limits)
	case part.isDeliveryReport():
		w.deliveries = readReport(seen.head, w.limits)
	case part.isCalendar():
		entries := readCalendar(charset.ToUTF8(seen.head, part.charset, w.problems), w.allowance.entry)
		w.allowance.entry -= len(entries)
		w.calendar = append(w.calendar, entries...)
	}
}

// inside reads a mail that was attached, and the ones in it, from its beginning.
func (w *walker) inside(ctx context.Context, data []byte) []schemas.AttachedMail {
	if w.nested == maxNested || w.allowance.mails == 0 || len(data) == 0 {
		return nil
	}
	w.allowance.mails--
	w.allowance.bytes -= min(len(data), w.allowance.bytes)
	limits := w.limits
	limits.Parts, limits.Addresses = min(limits.Parts, maxEntries), min(limits.Addresses, maxEntries)
	inner := &walker{
		sink: measuringSink{}, limits: limits, languages: w.languages, lines: newLineReader(bytes.NewReader(data)), problems: &defect.Problems{},
		budget: w.allowance.text, allowance: w.allowance, nested: w.nested + 1,
	}
	h := readHeader(inner.lines, limits, inner.problems)
	if err := inner.part(ctx, h, place{defaultType: "text/plain"}); err != nil && !errors.Is(err, errEnough) {
		return nil // nothing here can fail: the bytes are in memory and none are kept
	}
	if w.deliveries == nil && inner.deliveries != nil {
		w.deliveries, w.returned = inner.deliveries, inner.returned // a report that a gateway has passed on
	}
	var mail schemas.EmailReceived
	h.Fill(&mail, limits.Addresses, limits.References, inner.problems)
	text, _ := inner.allText()
	one := schemas.AttachedMail{
		Depth: inner.nested, MessageID: mail.MessageID, From: mail.From, Subject: mail.Subject, Date: mail.Date,
		Text: charset.Truncate(text, w.allowance.text),
	}
	w.allowance.text -= len(one.Text)
	if len(one.From) == 0 {
		one.From = nil
	}
	messages := []schemas.AttachedMail{one}
	for i := range inner.attachments {
		part := &inner.attachments[i]
		messages[0].Attachments = append(messages[0].Attachments, schemas.AttachedPart{
			Name: part.Name, MediaType: part.MediaType, Size: part.Artifact.Size,
		})
		messages = append(messages, part.Messages...)
	}
	return messages
}

// A measuringSink keeps nothing: the bytes are in the attached mail itself.
type measuringSink struct{}

// Put implements Sink.
func (measuringSink) Put(_ context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	n, err := io.Copy(io.Discard, r)
	return schemas.Artifact{Size: n, MediaType: mediaType}, err
}
