package mime

import (
	"bytes"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
)

var encodedWord = regexp.MustCompile(`=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=`)

// decodeWords decodes the encoded words of a field (RFC 2047) and raw 8-bit
// characters (RFC 6532, or windows-1252). A character that was split over two
// adjacent words is put together again.
func decodeWords(text string, found *problems) string {
	var matches [][]int
	if strings.Contains(text, "=?") { // which is found out much faster
		matches = encodedWord.FindAllStringSubmatchIndex(text, -1)
	}
	if matches == nil {
		return toUTF8([]byte(text), "", found)
	}
	var out strings.Builder
	end := 0
	var run wordRun
	for _, m := range matches {
		between := text[end:m[0]]
		label, encoding, payload := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
		if end == 0 || strings.TrimSpace(between) != "" {
			run.flush(&out, found)
			out.WriteString(toUTF8([]byte(between), "", found))
		}
		run.add(cleanLabel(label), decodeWord(encoding, payload, found), &out, found)
		end = m[1]
	}
	run.flush(&out, found)
	out.WriteString(toUTF8([]byte(text[end:]), "", found))
	return out.String()
}

// A wordRun is adjacent encoded words of one character set.
type wordRun struct {
	label string
	data  []byte
}

func (r *wordRun) add(label string, data []byte, out *strings.Builder, found *problems) {
	if label != r.label {
		r.flush(out, found)
		r.label = label
	}
	r.data = append(r.data, data...)
}

func (r *wordRun) flush(out *strings.Builder, found *problems) {
	if len(r.data) > 0 {
		out.WriteString(toUTF8(r.data, r.label, found))
	}
	r.label, r.data = "", r.data[:0]
}

func decodeWord(encoding, payload string, found *problems) []byte {
	if encoding == "q" || encoding == "Q" {
		return decodeQ(payload)
	}
	if data, err := base64.StdEncoding.DecodeString(payload); err == nil {
		return data
	}
	var inner problems
	data, err := io.ReadAll(decodeTransfer("base64", strings.NewReader(payload), &inner))
	if err != nil || len(inner.list) > 0 && !isUnpadded(payload) {
		found.add(problemEncodedWords)
	}
	return data
}

func isUnpadded(payload string) bool {
	_, err := base64.RawStdEncoding.DecodeString(payload)
	return err == nil
}

func decodeQ(payload string) []byte {
	var out bytes.Buffer
	for i := 0; i < len(payload); i++ {
		switch c := payload[i]; {
		case c == '_':
			out.WriteByte(' ')
		case c == '=' && i+2 < len(payload) && unhex(payload[i+1]) < 16 && unhex(payload[i+2]) < 16:
			out.WriteByte(unhex(payload[i+1])<<4 | unhex(payload[i+2]))
			i += 2
		default:
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}

const (
	maxWords   = 998           // bytes of a decoded subject or display name
	maxEncoded = 16 * maxWords // bytes that are decoded to give so many
	maxShort   = 255           // bytes of a short text
)

// words decodes a field that people read: one line, at most maxWords bytes.
func words(value string, found *problems) string {
	text := strings.Join(strings.Fields(decodeWords(value[:min(len(value), maxEncoded)], found)), " ")
	text = strings.Map(visible, text)
	if len(text) > maxWords || len(value) > maxEncoded {
		found.add(problemWords)
	}
	return truncate(text, maxWords)
}

// shortText decodes a field of which people read the beginning.
func shortText(text string) string {
	return truncate(words(text, &problems{}), maxShort)
}
