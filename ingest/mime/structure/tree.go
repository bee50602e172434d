package structure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
	"podium/ingest/mime/transfer"
)

// A walker reads the parts of one mail in order.
type walker struct {
	Message

	sink      Sink
	limits    Limits
	lines     *lineReader
	parts     int
	budget    int // bytes of text that are still kept
	allowance *allowance
	nested    int // mails around this one

	unnamedReport bool // the whole mail is a report that does not name its kind
}

// errTooManyParts ends a walk at the limit of parts.
var errTooManyParts = errors.New("enough parts")

// A position is where in the tree a part stands.
type position struct {
	depth       int
	alternative int  // number of the outermost enclosing multipart/alternative; 0 is none
	isForm      bool // directly inside a multipart/alternative: one form of what the mail says
	defaultType string
}

func (w *walker) part(ctx context.Context, h header.Header, at position) error {
	h.NoteSets(w.defects)
	if at.depth == 0 {
		h = slices.Clone(h) // that of the mail waits for the sets that its parts name
	}
	h.DecodeRaw(w.defects)
	contentType := header.ParseParameters(h.First("content-type"), w.defects)
	mediaType := w.mediaType(contentType.Value, at.defaultType)
	if !strings.HasPrefix(mediaType, "multipart/") {
		return w.leaf(ctx, h, mediaType, contentType.Parameters, at)
	}
	if at.depth >= w.limits.Depth {
		w.defects.Add(defect.TooDeep)
		return w.leaf(ctx, h, "application/octet-stream", nil, at)
	}
	boundary := contentType.Parameters["boundary"]
	if boundary == "" || len(boundary) > maxBoundary {
		w.defects.Add(defect.NoBoundary)
		if boundary = guessBoundary(w.lines.peek(4 * lookAhead)); boundary == "" {
			return w.leaf(ctx, h, "text/plain", nil, at)
		}
	}
	if mediaType == "multipart/report" {
		w.noteReport(strings.ToLower(strings.TrimSpace(contentType.Parameters["report-type"])), at)
	}
	w.parts++
	inside := position{depth: at.depth + 1, alternative: at.alternative, defaultType: "text/plain"}
	if mediaType == "multipart/alternative" {
		inside.isForm = true
		if at.alternative == 0 {
			inside.alternative = w.parts
		}
	}
	if mediaType == "multipart/digest" {
		inside.defaultType = "message/rfc822"
	}
	return w.encodedMultipart(h.First("content-transfer-encoding"), boundary, func() error { return w.multipart(ctx, boundary, inside) })
}

// noteReport notes a report by its kind: a mail is one as a whole, or has one among its parts. The
// report that a whole mail is has the kind of its parts where it names none.
func (w *walker) noteReport(kind string, at position) {
	switch {
	case at.depth == 0 && kind == "":
		w.unnamedReport = true
	case at.depth == 0, at.depth == 1 && w.unnamedReport && w.ReportType == "":
		w.ReportType = kind
	default:
		w.ReportPart = cmp.Or(w.ReportPart, kind)
	}
}

// encodedMultipart reads a multipart. One that is encoded as a whole, which RFC 2045
// forbids in section 6.4, is read from what it says when it is decoded.
func (w *walker) encodedMultipart(encoding, boundary string, read func() error) error {
	switch strings.ToLower(strings.Trim(encoding, " \t\"'")) {
	case "base64", "quoted-printable":
	default:
		return read()
	}
	if bytes.Contains(w.lines.peek(4*lookAhead), []byte("--"+boundary)) {
		return read()
	}
	w.defects.Add(defect.EncodedMultipart)
	outer := w.lines
	w.lines = newLineReader(transfer.NewReader(encoding, outer.body(), w.defects))
	err := read()
	if w.lines.failure != nil && err == nil {
		err = w.lines.failure
	}
	w.lines = outer
	return err
}

func (w *walker) mediaType(declared, standard string) string {
	if declared == "" {
		return standard
	}
	kind, name, found := strings.Cut(declared, "/")
	if !found || kind == "" || name == "" || strings.ContainsAny(declared, " \t\"<>@,") || len(declared) > 127 {
		w.defects.Add(defect.ContentType)
		if kind == "multipart" {
			return "multipart/mixed"
		}
		return standard
	}
	return charset.Clean(declared)
}

// multipart reads the parts between delimiters, then what stands behind the last.
func (w *walker) multipart(ctx context.Context, boundary string, inside position) error {
	level := w.lines.open(boundary)
	defer w.lines.close(level)
	preamble, err := io.ReadAll(io.LimitReader(w.lines.body(), int64(w.limits.Text)))
	if err == nil {
		err = w.skip()
	}
	if err != nil {
		return err
	}
	for parts := 0; ; parts++ {
		switch {
		case !w.lines.stopped, w.lines.level < level:
			w.defects.Add(defect.NoClosingBoundary)
			if parts == 0 {
				w.noParts(preamble, inside)
			}
			return nil
		case w.lines.final:
			if parts == 0 {
				w.noParts(preamble, inside)
			}
			w.lines.resume()
			w.lines.close(level)
			return w.skip()
		}
		w.lines.resume()
		if w.parts++; w.parts > w.limits.Parts {
			w.defects.Add(defect.TooManyParts)
			return errTooManyParts
		}
		if err := w.part(ctx, readHeader(w.lines, w.limits, w.defects), inside); err != nil {
			return err
		}
		if err := w.skip(); err != nil {
			return err
		}
	}
}

// noParts takes what stands before the first delimiter for the text when there
// is no delimiter at all, as when the boundary of the header is not that of the body.
func (w *walker) noParts(preamble []byte, inside position) {
	w.defects.Add(defect.NoParts)
	w.segments = append(w.segments, text.Segment{Alternative: inside.alternative, Plain: []string{charset.ToUTF8(preamble, "", w.defects)}})
}

// skip passes over the rest up to the next delimiter.
func (w *walker) skip() error {
	if w.lines.stopped {
		return nil
	}
	_, err := io.Copy(io.Discard, w.lines.body())
	return err
}

// guessBoundary finds the first line of the form "--word" in the beginning of a body.
func guessBoundary(ahead []byte) string {
	for line := range bytes.Lines(ahead) {
		text := strings.TrimRight(string(line), " \t\r\n")
		if word, found := strings.CutPrefix(text, "--"); found && len(word) >= 4 && len(word) <= maxBoundary && !strings.Contains(word, " ") {
			return word
		}
	}
	return ""
}
