package structure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	lineBuffer  = 32 << 10
	lookAhead   = 1024
	maxBoundary = 256 // bytes; RFC 2046 allows 70
)

// A lineReader reads a mail line by line and knows the boundaries of the
// multiparts that are open. It reads the input once and never backs up by more
// than maxGivenBack lines. mime/multipart ends with an error where a boundary is missing, and
// reads every line once for each multipart around it.
type lineReader struct {
	reader     *bufio.Reader
	ahead      [][]byte // lines that were looked at and given back
	unfinished bool     // the chunk before ended without a newline
	boundaries []string
	stopped    bool // a delimiter of boundaries[level] was read last
	level      int
	final      bool  // it was a closing delimiter
	failure    error // reading failed, other than by coming to the end
}

func newLineReader(raw io.Reader) *lineReader {
	size := lineBuffer
	if held, ok := raw.(*bytes.Reader); ok {
		size = max(min(size, held.Len()), 4*lookAhead)
	}
	return &lineReader{reader: bufio.NewReaderSize(raw, size)}
}

// begin passes over a byte-order mark, and reads a mail whose lines end in
// carriage returns alone as if they were newlines.
func (l *lineReader) begin() {
	if bytes.HasPrefix(l.peek(3), []byte("\xef\xbb\xbf")) {
		_, _ = l.reader.Discard(3) // they were peeked at
	}
	if ahead := l.peek(4 * lookAhead); bytes.IndexByte(ahead, '\r') >= 0 && bytes.IndexByte(ahead, '\n') < 0 {
		l.reader = bufio.NewReaderSize(carriageReturnReader{l.reader}, lineBuffer)
	}
}

// A carriageReturnReader makes newlines of carriage returns.
type carriageReturnReader struct{ r io.Reader }

// Read implements io.Reader.
func (c carriageReturnReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// next returns the next line with its newline, or a piece of a line longer than
// the buffer; starts tells whether the piece begins a line. The bytes are valid
// until the next call. ok is false at the end of the input.
func (l *lineReader) next() (chunk []byte, starts, ok bool) {
	if len(l.ahead) > 0 {
		chunk, l.ahead = l.ahead[0], l.ahead[1:]
		return chunk, true, true
	}
	chunk, err := l.reader.ReadSlice('\n')
	starts = !l.unfinished
	l.unfinished = len(chunk) > 0 && chunk[len(chunk)-1] != '\n'
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
		l.failure = fmt.Errorf("read mail: %w", err)
	}
	return chunk, starts, len(chunk) > 0
}

// peek returns up to n of the bytes to come, without lines given back.
func (l *lineReader) peek(n int) []byte {
	ahead, _ := l.reader.Peek(n) // a short answer is an answer; next reports failures
	return ahead
}

// open adds a boundary and returns its level.
func (l *lineReader) open(boundary string) int {
	l.boundaries = append(l.boundaries, boundary)
	return len(l.boundaries) - 1
}

// close forgets the boundaries from a level on.
func (l *lineReader) close(level int) { l.boundaries = l.boundaries[:level] }

// delimiter tells whether a line is a delimiter of an open boundary, and notes which.
func (l *lineReader) delimiter(line []byte) bool {
	level, final := l.match(line)
	if level < 0 {
		return false
	}
	l.stopped, l.level, l.final = true, level, final
	return true
}

// delimits tells the same of a line that is yet to come.
func (l *lineReader) delimits(line []byte) bool {
	level, _ := l.match(line)
	return level >= 0
}

// match returns the level of the boundary that a line is a delimiter of, or -1. The
// innermost wins, so that a boundary used twice closes what it opened.
func (l *lineReader) match(line []byte) (level int, final bool) {
	if len(line) < 3 || line[0] != '-' || line[1] != '-' || len(l.boundaries) == 0 {
		return -1, false
	}
	text := strings.TrimRight(string(line[2:min(len(line), 2+maxBoundary+4)]), " \t\r\n")
	for level, boundary := range slices.Backward(l.boundaries) {
		rest, found := strings.CutPrefix(text, boundary)
		if found && (rest == "" || strings.HasPrefix(rest, "--")) {
			return level, rest != ""
		}
	}
	return -1, false
}

// resume goes on behind the delimiter that was read last.
func (l *lineReader) resume() { l.stopped = false }

// body returns what stands before the next delimiter of any open boundary, or
// before the end of the input.
func (l *lineReader) body() *body { return &body{lines: l} }

// A body reads up to a delimiter. The newline before a delimiter belongs to the
// delimiter (RFC 2046, section 5.1.1).
type body struct {
	lines   *lineReader
	buffer  []byte
	pending []byte
	newline []byte // held back until the next line proves not to be a delimiter
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		if b.lines.stopped {
			return 0, io.EOF
		}
		chunk, starts, ok := b.lines.next()
		switch {
		case !ok && b.lines.failure != nil:
			return 0, b.lines.failure
		case !ok && len(b.newline) > 0:
			b.pending, b.newline = b.newline, nil
		case !ok:
			return 0, io.EOF
		case starts && b.lines.delimiter(chunk):
		default:
			content := bytes.TrimRight(chunk, "\r\n")
			b.buffer = append(append(b.buffer[:0], b.newline...), content...)
			b.newline = append(b.newline[:0], chunk[len(content):]...)
			b.pending = b.buffer
		}
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}
