package mime

import (
	"context"
	"fmt"
	"io"

	"podium/schemas"
)

// Options says how to read a mail.
type Options struct {
	Sink   Sink
	Limits Limits // the zero value is DefaultLimits
	// Own reports whether a Message-ID is one that this system gave to a mail it
	// sent; nil is none. Such a mail has come back, and is never answered.
	Own func(messageID string) bool
	// Truncated says that raw is only the beginning of the mail.
	Truncated bool
	// AuthServIDs are the names by which the receiving server signs its
	// Authentication-Results (RFC 8601). Without any, nobody's are believed. The
	// server has to remove such fields from what it receives (section 5).
	AuthServIDs []string
	// DKIM verifies signatures here, when raw can be read again (io.ReadSeeker).
	DKIM DKIM
	// Address returns the Message-ID that an address of ours stands for, such as a
	// signed reply address or the envelope sender of a mail that was sent; nil
	// knows none.
	Address func(address string) (messageID string, found bool)
	// Languages are those that quotations are known in; nil is DefaultLanguages.
	Languages *Languages
}

// Parse reads one mail. It fills everything that the mail itself says; where
// and when it was received, and Raw, are the caller's to add. The error is of
// the reader, of the sink or of the context, never of the mail.
func Parse(ctx context.Context, raw io.Reader, options Options) (schemas.EmailReceived, error) {
	if options.Limits == (Limits{}) {
		options.Limits = DefaultLimits()
	}
	if options.Languages == nil {
		options.Languages = DefaultLanguages()
	}
	outcomes, err := options.DKIM.verify(ctx, raw, options.Limits.Header)
	if err != nil {
		return schemas.EmailReceived{}, fmt.Errorf("parse mail: %w", err)
	}
	found := &problems{}
	m, err := readMessage(ctx, raw, options.Sink, options.Limits, options.Languages, found)
	if err != nil {
		return schemas.EmailReceived{From: []schemas.Address{}, Class: schemas.MailHuman}, fmt.Errorf("parse mail: %w", err)
	}
	if options.Truncated {
		found.add(problemTruncated)
	}
	mail := schemas.EmailReceived{Attachments: m.attachments, Calendar: m.calendar}
	author := m.header.fill(&mail, options.Limits.Addresses, options.Limits.References, found)
	subject := fold(mail.Subject)
	fillText(&mail, m, subject, &options, found)
	judgeSender(&mail, m, subject, outcomes, author, &options)
	state(&mail, m.header, found)
	return mail, nil
}

// judgeSender fills what says who sent a mail and whether to believe it. An author
// whom another program may read otherwise is not who was authenticated.
func judgeSender(mail *schemas.EmailReceived, m *message, subject string, outcomes []signed, author authorship, options *Options) {
	e := &envelope{
		header: m.header, report: m.report, author: author.from, subject: subject, languages: options.Languages,
		own: options.Own != nil && mail.MessageID != "" && options.Own(mail.MessageID),
	}
	mail.Class, mail.Signals = classify(e)
	mail.Suppress = suppressed(e)
	switch {
	case mail.Class == schemas.MailBounce:
		fillBounce(mail, m, options)
	case len(mail.References) == 0 && mail.InReplyTo == "":
		mail.Thread = ownAddress(mail, m.header, options)
	}
	from := ""
	if len(mail.From) == 1 && m.header.count("from") == 1 && !author.from.disputed {
		from = mail.From[0].Address
	}
	auth, disagrees := authenticate(m.header, options.AuthServIDs, outcomes, from)
	mail.Auth, mail.Suspicious = auth, suspicions(mail, m.header, author, disagrees)
}

// state says how well a mail was understood. Without a header its class is one
// that nothing answers: nobody has sent it.
func state(mail *schemas.EmailReceived, h header, found *problems) {
	mail.Parse, mail.Problems = schemas.ParseOK, found.list
	if len(found.list) > 0 {
		mail.Parse = schemas.ParseDegraded
	}
	if len(h) > 0 {
		return
	}
	mail.Class, mail.Signals = schemas.MailAutoReply, []string{signalNoHeader}
	mail.Parse, mail.Problems = schemas.ParseDegraded, []string{problemHeader}
	if mail.Text == "" && mail.Quoted == "" && mail.Hidden == "" && len(mail.Attachments) == 0 {
		mail.Parse, mail.Problems = schemas.ParseFailed, []string{problemEmpty}
	}
}

// Unparsed is the event of a mail on which the parser itself failed. Nobody
// answers it by itself.
func Unparsed() schemas.EmailReceived {
	return schemas.EmailReceived{
		From: []schemas.Address{}, Class: schemas.MailAutoReply, Auth: schemas.MailAuth{Verdict: schemas.AuthNone},
		Parse: schemas.ParseFailed, Problems: []string{problemInternal},
	}
}

// fillText fills in the words, told apart by whose they are.
func fillText(mail *schemas.EmailReceived, m *message, subject string, options *Options, found *problems) {
	text, hidden := m.text()
	words, limits := options.Languages, options.Limits
	mail.Text, mail.Quoted, mail.Signature = words.splitText(text, occasion{
		forwarded: words.forwarded(subject),
		reply:     mail.InReplyTo != "" || len(mail.References) > 0 || words.answers(subject),
	})
	mail.Hidden = truncate(hidden, limits.Hidden)
	if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text {
		found.add(problemText)
		mail.Text, mail.Quoted = truncate(mail.Text, limits.Text), truncate(mail.Quoted, limits.Text)
	}
}
