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
			l.mu.Lock()
			defer l.mu.Unlock()
			l.fault = err
			return 0, err
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && jsontext.Value(trimmed).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			l.left = append(trimmed, '\n')
			break
		}
		if l.chatter += len(line); l.chatter > maxChatter {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.fault = errNoMCP
			return 0, errNoMCP
		}
	}
	n := copy(into, l.left)
	l.left = l.left[n:]
	return n, nil
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
