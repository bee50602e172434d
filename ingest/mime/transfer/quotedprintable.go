package transfer

import (
	"bufio"
	"bytes"

	"podium/ingest/mime/defect"
)

// A quotedPrintableReader decodes quoted-printable data (RFC 2045, section 6.7).
type quotedPrintableReader struct {
	r        *bufio.Reader
	found    *defect.List
	blanks   []byte // held back: blanks at the end of a line are not content
	output   []byte
	pending  []byte
	finished error
}

const maxBlanks = 1024

// Read implements io.Reader.
func (q *quotedPrintableReader) Read(p []byte) (int, error) {
	if len(q.pending) == 0 {
		q.output = q.output[:0]
		for q.finished == nil && len(q.output) < 4096 {
			q.step()
		}
		q.pending = q.output
	}
	if len(q.pending) == 0 {
		return 0, q.finished
	}
	n := copy(p, q.pending)
	q.pending = q.pending[n:]
	return n, nil
}

// step decodes one byte or one escape.
func (q *quotedPrintableReader) step() {
	c, err := q.r.ReadByte()
	switch {
	case err != nil:
		q.finished = err
		return
	case (c == ' ' || c == '\t') && len(q.blanks) < maxBlanks:
		q.blanks = append(q.blanks, c)
		return
	case c == '\n' || c == '\r':
	default:
		q.output = append(q.output, q.blanks...)
	}
	q.blanks = q.blanks[:0]
	if c == '=' {
		decoded, ok := q.escape()
		if !ok {
			return
		}
		c = decoded
	}
	q.output = append(q.output, c)
}

// escape reads behind an equals sign. It returns false for a soft line break.
func (q *quotedPrintableReader) escape() (byte, bool) {
	ahead, _ := q.r.Peek(2) // fewer than two bytes are handled; ReadByte reports failures
	if octet, ok := Octet(ahead); ok {
		q.discard(2)
		return octet, true
	}
	switch {
	case len(ahead) > 0 && ahead[0] == '\n':
		q.discard(1)
		return 0, false
	case len(ahead) == 2 && ahead[0] == '\r' && ahead[1] == '\n':
		q.discard(2)
		return 0, false
	case len(ahead) == 0:
		return 0, false
	case ahead[0] == ' ' || ahead[0] == '\t':
		return q.padding()
	}
	q.found.Add(defect.QuotedPrintable)
	return '=', true
}

// padding skips blanks between the equals sign of a soft break and its newline.
func (q *quotedPrintableReader) padding() (byte, bool) {
	ahead, _ := q.r.Peek(maxBlanks) // see escape
	rest := bytes.TrimLeft(ahead, " \t")
	blanks := len(ahead) - len(rest)
	switch {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		q.discard(blanks + 2)
		return 0, false
	case bytes.HasPrefix(rest, []byte("\n")):
		q.discard(blanks + 1)
		return 0, false
	}
	q.found.Add(defect.QuotedPrintable)
	return '=', true
}

func (q *quotedPrintableReader) discard(n int) {
	_, _ = q.r.Discard(n) // the bytes were peeked at
}
