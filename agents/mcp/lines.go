package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxChatter bounds what a server may write that is no message, in bytes over its life: some greet on standard output.
const maxChatter = 64 << 10

var (
	errTooMuch = errors.New("the server said too much at once")
	errNoMCP   = errors.New("the server does not speak the protocol")
)

// lines are the messages that a server writes, one a line. What is no JSON object or array is left out, up to
// maxChatter; a message may have so many bytes.
type lines struct {
	from    *bufio.Reader
	limit   int
	chatter int
	left    []byte // of the message that is being read

	mu    sync.Mutex
	fault error // why nothing more is read
}

func newLines(from io.Reader, limit int) *lines {
	return &lines{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// Read implements io.Reader.
func (l *lines) Read(into []byte) (int, error) {
	for len(l.left) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, l.broken(err)
		}
		trimmed := makeReadable(bytes.TrimSpace(line))
		switch {
		case isMessage(trimmed):
			l.left = append(trimmed, '\n')
		case bytes.HasPrefix(trimmed, []byte(`{"`)):
			return 0, l.broken(errNoMCP) // it was meant for one, and somebody waits for it
		default:
			if l.chatter += len(line); l.chatter > maxChatter {
				return 0, l.broken(errNoMCP)
			}
		}
	}
	n := copy(into, l.left)
	l.left = l.left[n:]
	return n, nil
}

func isMessage(line []byte) bool {
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// broken notes why nothing more is read.
func (l *lines) broken(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = err
	return err
}

// next reads one line.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > l.limit:
			return nil, errTooMuch
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// why is the reason for which nothing more is read; nil while there is none.
func (l *lines) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}
