// Package pseudonym keeps ids that lead to people out of a log: what stands for a conversation, a run or a request
// there is a keyed hash, which whoever has the keys of the ledger can look for.
//
// The id of a session is made of names that a person may have chosen or a provider has given, such as a telephone's;
// without a key, whoever has the log could try them out.
package pseudonym

import (
	"bytes"
	"encoding/json"
	"io"
	"sync/atomic"
)

// fields are those of a log line whose values lead to a conversation.
func fields() [][]byte {
	return [][]byte{[]byte(`"session":"`), []byte(`"run":"`), []byte(`"request":"`)}
}

// unknown stands where no key is known yet.
const unknown = "h-unknown"

// A Writer passes lines of JSON on, as zerolog writes them, and puts pseudonyms in the place of ids. It is safe for use
// by several goroutines at once if what is below it is.
type Writer struct {
	out  io.Writer
	hash atomic.Pointer[func(value string) string]
}

// NewWriter returns a Writer that changes nothing before Hide.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Hide has the ids replaced from now on by what hash makes of them; without one, by a word that is the same for all.
func (w *Writer) Hide(hash func(value string) string) {
	if hash == nil {
		hash = func(string) string { return unknown }
	}
	w.hash.Store(&hash)
}

// Write implements io.Writer. A line is written whole by one call.
func (w *Writer) Write(line []byte) (int, error) {
	hidden := line
	if hash := w.hash.Load(); hash != nil {
		for _, field := range fields() {
			hidden = replace(hidden, field, *hash)
		}
	}
	if _, err := w.out.Write(hidden); err != nil {
		return 0, err
	}
	return len(line), nil
}

// replace hides the value of a member wherever it stands. Its name is no part of a string: there every quotation mark
// has a backslash before it.
func replace(line, field []byte, hash func(string) string) []byte {
	var made []byte
	for {
		at := bytes.Index(line, field)
		if at < 0 {
			if made == nil {
				return line
			}
			return append(made, line...)
		}
		from := at + len(field)
		to := endOfString(line, from)
		var value string
		_ = json.Unmarshal(append(append([]byte{'"'}, line[from:to]...), '"'), &value) // else nothing of it is shown
		made = append(append(made, line[:from]...), hash(value)...)
		line = line[to:]
	}
}

// endOfString is where the quotation mark stands that ends the string whose text begins at from.
func endOfString(line []byte, from int) int {
	for i := from; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(line)
}
