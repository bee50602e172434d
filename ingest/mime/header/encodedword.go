package header

import (
	"encoding/base64"
	"io"
	"regexp"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/ingest/mime/transfer"
)

var encodedWord = regexp.MustCompile(`=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=`)

// DecodeWords decodes the encoded words of a field (RFC 2047) and raw 8-bit
// characters (RFC 6532, or windows-1252). A character that was split over two
// adjacent words is put together again, which mime.WordDecoder does not do.
func DecodeWords(text string, found *defect.List) string {
	var matches [][]int
	if strings.Contains(text, "=?") { // which is found out much faster
		matches = encodedWord.FindAllStringSubmatchIndex(text, -1)
	}
	if matches == nil {
		return charset.ToUTF8([]byte(text), "", found)
	}
	var out strings.Builder
	end := 0
	var run wordRun
	for _, m := range matches {
		between := text[end:m[0]]
		label, encoding, payload := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
		if end == 0 || strings.TrimSpace(between) != "" {
			run.flush(&out, found)
			out.WriteString(charset.ToUTF8([]byte(between), "", found))
		}
		run.add(charset.NormalizeLabel(label), decodeWord(encoding, payload, found), &out, found)
		end = m[1]
	}
	run.flush(&out, found)
	out.WriteString(charset.ToUTF8([]byte(text[end:]), "", found))
	return out.String()
}

// A wordRun is adjacent encoded words of one character set.
type wordRun struct {
	label string
	data  []byte
}

func (r *wordRun) add(label string, data []byte, out *strings.Builder, found *defect.List) {
	if label != r.label {
		r.flush(out, found)
		r.label = label
	}
	r.data = append(r.data, data...)
}

func (r *wordRun) flush(out *strings.Builder, found *defect.List) {
	if len(r.data) > 0 {
		out.WriteString(charset.ToUTF8(r.data, r.label, found))
	}
	r.label, r.data = "", r.data[:0]
}

func decodeWord(encoding, payload string, found *defect.List) []byte {
	if encoding == "q" || encoding == "Q" {
		return []byte(unescape(strings.ReplaceAll(payload, "_", " "), '='))
	}
	for _, alphabet := range [...]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} { // some leave the padding out
		if data, err := alphabet.DecodeString(payload); err == nil {
			return data
		}
	}
	var inner defect.List
	data, err := io.ReadAll(transfer.NewReader("base64", strings.NewReader(payload), &inner))
	if err != nil || len(inner.Names) > 0 {
		found.Add(defect.EncodedWord)
	}
	return data
}

// MaxEncoded bounds what is decoded of a field that people read.
const (
	maxUnstructured = 998                  // bytes of a decoded subject or display name
	MaxEncoded      = 16 * maxUnstructured // bytes that are decoded to give so many
	maxShort        = 255                  // bytes of a short text
)

// unstructured decodes a field that people read: one line, at most maxUnstructured bytes.
func unstructured(value string, found *defect.List) string {
	text := strings.Join(strings.Fields(DecodeWords(value[:min(len(value), MaxEncoded)], found)), " ")
	text = strings.Map(charset.Visible, text)
	if len(text) > maxUnstructured || len(value) > MaxEncoded {
		found.Add(defect.FieldTooLong)
	}
	return charset.Truncate(text, maxUnstructured)
}

// Short decodes a field of which people read the beginning.
func Short(text string) string {
	return charset.Truncate(unstructured(text, &defect.List{}), maxShort)
}
