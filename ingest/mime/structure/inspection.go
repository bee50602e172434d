package structure

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"

	"podium/ingest/mime/charset"
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
	maxNested = 3        // mails inside mails
	maxReport = 64 << 10 // bytes of a report, a returned header or an invitation
	maxTail   = 64 << 10 // bytes at the end of an archive: its directory
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

// maxHeaderOnly bounds what is kept of a mail that is not read, in bytes.
const maxHeaderOnly = 4 << 10

// inspection returns what looks at the part while it passes.
func (w *walker) inspection(part *attachmentPart) *inspection {
	limit := maxSniffed
	switch {
	case part.isMail() && w.nested < maxNested && w.allowance.mails > 0:
		limit = max(limit, w.allowance.bytes)
	case part.isMail():
		limit = maxHeaderOnly
	case part.isDeliveryReport(), part.isHeader(), part.isCalendar(), part.inline && w.fallback == nil:
		limit = maxReport
	}
	return &inspection{limit: limit}
}

// understand adds what the bytes of a part say to its attachment and to the mail.
func (w *walker) understand(ctx context.Context, part *attachmentPart, seen *inspection, attachment *schemas.MailAttachment) {
	attachment.Sniffed = sniff(seen.head)
	if part.inline && w.fallback == nil && strings.HasPrefix(attachment.Sniffed, "text/") {
		w.fallback, w.fallbackHead = part, seen.head
	}
	switch {
	case attachment.Sniffed == "application/zip":
		attachment.Entries = seen.entries(w.allowance.entries)
		w.allowance.entries -= len(attachment.Entries)
	case part.isMail():
		if w.ReturnedHeader == nil {
			w.ReturnedHeader = ParseHeader(seen.head, w.limits)
		}
		attachment.Messages = w.attachedMails(ctx, seen.head)
	case part.isHeader():
		w.ReturnedHeader = ParseHeader(seen.head, w.limits)
	case part.isDeliveryReport():
		w.DeliveryStatus = readDeliveryStatus(seen.head, w.limits)
	case part.isCalendar():
		w.addCalendar(readCalendar(charset.ToUTF8(seen.head, part.charset, w.defects), w.allowance.entry, w.defects))
	}
}

// addCalendar adds the entries of a part. Many mails have an invitation twice: as a form of what they say and as an attachment.
func (w *walker) addCalendar(entries []schemas.CalendarEntry) {
	for i := range entries {
		isSame := func(other schemas.CalendarEntry) bool { return reflect.DeepEqual(other, entries[i]) }
		if slices.ContainsFunc(w.Calendar, isSame) {
			continue
		}
		w.allowance.entry--
		w.Calendar = append(w.Calendar, entries[i])
	}
}
