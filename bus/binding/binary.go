// Package binding turns events into messages and back: CloudEvents 1.0 in the binary
// mode of its NATS binding ([Encode]), and besides that in structured mode or as the bare
// documented JSON ([Decode]).
//
// What [Encode] writes [Decode] reads as it was. What cannot be read is a
// *bus.MalformedError, which quotes nothing of it. It does not look into the data: that
// is the business of package schemas.
package binding

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

const (
	headerPrefix   = "ce-"
	specVersion    = "1.0"
	artifactScheme = "podium-artifact:"
	contentType    = "content-type"
	structuredType = "application/cloudevents"
	attributeCount = 31
)

// headerNames are the headers of the attributes that an Event has fields for, in
// the order in which Decode reads them: the first bad one is the one reported.
func headerNames() [attributeCount]string {
	return [...]string{
		"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time", "ce-datacontenttype",
		"ce-dataschema", "ce-partitionkey", "ce-profile", "ce-correlationid", "ce-causationid",
		"ce-attempt", "ce-effectid", "ce-expires", "ce-replyto", "ce-traceparent", "ce-keyid",
		"ce-phase", "ce-snapshotseq", "ce-prevseq", "ce-dataref", "ce-datahash", "ce-datasize", "ce-datamediatype", "ce-permit",
		"ce-trail", "ce-datagrant", "ce-first", "ce-sessionid", "ce-chain",
	}
}

// attributeName returns the attribute that a header of headerNames holds.
func attributeName(header string) string { return header[len(headerPrefix):] }

// attributeValues are the canonical string representations (CloudEvents 1.0.2,
// section 3.1) of an event's attributes, in the order of headerNames; empty is absent.
func attributeValues(e *schemas.Event) (values [attributeCount]string) {
	copy(values[:], []string{
		specVersion, e.ID, e.Source, e.Type, e.Subject, formatTime(e.Time), e.DataContentType, e.DataSchema,
		e.PartitionKey, e.Profile, e.CorrelationID, e.CausationID, formatCount(uint64(max(e.Attempt, 0))), e.EffectID, formatTime(e.Expires),
		e.ReplyTo, e.TraceParent, e.KeyID, e.Phase, formatCount(e.SnapshotSequence), formatCount(e.PreviousSequence),
	})
	if a := e.Artifact; a != nil {
		copy(values[21:], []string{artifactScheme + a.SHA256, a.SHA256, strconv.FormatInt(a.Size, 10), a.MediaType})
	}
	values[25] = e.Permit
	if e.Trail != nil {
		values[26] = e.Trail.String()
	}
	if e.Artifact != nil {
		values[27] = e.Artifact.Grant
	}
	values[28], values[29], values[30] = e.First, e.SessionID, e.Chain
	return values
}

// Encode turns an event into a message in binary mode (CloudEvents NATS binding,
// section 3.1): every attribute is a percent-encoded ce-* header, the body is the
// data and nothing else. The message shares the event's data. It fails with
// schemas.ErrInvalidEvent on an event that Decode would refuse.
func Encode(subject string, e *schemas.Event) (bus.Message, error) {
	if err := checkEncodable(e); err != nil {
		return bus.Message{}, err
	}
	values := attributeValues(e)
	there := 0
	for _, value := range values {
		if value != "" {
			there++
		}
	}
	header, room := make(bus.Header, there), make([]string, 0, there)
	for i, name := range headerNames() {
		if values[i] == "" {
			continue
		}
		if !utf8.ValidString(values[i]) {
			return bus.Message{}, fmt.Errorf("%w: attribute %q is not UTF-8", schemas.ErrInvalidEvent, attributeName(name))
		}
		if len(values[i]) > MaxAttribute {
			return bus.Message{}, fmt.Errorf("%w: attribute %q is longer than 1 KiB", schemas.ErrInvalidEvent, attributeName(name))
		}
		room = append(room, percentEncode(values[i]))
		header[name] = room[len(room)-1 : len(room) : len(room)]
	}
	return bus.Message{Subject: subject, Header: header, Body: e.Data}, nil
}

func checkEncodable(e *schemas.Event) error {
	if err := e.Validate(); err != nil {
		return err
	}
	for _, t := range [...]time.Time{e.Time, e.Expires} {
		if year := t.UTC().Year(); year < 0 || year > 9999 {
			return fmt.Errorf("%w: the year %d cannot be written by RFC 3339", schemas.ErrInvalidEvent, year)
		}
	}
	if a := e.Artifact; a != nil && (len(e.Data) > 0 || !schemas.ValidHash(a.SHA256) || a.Size < 0) {
		return fmt.Errorf("%w: its artifact does not stand for its data", schemas.ErrInvalidEvent)
	}
	if e.Attempt < 0 {
		return fmt.Errorf("%w: attempt is negative", schemas.ErrInvalidEvent)
	}
	return nil
}

// Decode reads an event from a message in binary mode, in structured mode
// (application/cloudevents+json), or from one of the three documented messages
// without any CloudEvents header, whose envelope determines the attributes. The
// event shares the message's body. Every error is a *MalformedError.
//
// Of an event whose body is encrypted, which says the attribute keyid, nothing but the
// attributes can be read: it is returned beside an error that is bus.ErrSealed.
//
// Extension attributes that an Event has no field for stay on the ledger only.
func Decode(message bus.Message) (schemas.Event, error) {
	event, err := decode(message)
	if err == nil && event.KeyID != "" {
		err = &bus.MalformedError{Detail: "attribute keyid: " + bus.ErrSealed.Error(), Err: bus.ErrSealed}
	}
	return event, err
}

func decode(message bus.Message) (schemas.Event, error) {
	header, binary, structured := readHeader(message.Header)
	switch {
	case structured:
		return decodeStructured(message.Body)
	case binary:
		return decodeBinary(header, message.Body)
	default:
		return decodeBare(message.Body)
	}
}

// readHeader finds the content mode. Header names are case-insensitive, and
// agents in other languages do write "Ce-Id".
func readHeader(header bus.Header) (folded bus.Header, binary, structured bool) {
	fold := false
	for name, values := range header {
		switch {
		case len(name) > len(headerPrefix) && strings.EqualFold(name[:len(headerPrefix)], headerPrefix):
			binary = true
			fold = fold || strings.ToLower(name) != name
		case strings.EqualFold(name, contentType) && len(values) > 0:
			mediaType, _, _ := strings.Cut(values[0], ";")
			mediaType = strings.ToLower(strings.TrimSpace(mediaType))
			structured = structured || mediaType == structuredType || mediaType == structuredType+"+json"
		}
	}
	if !fold {
		return header, binary, structured
	}
	folded = make(bus.Header, len(header))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lower := strings.ToLower(name)
		folded[lower] = append(folded[lower], header[name]...)
	}
	return folded, binary, structured
}

func decodeBinary(header bus.Header, body []byte) (schemas.Event, error) {
	var a attributes
	for i, name := range headerNames() {
		values := header[name]
		if len(values) > 1 {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + attributeName(name) + " is given more than once"}
		}
		if len(values) == 0 {
			continue
		}
		value, ok := DecodeHeader(values[0])
		if !ok {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + attributeName(name) + " is not percent-encoded UTF-8"}
		}
		a[i] = value
	}
	return a.event(body)
}

// bareEnvelope is as much of a documented message as determines its attributes.
// What has no timestamp that is one can be read all the same: whoever decodes its
// body says what is wrong with it, and can answer.
type bareEnvelope struct {
	SpecVersion string         `json:"specversion"`
	MessageID   string         `json:"message_id"`
	From        string         `json:"from"`
	Type        string         `json:"type"`
	InReplyTo   string         `json:"in_reply_to"`
	Timestamp   jsontext.Value `json:"timestamp"`
}

func (b *bareEnvelope) time() time.Time {
	var at time.Time
	if err := schemas.Unmarshal(b.Timestamp, &at); err != nil || at.UTC().Year() < 0 || at.UTC().Year() > 9999 {
		return time.Time{}
	}
	return at.UTC()
}

func decodeBare(body []byte) (schemas.Event, error) {
	var envelope bareEnvelope
	if err := schemas.Unmarshal(body, &envelope); err != nil {
		return schemas.Event{}, &bus.MalformedError{Detail: "it has no CloudEvents headers, and its body is not a documented message in JSON"}
	}
	if envelope.SpecVersion != "" { // what a server without headers carries (NATS binding, section 3)
		return decodeStructured(body)
	}
	for _, required := range [...]struct{ name, value string }{
		{"message_id", envelope.MessageID}, {"from", envelope.From}, {"type", envelope.Type},
	} {
		if required.value == "" {
			return schemas.Event{}, &bus.MalformedError{Detail: "it has no CloudEvents headers, and its body has no " + required.name}
		}
	}
	return schemas.Event{
		ID:              envelope.MessageID,
		Source:          SourceOf(envelope.From),
		Type:            "podium." + envelope.Type + ".v1",
		Time:            envelope.time(),
		DataContentType: schemas.MediaTypeJSON,
		CausationID:     envelope.InReplyTo,
		Data:            body,
	}, nil
}

// SourceOf returns the CloudEvents source of whoever calls itself name in the
// from field of a documented message.
func SourceOf(name string) string { return "/podium/" + url.PathEscape(name) }
