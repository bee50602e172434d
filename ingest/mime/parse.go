package mime

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/structure"
	"podium/ingest/mime/text"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

// Options says how to read a mail.
type Options struct {
	Sink   structure.Sink
	Limits structure.Limits // the zero value is DefaultLimits
	// Own reports whether a Message-ID is one that this system gave to a mail it
	// sent; nil is none. Such a mail has come back, and is never answered.
	Own func(messageID string) bool
	// Mailboxes are addresses of ours. One that stands where the id of a mail should
	// is no conversation.
	Mailboxes []string
	// Truncated says that raw is only the beginning of the mail.
	Truncated bool
	// AuthServIDs are the names by which the receiving server signs its
	// Authentication-Results (RFC 8601). Without any, nobody's are believed. The
	// server has to remove such fields from what it receives (section 5).
	AuthServIDs []string
	// DKIM verifies signatures here, when raw can be read again (io.ReadSeeker).
	DKIM trust.DKIM
	// Address returns the Message-ID that an address of ours stands for, such as a
	// signed reply address or the envelope sender of a mail that was sent; nil
	// knows none.
	Address func(address string) (messageID string, found bool)
	// Languages are those that quotations are known in; nil is DefaultLanguages.
	Languages *text.Languages
}

// Parse reads one mail. It fills everything that the mail itself says; where
// and when it was received, and Raw, are the caller's to add. The error is of
// the reader, of the sink or of the context, never of the mail.
func Parse(ctx context.Context, raw io.Reader, options Options) (schemas.EmailReceived, error) {
	options.Limits = cmp.Or(options.Limits, structure.DefaultLimits())
	options.Languages = cmp.Or(options.Languages, text.DefaultLanguages())
	outcomes, err := options.DKIM.Verify(ctx, raw, options.Limits.Header)
	if err != nil {
		return schemas.EmailReceived{}, fmt.Errorf("parse mail: %w", err)
	}
	found := &defect.List{}
	m, err := structure.Read(ctx, raw, options.Sink, options.Limits, options.Languages, found)
	if err != nil {
		return schemas.EmailReceived{From: []schemas.Address{}, Class: schemas.MailHuman}, fmt.Errorf("parse mail: %w", err)
	}
	if options.Truncated {
		found.Add(defect.Truncated)
	}
	mail := schemas.EmailReceived{Attachments: m.Attachments, Calendar: m.Calendar}
	author := m.Header.Fill(&mail, options.Limits.Addresses, options.Limits.References, options.Mailboxes, found)
	subject := text.Normalize(mail.Subject)
	words := fillText(&mail, m, subject, &options, found)
	judgeSender(&mail, m, subject, words, outcomes, author, &options)
	markCalendarReply(&mail)
	state(&mail, m.Header, found)
	return mail, nil
}

// judgeSender fills what says who sent a mail and whether to believe it. An author
// whom another program may read otherwise is not who was authenticated.
func judgeSender(mail *schemas.EmailReceived, m *structure.Message, subject, words string, outcomes []trust.Signature,
	author header.Authors, options *Options,
) {
	e := &trust.Evidence{
		Header: m.Header, ReportType: m.ReportType, ReportPart: m.ReportPart, Returned: m.ReturnedHeader, Author: author.From,
		Recipients: slices.Concat(mail.To, mail.Cc), Subject: subject, Words: words, Languages: options.Languages,
		OwnMessageID: options.Own != nil && mail.MessageID != "" && options.Own(mail.MessageID),
	}
	mail.Class, mail.Signals = trust.Classify(e)
	mail.Suppress = trust.Suppressed(e)
	switch {
	case mail.Class == schemas.MailBounce:
		fillBounce(mail, m, words, options)
	case len(mail.References) == 0 && mail.InReplyTo == "":
		mail.Thread = messageSentTo(mail, m.Header, options)
	}
	from := ""
	if len(mail.From) == 1 && m.Header.Count("from") == 1 && !author.From.Ambiguous {
		from = mail.From[0].Address
	}
	auth, disagrees := trust.Authenticate(m.Header, options.AuthServIDs, outcomes, from)
	mail.Auth, mail.Suspicious = auth, trust.Suspicions(mail, m.Header, author, disagrees)
}

// state says how well a mail was understood. Without a header nothing says who
// wrote it, so that it starts nothing.
func state(mail *schemas.EmailReceived, h header.Header, found *defect.List) {
	mail.Parse, mail.Problems = schemas.ParseOK, found.Names
	if len(found.Names) > 0 {
		mail.Parse = schemas.ParseDegraded
	}
	if len(h) > 0 {
		return
	}
	mail.Class, mail.Signals = schemas.MailUnknown, []string{trust.SignalNoHeader}
	mail.Parse, mail.Problems = schemas.ParseDegraded, []string{defect.NoHeader}
	if mail.Text == "" && mail.Quoted == "" && mail.Hidden == "" && len(mail.Attachments) == 0 {
		mail.Parse, mail.Problems = schemas.ParseFailed, []string{defect.Empty}
	}
}

// Unparsed is the event of a mail on which the parser itself failed. It starts nothing.
func Unparsed() schemas.EmailReceived {
	return schemas.EmailReceived{
		From: []schemas.Address{}, Class: schemas.MailUnknown, Auth: schemas.MailAuth{Verdict: schemas.AuthNone},
		Parse: schemas.ParseFailed, Problems: []string{defect.Internal},
	}
}

// fillText fills in the words, told apart by whose they are, and returns all that a reader sees.
func fillText(mail *schemas.EmailReceived, m *structure.Message, subject string, options *Options,
	found *defect.List,
) string {
	words, hidden := m.Text()
	languages, limits := options.Languages, options.Limits
	about := languages.PurposeOf(subject, mail.InReplyTo != "" || len(mail.References) > 0, words)
	mail.Text, mail.Quoted, mail.Signature = languages.Split(words, about)
	mail.Hidden = charset.Truncate(hidden, limits.Hidden)
	if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text {
		found.Add(defect.TextTooLong)
		mail.Text, mail.Quoted = charset.Truncate(mail.Text, limits.Text), charset.Truncate(mail.Quoted, limits.Text)
	}
	return words
}
