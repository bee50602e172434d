package structure

import (
	"context"
	"errors"
	"io"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
	"podium/schemas"
)

// A Sink keeps attachments; bus.Artifacts is one.
type Sink interface {
	Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error)
}

// A Message is what the structure of one mail holds.
type Message struct {
	Header         header.Header
	Attachments    []schemas.MailAttachment
	Calendar       []schemas.CalendarEntry
	ReportType     string          // the kind of report that the mail is; "" is none
	DeliveryStatus *schemas.Bounce // what a delivery report says
	ReturnedHeader header.Header   // of the mail that a bounce returns

	walker *walker
}

// Text returns the words of the mail and those that it hides from its reader.
func (m *Message) Text() (visible, hidden string) { return m.walker.allText() }

// Read reads a mail once, from its beginning to its end or to a limit. The error is
// of the reader, of the sink or of the context, never of the mail.
func Read(ctx context.Context, raw io.Reader, sink Sink, limits Limits, languages *text.Languages, found *defect.List) (*Message, error) {
	bounded := &boundedReader{r: contextReader{ctx: ctx, r: raw}, left: limits.Message}
	lines := newLineReader(bounded)
	lines.begin()
	w := &walker{
		sink: sink, limits: limits, languages: languages, lines: lines, defects: found,
		budget: 2*limits.Text + limits.Hidden, allowance: fullAllowance(),
	}
	h := readHeader(lines, limits, found)
	if err := w.part(ctx, h, position{defaultType: "text/plain"}); err != nil && !errors.Is(err, errTooManyParts) {
		return nil, err
	}
	if lines.failure != nil {
		return nil, lines.failure
	}
	if bounded.passed {
		found.Add(defect.Truncated)
	}
	return &Message{
		Header: h, Attachments: w.attachments, Calendar: w.calendar, ReportType: w.reportType, DeliveryStatus: w.deliveryStatus, ReturnedHeader: w.returnedHeader, walker: w,
	}, nil
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
