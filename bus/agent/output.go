package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// ErrNothing reports output that holds nothing. It wraps ErrUnreadable.
var ErrNothing = fmt.Errorf("%w: there is no output", ErrUnreadable)

// checkForm reports what is wrong with the form of output: nothing in it, bytes that are no UTF-8, a NUL byte, JSON that
// does not parse, or JSON with something behind it. It returns the output without byte order mark and without blanks around it.
func checkForm(said []byte) ([]byte, error) {
	plain := bytes.TrimPrefix(said, utf8Mark())
	if at := firstInvalid(plain); at >= 0 {
		return nil, unreadableAt("it holds bytes that are no UTF-8, the first at byte "+strconv.Itoa(at), plain)
	}
	trimmed := bytes.TrimFunc(plain, isBlank)
	switch at := bytes.IndexByte(plain, 0); {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return nil, ErrNothing
	case at >= 0:
		return nil, unreadableAt("it holds a NUL byte at byte "+strconv.Itoa(at)+", which no text has: print UTF-8", plain)
	case beginsAsJSON(trimmed):
		return trimmed, jsonFault(trimmed)
	}
	return trimmed, nil
}

// IsBlank reports whether a text shows nothing.
func IsBlank(text string) bool { return strings.TrimFunc(text, isBlank) == "" }

// isBlank reports whether a character shows nothing: blanks, and what is written without width.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

func firstInvalid(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// beginsAsJSON reports whether output that begins in this way is meant as an object or an array. Every { is. A [ may begin words
// as well, such as "[1] See page 3" and "[ ] Buy milk": it is JSON if an object, a string or an array begins in it, or a value
// that a comma or the end follows.
func beginsAsJSON(text []byte) bool {
	inner := text
	for len(inner) > 0 && inner[0] == '[' {
		inner = bytes.TrimLeft(inner[1:], " \t\r\n")
	}
	switch {
	case len(inner) == 0, inner[0] == '{':
		return len(text) > 0
	case len(inner) == len(text):
		return false
	case inner[0] == '"':
		return true
	case inner[0] == ']':
		return text[1] == ']' && len(text) == 2 || bytes.Count(text[:len(text)-len(inner)], []byte("[")) > 1
	}
	value, err := jsontext.NewDecoder(bytes.NewReader(inner)).ReadValue()
	if err != nil {
		return false
	}
	behind := bytes.TrimLeft(inner[len(value):], " \t\r\n")
	return len(behind) == 0 || behind[0] == ',' || len(behind) == 1 && behind[0] == ']'
}

// jsonFault reports where JSON does not parse, or nil.
func jsonFault(text []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	value, err := decoder.ReadValue()
	end := decoder.InputOffset()
	if err == nil && end == int64(len(text)) {
		return nil
	}
	if err == nil {
		return unreadableAt("it begins with JSON of "+strconv.Itoa(len(value))+" bytes, and something follows: print one object and nothing else", text)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return unreadableAt("it begins as JSON and ends in the middle of it, after "+strconv.Itoa(len(text))+" bytes", text)
	}
	at := ""
	if broken, is := errors.AsType[*jsontext.SyntacticError](err); is {
		at = ", at byte " + strconv.FormatInt(broken.ByteOffset, 10)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return unreadableAt("it is no JSON: a name stands twice in one object"+at, text)
	}
	return unreadableAt("it begins as JSON and does not parse"+at, text)
}

// deliverableFault says which deliverable has a type that does not exist; empty is none. One without a type has the default.
func deliverableFault(made []schemas.Deliverable) string {
	types := []string{schemas.DeliverableCode, schemas.DeliverableDocumentation, schemas.DeliverableReport, schemas.DeliverableConfig}
	for i := range made {
		if made[i].Type == "" || slices.Contains(types, made[i].Type) {
			continue
		}
		named := ""
		if oneWord.MatchString(made[i].Type) {
			named = " " + strconv.Quote(made[i].Type)
		}
		return fmt.Sprintf("the type%s of deliverable %d is none of %s", named, i+1, strings.Join(types, ", "))
	}
	return ""
}
