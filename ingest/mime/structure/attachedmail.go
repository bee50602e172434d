package structure

import (
	"bytes"
	"context"
	"errors"
	"io"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// attachedMails reads a mail that was attached, and the ones in it, from its beginning.
func (w *walker) attachedMails(ctx context.Context, data []byte) []schemas.AttachedMail {
	if w.nested == maxNested || w.allowance.mails == 0 || len(data) == 0 {
		return nil
	}
	w.allowance.mails--
	w.allowance.bytes -= min(len(data), w.allowance.bytes)
	limits := w.limits
	limits.Parts, limits.Addresses = min(limits.Parts, maxEntries), min(limits.Addresses, maxEntries)
	inner := &walker{
		Message: Message{languages: w.languages, defects: &defect.List{}},
		sink:    measuringSink{}, limits: limits, lines: newLineReader(bytes.NewReader(data)),
		budget: w.allowance.text, allowance: w.allowance, nested: w.nested + 1,
	}
	h := readHeader(inner.lines, limits, inner.defects)
	if err := inner.part(ctx, h, position{defaultType: "text/plain"}); err != nil && !errors.Is(err, errTooManyParts) {
		return nil // nothing here can fail: the bytes are in memory and none are kept
	}
	if w.DeliveryStatus == nil && inner.DeliveryStatus != nil {
		w.DeliveryStatus, w.ReturnedHeader = inner.DeliveryStatus, inner.ReturnedHeader // a report that a gateway has passed on
	}
	var mail schemas.EmailReceived
	h.DecodeRaw(inner.defects)
	h.Fill(&mail, limits.Addresses, limits.References, nil, inner.defects)
	text, _ := inner.Text()
	one := schemas.AttachedMail{
		Depth: inner.nested, MessageID: mail.MessageID, From: mail.From, Subject: mail.Subject, Date: mail.Date,
		Text: charset.Truncate(text, w.allowance.text),
	}
	w.allowance.text -= len(one.Text)
	if len(one.From) == 0 {
		one.From = nil
	}
	messages := []schemas.AttachedMail{one}
	for i := range inner.Attachments {
		part := &inner.Attachments[i]
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
