package structure

import (
	"context"
	"errors"
	"io"
	"slices"

	"podium/ingest/mime/charset"
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
	ReportType     string          // the kind of report that the whole mail is; "" is none
	ReportPart     string          // the kind of the first report among other parts; "" is none
	DeliveryStatus *schemas.Bounce // what a delivery report says
	ReturnedHeader header.Header   // of the mail that a bounce returns

	languages    *text.Languages
	defects      *defect.List
	segments     []text.Segment
	fallback     *attachmentPart // the first inline text that has a file's name
	fallbackHead []byte          // its beginning
}

// Text returns the words of the mail and those that it hides from its reader. The first text
// that came inline as a file is what the mail says, where there is nothing else, or in front of
// the other words where the mail begins with it; it stays an attachment as well.
func (m *Message) Text() (visible, hidden string) {
	if m.fallback == nil {
		return m.languages.Join(m.segments)
	}
	if m.fallback.opens || !slices.ContainsFunc(m.segments, func(one text.Segment) bool { return !one.Empty() }) {
		others := m.segments
		m.segments = nil
		m.add(charset.ToUTF8(m.fallbackHead, m.fallback.charset, m.defects), m.fallback.mediaType, position{})
		m.segments, m.fallback = append(m.segments, others...), nil
	}
	return m.languages.Join(m.segments)
}

// add puts words behind those of the same alternative, or behind all others.
func (m *Message) add(words, mediaType string, at position) {
	last := len(m.segments) - 1
	if at.alternative == 0 || last < 0 || m.segments[last].Alternative != at.alternative {
		m.segments = append(m.segments, text.Segment{Alternative: at.alternative})
		last++
	}
	if mediaType == "text/html" {
		m.segments[last].HTML = append(m.segments[last].HTML, words)
	} else {
		m.segments[last].Plain = append(m.segments[last].Plain, words)
	}
}

// Read reads a mail once, from its beginning to its end or to a limit. The error is
// of the reader, of the sink or of the context, never of the mail.
func Read(ctx context.Context, raw io.Reader, sink Sink, limits Limits, languages *text.Languages, found *defect.List) (*Message, error) {
	bounded := &boundedReader{r: contextReader{ctx: ctx, r: raw}, left: limits.Message}
	lines := newLineReader(bounded)
	lines.begin()
	w := &walker{
		Message: Message{Header: readHeader(lines, limits, found), languages: languages, defects: found},
		sink:    sink, limits: limits, lines: lines, budget: 2*limits.Text + limits.Hidden, allowance: fullAllowance(),
	}
	if err := w.part(ctx, w.Header, position{defaultType: "text/plain"}); err != nil && !errors.Is(err, errTooManyParts) {
		return nil, err
	}
	if lines.failure != nil {
		return nil, lines.failure
	}
	w.Header.DecodeRaw(found) // now that all parts have named their sets
	if bounded.passed {
		found.Add(defect.Truncated)
	}
	return &w.Message, nil
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
