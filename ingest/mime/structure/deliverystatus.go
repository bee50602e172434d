package structure

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/schemas"
)

// readDeliveryStatus reads a delivery report (RFC 3464, section 2; RFC 6533): a block of
// fields about the mail, then one for each recipient.
func readDeliveryStatus(data []byte, limits Limits) *schemas.Bounce {
	lines := newLineReader(bytes.NewReader(data))
	bounce := &schemas.Bounce{}
	first := true
	for range maxEntries + 2 {
		h := readHeader(lines, limits, &defect.List{})
		if len(h) == 0 {
			break
		}
		if id := h.First("original-envelope-id"); id != "" {
			bounce.EnvelopeID = header.Short(id)
		}
		if id := header.FirstID(h.First("x-original-message-id")); id != "" {
			bounce.MessageID = id
		}
		if !h.Has("final-recipient") && !h.Has("original-recipient") && !h.Has("action") && !h.Has("status") {
			continue
		}
		one := recipientStatus(h)
		if first {
			bounce.RecipientStatus, first = one, false
		} else if len(bounce.Others) < maxEntries {
			bounce.Others = append(bounce.Others, one)
		}
	}
	return bounce
}

// recipientStatus reads the fields about one recipient.
func recipientStatus(h header.Header) schemas.RecipientStatus {
	recipient := cmp.Or(h.First("original-recipient"), h.First("final-recipient"))
	if _, address, typed := strings.Cut(recipient, ";"); typed {
		recipient = address
	}
	diagnostic := h.First("diagnostic-code")
	if kind, text, typed := strings.Cut(diagnostic, ";"); typed && !strings.Contains(kind, " ") {
		diagnostic = text
	}
	one := schemas.RecipientStatus{
		Recipient: header.Short(strings.Trim(header.StripTrailingComment(recipient), " <>")), Status: statusCode(h.First("status")), Diagnostic: header.Short(diagnostic),
	}
	switch action := strings.ToLower(header.StripTrailingComment(h.First("action"))); action {
	case "failed", "delayed", "delivered", "relayed", "expanded":
		one.Action = action
	}
	return one
}

var enhancedStatus = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}$`)

// statusCode returns the code of RFC 3463 that a text begins with, or "".
func statusCode(text string) string {
	code, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if code = strings.TrimRight(code, "."); !enhancedStatus.MatchString(code) {
		return ""
	}
	return code
}
