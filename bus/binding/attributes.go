package binding

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"podium/bus"
	"podium/schemas"
)

// attributes are the decoded values in the order of headerNames.
type attributes [attributeCount]string

// MaxAttribute bounds an attribute's value, in bytes: later messages carry some
// of them on.
const MaxAttribute = 1 << 10

func (a *attributes) event(body []byte) (schemas.Event, error) {
	if a[0] != specVersion {
		return schemas.Event{}, &bus.MalformedError{Detail: "specversion is missing or not " + specVersion}
	}
	e := schemas.Event{
		ID: a[1], Source: a[2], Type: a[3], Subject: a[4], DataContentType: a[6], DataSchema: a[7],
		PartitionKey: a[8], Profile: a[9], CorrelationID: a[10], CausationID: a[11], EffectID: a[13],
		ReplyTo: a[15], TraceParent: a[16], KeyID: a[17], Phase: a[18], Permit: a[25], First: a[28], Data: body,
	}
	if e.Type == schemas.TypeEmailReceived { // elsewhere it may be anybody's word for anything
		e.SessionID = a[29]
	}
	if err := e.Validate(); err != nil {
		return schemas.Event{}, &bus.MalformedError{Detail: err.Error()}
	}
	for index, value := range a {
		if len(value) > MaxAttribute {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + attributeName(headerNames()[index]) + " is longer than 1 KiB"}
		}
	}
	var attempt, size uint64
	for _, count := range [...]struct {
		index int
		bits  int
		to    *uint64
	}{{12, 31, &attempt}, {19, 64, &e.SnapshotSequence}, {20, 64, &e.PreviousSequence}, {23, 63, &size}} {
		if !parseCount(a[count.index], count.bits, count.to) {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + attributeName(headerNames()[count.index]) + " is not a whole number in range"}
		}
	}
	e.Attempt = int(attempt)                         //nolint:gosec // 31 bits
	if a[30] != "" && e.Type == schemas.TypeRecord { // likewise
		if e.Chain = a[30]; !schemas.ValidHash(e.Chain) {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute chain is no SHA-256"}
		}
	}
	if a[26] != "" && e.Type == schemas.TypeRecord { // likewise
		var err error
		if e.Trail, err = schemas.ParseTrail(a[26]); err != nil {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute trail: " + err.Error()}
		}
	}
	for _, moment := range [...]struct {
		index int
		to    *time.Time
	}{{5, &e.Time}, {14, &e.Expires}} {
		if !parseTime(a[moment.index], moment.to) {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + attributeName(headerNames()[moment.index]) + " is not a time by RFC 3339"}
		}
	}
	if a[21] == "" {
		return e, nil
	}
	hash, ok := strings.CutPrefix(a[21], artifactScheme)
	switch {
	case !ok || !schemas.ValidHash(hash):
		return schemas.Event{}, &bus.MalformedError{Detail: "dataref is not " + artifactScheme + "<sha256>"}
	case a[22] != "" && a[22] != hash:
		return schemas.Event{}, &bus.MalformedError{Detail: "datahash contradicts dataref"}
	case len(body) > 0:
		return schemas.Event{}, &bus.MalformedError{Detail: "it has both data and dataref"}
	}
	e.Data = nil
	e.Artifact = &schemas.Artifact{SHA256: hash, Size: int64(size), MediaType: a[24], Grant: a[27]} //nolint:gosec // 63 bits
	return e, nil
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func parseTime(value string, to *time.Time) bool {
	if value == "" {
		return true
	}
	t, err := time.Parse(time.RFC3339, value)
	*to = t.UTC()
	year := to.Year()
	return err == nil && year >= 0 && year <= 9999
}

func formatCount(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func parseCount(value string, bits int, to *uint64) bool {
	if value == "" {
		return true
	}
	n, err := strconv.ParseUint(value, 10, bits)
	*to = n
	return err == nil
}

// percentEncode writes a header value (NATS binding, section 3.1.3.2): space,
// double quote, percent and everything outside printable ASCII is encoded.
func percentEncode(value string) string {
	plain := 0
	for plain < len(value) && printable(value[plain]) {
		plain++
	}
	if plain == len(value) {
		return value
	}
	const digits = "0123456789ABCDEF"
	encoded := make([]byte, 0, len(value)+16)
	encoded = append(encoded, value[:plain]...)
	for i := plain; i < len(value); i++ {
		if c := value[i]; printable(c) {
			encoded = append(encoded, c)
		} else {
			encoded = append(encoded, '%', digits[c>>4], digits[c&0x0f])
		}
	}
	return string(encoded)
}

func printable(c byte) bool { return c > 0x20 && c < 0x7f && c != '"' && c != '%' }

// DecodeHeader reads the header of an attribute as the HTTP and the NATS binding of
// CloudEvents say (section 3.1.3.2 of both): quoted strings (RFC 9110, section 5.6.4)
// are unescaped, then one round of percent-decoding follows. It reports false on an
// open quote, an incomplete escape, and bytes that are not UTF-8 then, such as an
// overlong form or a surrogate.
func DecodeHeader(value string) (string, bool) {
	value = strings.Trim(value, " \t")
	if !strings.ContainsAny(value, `"%`) {
		return value, utf8.ValidString(value)
	}
	decoded := make([]byte, 0, len(value))
	quoted := false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case c == '\\' && quoted:
			if i++; i == len(value) {
				return "", false
			}
			c = value[i]
		}
		decoded = append(decoded, c)
	}
	if quoted {
		return "", false
	}
	text, err := url.PathUnescape(string(decoded))
	return text, err == nil && utf8.ValidString(text)
}
