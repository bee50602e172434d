package mime

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"

	"podium/schemas"
)

// An allowance bounds what is taken from inside the attachments of one mail,
// the mails in it included.
type allowance struct {
	mails   int // attached mails that are read
	bytes   int // of attached mails
	text    int // bytes of their words
	entries int // of archives
	entry   int // calendar entries
}

func fullAllowance() *allowance {
	return &allowance{mails: 100, bytes: 1 << 20, text: 64 << 10, entries: 1000, entry: 20}
}

const (
	maxNested      = 3         // mails inside mails
	maxReport      = 64 << 10  // bytes of a report, a returned header or an invitation
	maxSniffed     = 512       // bytes that tell what something is
	maxTail        = 64 << 10  // bytes at the end of an archive: its directory
	maxEntries     = 100       // of one archive
	maxEntryBytes  = 255       // of a name or a short text
	maxArchiveSize = 1<<53 - 1 // what JSON can say
)

// An inspection sees the bytes of an attachment as they pass and keeps a bounded
// part of them: the beginning, and the end of a zip archive.
type inspection struct {
	limit int
	head  []byte
	tail  []byte
	size  int64
}

// Write implements io.Writer. It never fails.
func (i *inspection) Write(p []byte) (int, error) {
	i.size += int64(len(p))
	if room := i.limit - len(i.head); room > 0 {
		i.head = append(i.head, p[:min(room, len(p))]...)
	}
	if bytes.HasPrefix(i.head, []byte("PK")) {
		i.tail = append(i.tail, p[max(0, len(p)-maxTail):]...)
		if len(i.tail) > 2*maxTail {
			i.tail = append(i.tail[:0], i.tail[len(i.tail)-maxTail:]...)
		}
	}
	return len(p), nil
}

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

// entries lists what a zip archive says that it holds. Nothing is unpacked, and
// a directory that is malformed or larger than the kept end gives nothing.
func (i *inspection) entries(left int) []schemas.ArchiveEntry {
	tail := i.tail[max(0, len(i.tail)-maxTail):]
	archive, err := zip.NewReader(endOf{tail: tail, start: i.size - int64(len(tail))}, i.size)
	if archive == nil || err != nil && len(archive.File) == 0 {
		return nil
	}
	var entries []schemas.ArchiveEntry
	for _, file := range archive.File[:min(len(archive.File), maxEntries, left)] {
		name := truncate(strings.Map(visible, toUTF8([]byte(file.Name), "", &problems{})), maxEntryBytes)
		entries = append(entries, schemas.ArchiveEntry{
			Name: name, Size: int64(min(file.UncompressedSize64, maxArchiveSize)), Encrypted: file.Flags&1 != 0, //nolint:gosec // bounded
		})
	}
	return entries
}

// An endOf reads the end of something of which only that was kept.
type endOf struct {
	tail  []byte
	start int64
}

// ReadAt implements io.ReaderAt.
func (e endOf) ReadAt(p []byte, offset int64) (int, error) {
	if offset < e.start || offset > e.start+int64(len(e.tail)) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, e.tail[offset-e.start:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
