package structure

import (
	"bytes"
	"net/http"
	"strings"
)

const maxSniffed = 512 // bytes that tell what something is

// A magic is the beginning of data that net/http does not know.
type magic struct{ begins, mediaType string }

func magics() []magic {
	return []magic{
		{"MZ", "application/vnd.microsoft.portable-executable"},
		{"\x7fELF", "application/x-elf"},
		{"\xca\xfe\xba\xbe", "application/x-mach-binary"},
		{"\xcf\xfa\xed\xfe", "application/x-mach-binary"},
		{"#!", "text/x-shellscript"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"},
		{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
		{"\x78\x9f\x3e\x22", "application/vnd.ms-tnef"},
		{"{\\rtf", "application/rtf"},
		{"II*\x00", "image/tiff"},
		{"MM\x00*", "image/tiff"},
		{"BEGIN:VCALENDAR", "text/calendar"},
		{"BEGIN:VCARD", "text/vcard"},
		{"-----BEGIN PGP", "application/pgp"},
	}
}

// sniff returns the media type that the first bytes show, or "" when they show none.
func sniff(head []byte) string {
	head = head[:min(len(head), maxSniffed)]
	found, _, _ := strings.Cut(http.DetectContentType(head), ";")
	for _, known := range magics() {
		if bytes.HasPrefix(head, []byte(known.begins)) && !(known.begins == "MZ" && found == "text/plain") {
			return known.mediaType
		}
	}
	if found == "application/octet-stream" || len(head) == 0 {
		return ""
	}
	return found
}
