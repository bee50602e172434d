package header

import (
	"regexp"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
)

// namedSet is where a field names a character set: in an encoded word, in charset=, or in a value of RFC 2231.
var namedSet = regexp.MustCompile(`(?i)=\?([a-z0-9_.:-]{2,40})(?:\*[a-z-]{0,20})?\?[bq]\?|charset\s*=\s*"?([a-z0-9_.:-]{2,40})|\*(?:0\*)?\s*=\s*"?([a-z0-9_.:-]{2,40})'`)

// NoteSets adds the character sets that the fields name to those of the mail.
func (h Header) NoteSets(found *defect.List) {
	for i := range h {
		if !strings.ContainsAny(h[i].Value, "=") {
			continue
		}
		for _, match := range namedSet.FindAllStringSubmatch(h[i].Value[:min(len(h[i].Value), MaxEncoded)], 100) {
			NoteSet(match[1]+match[2]+match[3], found)
		}
	}
}

// NoteSet adds one character set. UTF-8 and ASCII are tried anyway.
func NoteSet(label string, found *defect.List) {
	switch label = charset.NormalizeLabel(label); label {
	case "", "utf-8", "us-ascii", "utf-7", "iso-2022-jp":
	default:
		found.AddSet(label)
	}
}

// DecodeRaw makes UTF-8 of the fields that hold raw octets, before they are taken apart: octets of some sets look like quotes.
// All are read in one set: the one that the mail names, or that they look like together. Where neither is known they stay.
func (h Header) DecodeRaw(found *defect.List) {
	var raw []byte
	for i := range h {
		if h[i].isRaw(found) {
			raw = append(append(raw, h[i].Value...), '\n')
		}
	}
	if raw == nil {
		return
	}
	decode, ok := charset.Chosen(raw, found)
	if !ok {
		return
	}
	for i := range h {
		if h[i].isRaw(found) {
			h[i].Value = decode([]byte(h[i].Value))
		}
	}
}

// isRaw tells of a field that it has octets of another set than UTF-8, and no escapes of ISO-2022-JP. Octets of an encoded
// word are in the set of the word.
func (f *Field) isRaw(found *defect.List) bool {
	if charset.IsASCII(f.Value) || charset.IsUTF8([]byte(f.Value)) || strings.Contains(f.Value, "\x1b$") {
		return false
	}
	if strings.Contains(f.Value, "=?") {
		for _, word := range encodedWord.FindAllString(f.Value, -1) {
			if !charset.IsASCII(word) {
				return false
			}
		}
	}
	_, likely := charset.RepairUTF8([]byte(f.Value))
	return !likely || charset.FitsNamed([]byte(f.Value), found) // a few octets of other sets look like UTF-8
}
