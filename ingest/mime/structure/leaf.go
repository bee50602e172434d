package structure

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/text"
	"podium/ingest/mime/transfer"
	"podium/schemas"
)

// An attachmentPart is what is known of an attachment before it is read.
type attachmentPart struct {
	mediaType, name, contentID, charset string

	writtenName string // its name as its author wrote it, when that is longer
	inline      bool   // a text to be shown
	opens       bool   // the mail begins with it, and nothing says that it is a file
}

func (p *attachmentPart) isMail() bool {
	return p.mediaType == "message/rfc822" || p.mediaType == "message/global" || strings.HasSuffix(strings.ToLower(p.name), ".eml")
}

func (p *attachmentPart) isCalendar() bool {
	return p.mediaType == "text/calendar" || p.mediaType == "application/ics" || strings.HasSuffix(strings.ToLower(p.name), ".ics")
}

func (p *attachmentPart) isDeliveryReport() bool {
	return p.reportKind() == "delivery-status"
}

func (p *attachmentPart) isHeader() bool {
	switch p.mediaType {
	case "text/rfc822-headers", "text/rfc822-header", "text/rfc822", "message/rfc822-headers", "message/global-headers":
		return true
	}
	return false
}

// reportKind returns the kind of report that the part is for programs; "" is none.
func (p *attachmentPart) reportKind() string {
	switch p.mediaType {
	case "message/delivery-status", "message/global-delivery-status":
		return "delivery-status"
	case "message/disposition-notification", "message/global-disposition-notification":
		return "disposition-notification"
	case "message/feedback-report":
		return "feedback-report"
	}
	return ""
}

// isReport tells whether the part is a piece of a report, which is words.
func (p *attachmentPart) isReport() bool { return p.isDeliveryReport() || p.isHeader() }

func (w *walker) leaf(ctx context.Context, h header.Header, mediaType string, parameters map[string]string, at position) error {
	disposition := header.ParseParameters(h.First("content-disposition"), w.defects)
	name := cmp.Or(disposition.Parameters["filename"], parameters["name"])
	encoding := h.First("content-transfer-encoding")
	isText := (mediaType == "text/plain" || mediaType == "text/html") && disposition.Value != "attachment"
	part := &attachmentPart{mediaType: mediaType, contentID: header.FirstID(h.First("content-id")), charset: parameters["charset"], inline: isText}
	if (isText || part.isReport()) && w.isNoBase64(encoding) {
		w.defects.Add(defect.Base64)
		encoding = ""
	}
	content := transfer.NewReader(encoding, w.lines.body(), w.defects)
	if isText && (name == "" || w.isNamedForm(mediaType, at)) {
		return w.text(content, mediaType, parameters, at)
	}
	part.opens = isText && disposition.Value == "" && at.depth == 1 && !at.isForm && len(w.segments)+len(w.Attachments) == 0
	part.name, part.writtenName = w.fileNames(name)
	if kind := part.reportKind(); kind != "" {
		w.noteReport(kind, at)
	}
	return w.attachment(ctx, content, part)
}

// isNamedForm tells whether a text with a name is a form of what the mail says, of which
// there is no other of its type yet.
func (w *walker) isNamedForm(mediaType string, at position) bool {
	if !at.isForm {
		return false
	}
	last := len(w.segments) - 1
	if last < 0 || w.segments[last].Alternative != at.alternative {
		return true
	}
	if mediaType == "text/html" {
		return len(w.segments[last].HTML) == 0
	}
	return len(w.segments[last].Plain) == 0
}

func (w *walker) text(content io.Reader, mediaType string, parameters map[string]string, at position) error {
	data, err := io.ReadAll(io.LimitReader(content, int64(w.budget)))
	if err != nil {
		return err
	}
	if more, err := io.Copy(io.Discard, content); err != nil {
		return err
	} else if more > 0 {
		w.defects.Add(defect.TextTooLong)
		data = charset.TrimIncompleteRune(data)
	}
	w.budget -= len(data)
	label := parameters["charset"]
	if label == "" && mediaType == "text/html" {
		label = charset.DeclaredInHTML(data)
		header.NoteSet(label, w.defects)
	}
	words := charset.ToUTF8(data, label, w.defects)
	if mediaType == "text/plain" && strings.EqualFold(parameters["format"], "flowed") {
		words = text.Unflow(words, strings.EqualFold(parameters["delsp"], "yes"))
	}
	w.add(words, mediaType, at)
	return nil
}

func (w *walker) attachment(ctx context.Context, content io.Reader, part *attachmentPart) error {
	seen := w.inspection(part)
	artifact, err := w.sink.Put(ctx, io.TeeReader(content, seen), part.mediaType)
	if err != nil {
		return fmt.Errorf("keep attachment %d: %w", len(w.Attachments)+1, err)
	}
	if w.lines.failure != nil {
		return w.lines.failure
	}
	attachment := schemas.MailAttachment{Attachment: schemas.Attachment{
		Name: part.name, MediaType: part.mediaType, ContentID: part.contentID, Artifact: artifact,
	}, Written: part.writtenName}
	w.understand(ctx, part, seen, &attachment)
	if part.mediaType == "application/ms-tnef" || strings.EqualFold(part.name, "winmail.dat") || attachment.Sniffed == "application/vnd.ms-tnef" {
		w.defects.Add(defect.TNEF)
	}
	w.Attachments = append(w.Attachments, attachment)
	return nil
}

// isNoBase64 tells whether words that are said to be base64 are written in plain.
func (w *walker) isNoBase64(encoding string) bool {
	if !strings.EqualFold(strings.Trim(encoding, " \t\"'"), "base64") {
		return false
	}
	ahead, _, _ := bytes.Cut(w.lines.peek(lookAhead), []byte("\n--"))
	all, foreign := 0, 0
	for line := range bytes.Lines(ahead) {
		for _, c := range bytes.TrimSpace(line) {
			all++
			if transfer.Base64Value(c) == 64 && c != '=' {
				foreign++ // blanks between words too
			}
		}
	}
	return foreign*20 > all
}

// visibleInName drops what charset.Visible drops, and the marks of direction, which words need and names do not.
func visibleInName(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return charset.Visible(r)
}

const maxWrittenName = 998 // bytes

// fileNames returns what a person would call an attachment: its last path element,
// without characters that are not seen and no longer than the limit. Where its
// author wrote more, that is returned as well. Neither is a path to anything.
func (w *walker) fileNames(declared string) (name, written string) {
	declared = strings.Map(visibleInName, strings.TrimSpace(declared))
	name = declared[strings.LastIndexAny(declared, `/\`)+1:]
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		name = ""
	}
	if name = charset.Truncate(name, w.limits.Name); name == declared {
		return name, ""
	}
	w.defects.Add(defect.AttachmentName)
	return name, charset.Truncate(declared, maxWrittenName)
}
