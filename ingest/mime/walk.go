package mime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"podium/schemas"
)

// errEnough ends a walk at the limit of parts.
var errEnough = errors.New("enough parts")

// A walker reads the parts of one mail in order.
type walker struct {
	sink      Sink
	limits    Limits
	languages *Languages
	lines     *lineReader
	problems  *problems

	parts       int
	segments    []segment
	attachments []schemas.MailAttachment
	report      string // the kind of report that the mail is; "" is none
	budget      int    // bytes of text that are still kept
	allowance   *allowance
	nested      int             // mails around this one
	returned    header          // of the mail that a bounce returns
	deliveries  *schemas.Bounce // what a delivery report says
	fallback    *leafPart       // the first inline text that has a file's name
	fallen      []byte          // its beginning
	calendar    []schemas.CalendarEntry
}

// A segment is a stretch of the mail's text, in one or two forms. Of either form
// there may be several parts, each of which a reader sees for itself.
type segment struct {
	alternative int // the multipart/alternative that it belongs to; 0 is none
	plain, html []string
}

// empty tells whether there are no words in it.
func (s *segment) empty() bool {
	return !slices.ContainsFunc(slices.Concat(s.plain, s.html), func(text string) bool { return strings.TrimSpace(text) != "" })
}

// A place is where in the tree a part stands.
type place struct {
	depth       int
	alternative int // number of the outermost enclosing multipart/alternative; 0 is none
	defaultType string
}

func (w *walker) part(ctx context.Context, h header, at place) error {
	contentType := parseParameters(h.first("content-type"), w.problems)
	mediaType := w.mediaType(contentType.value, at.defaultType)
	if !strings.HasPrefix(mediaType, "multipart/") {
		return w.leaf(ctx, h, mediaType, contentType.parameters, at)
	}
	if at.depth >= w.limits.Depth {
		w.problems.add(problemDepth)
		return w.leaf(ctx, h, "application/octet-stream", nil, at)
	}
	boundary := contentType.parameters["boundary"]
	if boundary == "" || len(boundary) > maxBoundary {
		w.problems.add(problemBoundary)
		if boundary = guessBoundary(w.lines.peek(4 * lookAhead)); boundary == "" {
			return w.leaf(ctx, h, "text/plain", nil, at)
		}
	}
	if mediaType == "multipart/report" {
		w.report = strings.ToLower(contentType.parameters["report-type"])
	}
	w.parts++
	inside := place{depth: at.depth + 1, alternative: at.alternative, defaultType: "text/plain"}
	if mediaType == "multipart/alternative" && at.alternative == 0 {
		inside.alternative = w.parts
	}
	if mediaType == "multipart/digest" {
		inside.defaultType = "message/rfc822"
	}
	return w.decoded(h.first("content-transfer-encoding"), boundary, func() error { return w.multipart(ctx, boundary, inside) })
}

// decoded reads a multipart. One that is encoded as a whole, which RFC 2045
// forbids in section 6.4, is read from what it says when it is decoded.
func (w *walker) decoded(encoding, boundary string, read func() error) error {
	switch strings.ToLower(strings.Trim(encoding, " \t\"'")) {
	case "base64", "quoted-printable":
	default:
		return read()
	}
	if bytes.Contains(w.lines.peek(4*lookAhead), []byte("--"+boundary)) {
		return read()
	}
	w.problems.add(problemEncoded)
	outer := w.lines
	w.lines = newLineReader(decodeTransfer(encoding, outer.body(), w.problems))
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
		w.problems.add(problemType)
		if kind == "multipart" {
			return "multipart/mixed"
		}
		return standard
	}
	return clean(declared)
}

// multipart reads the parts between delimiters, then what stands behind the last.
func (w *walker) multipart(ctx context.Context, boundary string, inside place) error {
	level := w.lines.open(boundary)
	defer w.lines.close(level)
	preamble, err := w.read(w.lines.body(), w.limits.Text)
	if err == nil {
		err = w.skip()
	}
	if err != nil {
		return err
	}
	for parts := 0; ; parts++ {
		switch {
		case !w.lines.stopped, w.lines.level < level:
			w.problems.add(problemUnclosed)
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
			w.problems.add(problemParts)
			return errEnough
		}
		if err := w.part(ctx, readHeader(w.lines, w.limits, w.problems), inside); err != nil {
			return err
		}
		if err := w.skip(); err != nil {
			return err
		}
	}
}

// noParts takes what stands before the first delimiter for the text when there
// is no delimiter at all, as when the boundary of the header is not that of the body.
func (w *walker) noParts(preamble []byte, inside place) {
	w.problems.add(problemNoParts)
	w.segments = append(w.segments, segment{alternative: inside.alternative, plain: []string{toUTF8(preamble, "", w.problems)}})
}

// skip passes over the rest up to the next delimiter.
func (w *walker) skip() error {
	if w.lines.stopped {
		return nil
	}
	_, err := io.Copy(io.Discard, w.lines.body())
	return err
}

func (w *walker) leaf(ctx context.Context, h header, mediaType string, parameters map[string]string, at place) error {
	disposition := parseParameters(h.first("content-disposition"), w.problems)
	name := disposition.parameters["filename"]
	if name == "" {
		name = parameters["name"]
	}
	encoding := h.first("content-transfer-encoding")
	isText := (mediaType == "text/plain" || mediaType == "text/html") && disposition.value != "attachment"
	part := &leafPart{mediaType: mediaType, contentID: firstID(h.first("content-id")), charset: parameters["charset"], inline: isText}
	if (isText || part.isReport()) && w.mislabeled(encoding) {
		w.problems.add(problemBase64)
		encoding = ""
	}
	content := decodeTransfer(encoding, w.lines.body(), w.problems)
	if isText && name == "" {
		return w.text(content, mediaType, parameters, at)
	}
	part.name, part.written = w.fileNames(name)
	return w.attachment(ctx, content, part)
}

func (w *walker) text(content io.Reader, mediaType string, parameters map[string]string, at place) error {
	data, err := w.read(content, w.budget)
	if err != nil {
		return err
	}
	if more, err := io.Copy(io.Discard, content); err != nil {
		return err
	} else if more > 0 {
		w.problems.add(problemText)
		data = wholeCharacters(data)
	}
	w.budget -= len(data)
	label := parameters["charset"]
	if label == "" && mediaType == "text/html" {
		label = htmlCharset(data)
	}
	text := toUTF8(data, label, w.problems)
	if mediaType == "text/plain" && strings.EqualFold(parameters["format"], "flowed") {
		text = unflow(text, strings.EqualFold(parameters["delsp"], "yes"))
	}
	w.add(text, mediaType, at)
	return nil
}

// add puts words behind those of the same alternative, or behind all others.
func (w *walker) add(text, mediaType string, at place) {
	last := len(w.segments) - 1
	if at.alternative == 0 || last < 0 || w.segments[last].alternative != at.alternative {
		w.segments = append(w.segments, segment{alternative: at.alternative})
		last++
	}
	if mediaType == "text/html" {
		w.segments[last].html = append(w.segments[last].html, text)
	} else {
		w.segments[last].plain = append(w.segments[last].plain, text)
	}
}

// read returns at most limit bytes.
func (w *walker) read(content io.Reader, limit int) ([]byte, error) {
	var buffer bytes.Buffer
	_, err := io.Copy(&buffer, io.LimitReader(content, int64(limit)))
	return buffer.Bytes(), err
}

func (w *walker) attachment(ctx context.Context, content io.Reader, part *leafPart) error {
	seen := w.inspection(part)
	artifact, err := w.sink.Put(ctx, io.TeeReader(content, seen), part.mediaType)
	if err != nil {
		return fmt.Errorf("keep attachment %d: %w", len(w.attachments)+1, err)
	}
	if w.lines.failure != nil {
		return w.lines.failure
	}
	attachment := schemas.MailAttachment{Attachment: schemas.Attachment{
		Name: part.name, MediaType: part.mediaType, ContentID: part.contentID, Artifact: artifact,
	}, Written: part.written}
	w.understand(ctx, part, seen, &attachment)
	if part.mediaType == "application/ms-tnef" || strings.EqualFold(part.name, "winmail.dat") || attachment.Sniffed == "application/vnd.ms-tnef" {
		w.problems.add(problemTNEF)
	}
	if part.isDeliveryReport() && w.report == "" {
		w.report = "delivery-status"
	}
	w.attachments = append(w.attachments, attachment)
	return nil
}

// mislabeled tells whether words that are said to be base64 are written in plain.
func (w *walker) mislabeled(encoding string) bool {
	if !strings.EqualFold(strings.Trim(encoding, " \t\"'"), "base64") {
		return false
	}
	ahead, _, _ := bytes.Cut(w.lines.peek(lookAhead), []byte("\n--"))
	all, foreign := 0, 0
	for line := range bytes.Lines(ahead) {
		for _, c := range bytes.TrimSpace(line) {
			all++
			if sextet(c) == 64 && c != '=' {
				foreign++ // blanks between words too
			}
		}
	}
	return foreign*20 > all
}

// fileNames returns what a person would call an attachment: its last path element,
// without characters that are not seen and no longer than the limit. Where its
// author wrote more, that is returned as well. Neither is a path to anything.
func (w *walker) fileNames(declared string) (name, written string) {
	declared = strings.Map(visible, strings.TrimSpace(declared))
	name = declared[strings.LastIndexAny(declared, `/\`)+1:]
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		name = ""
	}
	if name = truncate(name, w.limits.Name); name == declared {
		return name, ""
	}
	w.problems.add(problemName)
	return name, truncate(declared, maxWords)
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

// allText returns the words of all segments, of each in its better form, and the
// hidden words of all of them. Where there is nothing else, the first text that
// came inline as a file is what the mail says; it stays an attachment as well.
func (w *walker) allText() (text, hidden string) {
	if w.fallback != nil && !slices.ContainsFunc(w.segments, func(one segment) bool { return !one.empty() }) {
		w.add(toUTF8(w.fallen, w.fallback.charset, w.problems), w.fallback.mediaType, place{})
	}
	words := w.languages
	var visible, concealed []string
	for _, one := range w.segments {
		plain := paragraphs(one.plain)
		pages := make([]string, 0, len(one.html))
		for _, page := range one.html {
			seen, unseen := htmlToText(page)
			if unseen != "" {
				concealed = append(concealed, unseen)
			}
			pages = append(pages, seen)
		}
		if seen := paragraphs(pages); seen != "" && (plain == "" || words.stub(plain)) {
			plain = seen
		}
		if plain != "" {
			visible = append(visible, plain)
		}
	}
	return strings.Join(slices.Clip(visible), "\n\n"), strings.Join(concealed, "\n")
}

// paragraphs joins texts with a blank line between them, without empty ones.
func paragraphs(texts []string) string {
	if len(texts) == 1 {
		return strings.TrimSpace(texts[0])
	}
	var kept []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}
