package mailparse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// A Sink keeps attachments; bus.Artifacts is one.
type Sink interface {
	Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error)
}

// Options says how to read a mail.
type Options struct {
	Sink   Sink
	Limits Limits // the zero value is DefaultLimits
	// Own reports whether a Message-ID is one that this system gave to a mail it
	// sent; nil is none. Such a mail has come back, and is never answered.
	Own func(messageID string) bool
	// Truncated says that raw is only the beginning of the mail.
	Truncated bool
}

// Parse reads one mail. It fills everything that the mail itself says; where
// and when it was received, and Raw, are the caller's to add. The error is of
// the reader, of the sink or of the context, never of the mail.
func Parse(ctx context.Context, raw io.Reader, options Options) (schemas.EmailReceived, error) {
	if options.Limits == (Limits{}) {
		options.Limits = DefaultLimits()
	}
	found := &problems{}
	lines := newLineReader(contextReader{ctx: ctx, r: raw})
	w := &walker{
		sink: options.Sink, limits: options.Limits, lines: lines, problems: found,
		budget: 2*options.Limits.Text + options.Limits.Hidden,
	}
	if options.Truncated {
		found.add(problemTruncated)
	}
	mail := schemas.EmailReceived{From: []schemas.Address{}, Class: schemas.MailHuman}
	h := readHeader(lines, options.Limits, found)
	if len(h) == 0 {
		found.list = []string{problemEmpty}
	}
	if err := w.part(ctx, h, place{defaultType: "text/plain"}); err != nil && !errors.Is(err, errEnough) {
		return mail, fmt.Errorf("parse mail: %w", err)
	}
	if lines.failure != nil {
		return mail, fmt.Errorf("parse mail: %w", lines.failure)
	}
	readFields(&mail, h, options.Limits, found)
	fillText(&mail, w, options.Limits)
	mail.Attachments = w.attachments
	mail.Class = classify(h, w.report, options.Own != nil && mail.MessageID != "" && options.Own(mail.MessageID))
	mail.Problems = found.list
	switch {
	case len(h) == 0:
		mail.Parse, mail.Class = schemas.ParseFailed, schemas.MailAutoReply
	case len(found.list) > 0:
		mail.Parse = schemas.ParseDegraded
	default:
		mail.Parse = schemas.ParseOK
	}
	return mail, nil
}

// Unparsed is the event of a mail on which the parser itself failed. Nobody
// answers it by itself.
func Unparsed() schemas.EmailReceived {
	return schemas.EmailReceived{
		From: []schemas.Address{}, Class: schemas.MailAutoReply,
		Parse: schemas.ParseFailed, Problems: []string{problemInternal},
	}
}

// readFields fills what the header says.
func readFields(mail *schemas.EmailReceived, h header, limits Limits, found *problems) {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.count(name) > 1 {
			found.add(problemDuplicate)
		}
	}
	mail.MessageID = firstID(h.first("message-id"))
	mail.InReplyTo = firstID(h.first("in-reply-to"))
	mail.References = references(h.first("references"), limits, found)
	mail.From = slices.Concat([]schemas.Address{}, addresses(h, "from", limits, found))
	mail.ReplyTo = addresses(h, "reply-to", limits, found)
	mail.To = addresses(h, "to", limits, found)
	mail.Cc = addresses(h, "cc", limits, found)
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
}

func fillText(mail *schemas.EmailReceived, w *walker, limits Limits) {
	text, hidden := w.allText()
	mail.Text, mail.Quoted = splitText(text)
	mail.Hidden = truncate(hidden, limits.Hidden)
	if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text {
		w.problems.add(problemText)
		mail.Text, mail.Quoted = truncate(mail.Text, limits.Text), truncate(mail.Quoted, limits.Text)
	}
}

// parseDate reads a date of RFC 5322 and the deviations that are common. A date
// outside the years 1970 to 9999 is none.
func parseDate(value string) (time.Time, bool) {
	date, err := mail.ParseDate(value)
	for _, layout := range [...]string{time.RFC3339, time.ANSIC, time.UnixDate, "2 Jan 2006 15:04:05", "Mon, 2 Jan 2006 15:04:05"} {
		if err == nil {
			break
		}
		date, err = time.Parse(layout, strings.TrimSpace(value))
	}
	if err != nil || date.Year() < 1970 || date.Year() > 9999 {
		return time.Time{}, false
	}
	return date.UTC(), true
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

// A contextReader ends with its context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader has no room for one
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
