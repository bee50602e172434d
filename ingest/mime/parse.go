package mime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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
	bounded := &boundedReader{r: contextReader{ctx: ctx, r: raw}, left: options.Limits.Message}
	lines := newLineReader(bounded)
	lines.begin()
	w := &walker{
		sink: options.Sink, limits: options.Limits, languages: options.Languages, lines: lines, problems: found,
		budget: 2*options.Limits.Text + options.Limits.Hidden, allowance: fullAllowance(),
	}
	mail := schemas.EmailReceived{From: []schemas.Address{}, Class: schemas.MailHuman}
	h := readHeader(lines, options.Limits, found)
	if err := w.part(ctx, h, place{defaultType: "text/plain"}); err != nil && !errors.Is(err, errEnough) {
		return mail, fmt.Errorf("parse mail: %w", err)
	}
	if lines.failure != nil {
		return mail, fmt.Errorf("parse mail: %w", lines.failure)
	}
	if options.Truncated || bounded.passed {
		found.add(problemTruncated)
	}
	author := readFields(&mail, h, options.Limits, found)
	fillText(&mail, w, options.Limits)
	mail.Attachments, mail.Calendar = w.attachments, w.calendar
	judgeSender(&mail, h, w, outcomes, author, &options)
	state(&mail, h, found)
	return mail, nil
}

// An authorship is what From and Reply-To say beyond their addresses.
type authorship struct {
	from, replyTo reading
}

// judgeSender fills what says who sent a mail and whether to believe it. An author
// whom another program may read otherwise is not who was authenticated.
func judgeSender(mail *schemas.EmailReceived, h header, w *walker, outcomes []signed, author authorship, options *Options) {
	local, from := author.from.bare, ""
	if len(mail.From) > 0 {
		local, _, _ = strings.Cut(mail.From[0].Address, "@")
	}
	if len(mail.From) == 1 && h.count("from") == 1 && !author.from.disputed {
		from = domainOf(mail.From[0].Address)
	}
	e := &envelope{
		header: h, report: w.report, from: strings.ToLower(local), subject: fold(mail.Subject), senderless: senderless(h),
		languages: options.Languages,
		own:       options.Own != nil && mail.MessageID != "" && options.Own(mail.MessageID),
	}
	mail.Class, mail.Signals = classify(e)
	mail.Suppress = suppressed(e)
	switch {
	case mail.Class == schemas.MailBounce:
		fillBounce(mail, h, w, options)
	case len(mail.References) == 0 && mail.InReplyTo == "":
		mail.Thread = ownAddress(mail, h, options)
	}
	results, _ := authResults(h, options.AuthServIDs)
	auth, disagrees := secondOpinion(judge(results, from), outcomes, from)
	mail.Auth, mail.Suspicious = auth, suspicions(mail, h, author)
	if disagrees {
		mail.Suspicious = append(mail.Suspicious, suspiciousDKIM)
	}
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

// readFields fills what the header says. Answers go nowhere that a Reply-To names
// in a way that can be read differently.
func readFields(mail *schemas.EmailReceived, h header, limits Limits, found *problems) authorship {
	for _, name := range [...]string{"from", "subject", "message-id", "content-type"} {
		if h.count(name) > 1 {
			found.add(problemDuplicate)
		}
	}
	mail.MessageID = firstID(h.first("message-id"))
	mail.InReplyTo = firstID(h.first("in-reply-to"))
	mail.References = references(h.first("references"), limits, found)
	left := limits.Addresses
	author := authorship{from: readAddresses(h, "from", &left, found), replyTo: readAddresses(h, "reply-to", &left, found)}
	mail.From = slices.Concat([]schemas.Address{}, author.from.list)
	if !author.replyTo.disputed {
		mail.ReplyTo = author.replyTo.list
	}
	mail.To = readAddresses(h, "to", &left, found).list
	mail.Cc = readAddresses(h, "cc", &left, found).list
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
	return author
}

func fillText(mail *schemas.EmailReceived, w *walker, limits Limits) {
	text, hidden := w.allText()
	subject := fold(mail.Subject)
	mail.Text, mail.Quoted, mail.Signature = w.languages.splitText(text, occasion{
		forwarded: w.languages.forwarded(subject),
		reply:     mail.InReplyTo != "" || len(mail.References) > 0 || w.languages.answers(subject),
	})
	mail.Hidden = truncate(hidden, limits.Hidden)
	if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text {
		w.problems.add(problemText)
		mail.Text, mail.Quoted = truncate(mail.Text, limits.Text), truncate(mail.Quoted, limits.Text)
	}
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

// A boundedReader ends before its limit is passed, and notes that it did.
type boundedReader struct {
	r      io.Reader
	left   int64
	passed bool
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		var more [1]byte
		n, err := b.r.Read(more[:])
		if b.passed = b.passed || n > 0; b.passed || errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, err
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
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
