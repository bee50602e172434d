package structure

import (
	"bytes"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/ingest/mime/transfer"
)

const (
	maxFields    = 5000 // of one header block
	maxFieldName = 256
	maxGivenBack = 64 // lines that are given back because they belong to the body
)

// A headerReader reads one header block, which net/textproto refuses for a single
// line that is no field.
type headerReader struct {
	lines   *lineReader
	defects *defect.List
	limit   int  // bytes that are still kept
	foreign bool // a field was seen that the header of a part does not have
	fields  header.Header
	value   *strings.Builder // of the last field; nil when the last line was not kept

	authored bool     // From was read, so that this is the header of a mail
	strange  [][]byte // the lines of the last fields, which no mail has; more than maxGivenBack are none
	known    int      // fields before those
}

// readHeader reads fields until the blank line that ends them, and repairs what
// it can: lines before the first field, a line that is no field between fields,
// a missing blank line, a delimiter in the middle.
func readHeader(lines *lineReader, limits Limits, found *defect.List) header.Header {
	r := &headerReader{lines: lines, defects: found, limit: limits.Header}
	for {
		line, starts, ok := lines.next()
		if !ok {
			r.giveBack()
			break
		}
		if !starts {
			r.extend(line)
			r.known, r.strange = len(r.fields), nil
			continue
		}
		if lines.delimiter(line) {
			break
		}
		if blank(line) {
			if len(r.fields) == 0 && len(lines.boundaries) == 0 && r.leading() {
				continue
			}
			break
		}
		if !r.line(line) {
			break
		}
	}
	r.finish()
	return r.fields
}

// ParseHeader reads the header at the beginning of some bytes.
func ParseHeader(data []byte, limits Limits) header.Header {
	return readHeader(newLineReader(bytes.NewReader(data)), limits, &defect.List{})
}

// leading tells whether a blank line stands before a header rather than ends an empty one.
func (r *headerReader) leading() bool {
	ahead := r.lines.peek(lookAhead)
	return blank(firstLine(ahead)) && len(ahead) > 0 || fieldName(firstLine(ahead)) != ""
}

// line takes one whole line, or the beginning of a long one. It returns false
// when the header ended without a blank line.
func (r *headerReader) line(line []byte) bool {
	if (line[0] == ' ' || line[0] == '\t') && len(r.fields) > 0 {
		r.extend(line)
		r.note(line)
		return true
	}
	colon := fieldColon(line)
	if colon == 0 {
		return r.notAField(line)
	}
	name := fieldName(line)
	if len(r.lines.boundaries) > 0 && !r.foreign && !ofPart(name) {
		line, r.foreign = bytes.Clone(line), true
		if r.endsSoon() {
			return r.endsWithoutBlankLine(line)
		}
	}
	r.finish()
	if r.limit < len(line) || len(r.fields) == maxFields {
		r.defects.Add(defect.HeaderTooLarge)
		r.limit = 0
		return true
	}
	r.fields = append(r.fields, header.Field{Name: name})
	r.value = &strings.Builder{}
	r.keep(bytes.TrimLeft(line[colon+1:], " \t"), len(line))
	if r.authored = r.authored || name == "from"; ofMail(name) {
		r.known, r.strange = len(r.fields), nil
	}
	r.note(line)
	return true
}

// note remembers a line of a field that no mail has, in the header of a mail. Where no blank
// line ends the header, such lines at its end belong to the body.
func (r *headerReader) note(line []byte) {
	if len(r.lines.boundaries) > 0 || !r.authored || r.known == len(r.fields) {
		return
	}
	r.strange = append(r.strange, bytes.Clone(line))
	if len(r.strange) > maxGivenBack {
		r.known, r.strange = len(r.fields), nil
	}
}

// giveBack makes the lines of the last fields, which no mail has, the next ones again.
func (r *headerReader) giveBack(others ...[]byte) {
	if len(r.strange) > 0 {
		r.finish()
		r.defects.Add(defect.NoBlankLine)
		r.fields = r.fields[:r.known]
	}
	r.lines.ahead = append(r.strange, others...)
}

// endsSoon tells whether a part ends before any blank line does, and before a field
// of its header: the line before that is content, although it looks like a field.
func (r *headerReader) endsSoon() bool {
	for next := range bytes.Lines(r.lines.peek(lookAhead)) {
		switch {
		case blank(next), ofPart(fieldName(next)):
			return false
		case r.lines.delimits(next):
			return true
		}
	}
	return false
}

// ofPart tells whether the header of a part may have a field.
func ofPart(name string) bool {
	return strings.HasPrefix(name, "content-") || strings.HasPrefix(name, "x-") || name == "mime-version"
}

// notAField decides what a line is that is no field: noise that is skipped, or
// the first line of a body whose blank line is missing.
func (r *headerReader) notAField(line []byte) bool {
	mbox := bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From "))
	if len(r.fields) == 0 && mbox {
		return true
	}
	line = bytes.Clone(line)
	next := firstLine(r.lines.peek(lookAhead))
	var noise bool
	switch name := fieldName(next); {
	case len(r.fields) > 0 && blank(next):
		noise = mbox || len(r.lines.boundaries) > 0 && resemblesField(line) || !r.encodes(line)
	case len(r.lines.boundaries) == 0:
		noise = !bytes.HasPrefix(line, []byte("--")) && (name != "" && !r.authored || r.expects(name) || r.goesOn())
	default:
		noise = len(r.fields) > 0 && ofPart(name)
	}
	if !noise {
		return r.endsWithoutBlankLine(line)
	}
	r.finish()
	r.defects.Add(defect.NoField)
	return true
}

// goesOn reports whether the header of a mail goes on behind lines that are no fields, such as a value whose lines lost
// their leading blank: a field that each mail has, and that was not read yet, stands before the next blank line.
func (r *headerReader) goesOn() bool {
	if len(r.fields) == 0 {
		return false
	}
	for next := range bytes.Lines(r.lines.peek(lookAhead)) {
		if blank(next) {
			return false
		}
		if name := fieldName(next); (name == "from" || name == "date") && !r.fields.Has(name) {
			return true
		}
	}
	return false
}

// expects tells whether the header of a mail may go on with a field of a name.
func (r *headerReader) expects(name string) bool {
	switch name {
	case "from", "to", "cc", "bcc", "subject", "date", "message-id":
		return !r.fields.Has(name)
	}
	return ofMail(name)
}

// ofMail tells whether mails have fields of a name.
func ofMail(name string) bool {
	switch name {
	case "from", "to", "cc", "bcc", "subject", "date", "sender", "received", "references", "keywords", "comments",
		"precedence", "organization", "priority", "importance", "sensitivity", "newsgroups", "lines",
		"status", "mailer", "path", "xref", "expires", "supersedes", "bounces-to", "apparently-to", "disposition-notification-to":
		return true
	}
	first, _, several := strings.Cut(name, "-")
	switch first {
	case "x", "content", "list", "arc", "dkim", "domainkey", "mime", "resent", "received", "authentication", "auto", "return",
		"delivered", "delivery", "errors", "reply", "in", "message", "thread", "original", "originating", "user", "disposition",
		"feedback", "envelope", "require", "deferred", "tls", "archived", "followup", "mail":
		return several
	}
	return false
}

// resemblesField tells whether a line is a field but for the characters of its name.
func resemblesField(line []byte) bool {
	name, _, found := bytes.Cut(line, []byte(":"))
	return found && len(name) <= maxFieldName && !bytes.ContainsAny(name, " \t")
}

// encodes tells whether a line may be content in the encoding that the fields name.
func (r *headerReader) encodes(line []byte) bool {
	r.finish()
	if !strings.EqualFold(r.fields.First("content-transfer-encoding"), "base64") {
		return true
	}
	for _, c := range bytes.TrimSpace(line) {
		if transfer.StandardBase64Value(c) == 64 && c != '=' {
			return false
		}
	}
	return true
}

// endsWithoutBlankLine ends the header before a line, which is a copy and becomes the next
// one again.
func (r *headerReader) endsWithoutBlankLine(line []byte) bool {
	r.defects.Add(defect.NoBlankLine)
	r.giveBack(line)
	return false
}

// extend adds a continuation to the last field.
func (r *headerReader) extend(line []byte) {
	if r.value != nil {
		r.keep(line, len(line))
	}
}

func (r *headerReader) keep(value []byte, cost int) {
	if r.limit < cost {
		r.defects.Add(defect.HeaderTooLarge)
		r.limit = 0
		r.finish()
		return
	}
	r.limit -= cost
	r.value.Write(bytes.TrimRight(value, "\r\n"))
}

func (r *headerReader) finish() {
	if r.value != nil {
		r.fields[len(r.fields)-1].Value = strings.TrimSpace(r.value.String())
		r.value = nil
	}
}

// fieldName returns the lower-case name of a field line, or "" for any other
// line. Blanks before the colon are tolerated.
func fieldName(line []byte) string {
	return strings.ToLower(string(bytes.TrimRight(line[:fieldColon(line)], " \t")))
}

// fieldColon returns where the name of a field line ends, or 0 for any other line.
func fieldColon(line []byte) int {
	colon := bytes.IndexByte(line, ':')
	end := colon
	for end > 0 && (line[end-1] == ' ' || line[end-1] == '\t') {
		end--
	}
	if end <= 0 || end > maxFieldName {
		return 0
	}
	for _, c := range line[:end] {
		if c <= ' ' || c >= 0x7f {
			return 0
		}
	}
	return colon
}

// blank tells whether a line is nothing but its newline.
func blank(line []byte) bool {
	return bytes.HasSuffix(line, []byte("\n")) && len(bytes.TrimRight(line, "\r\n")) == 0
}

// firstLine returns the first line of some bytes, with its newline if it is there.
func firstLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return text
}
