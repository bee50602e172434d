package cloudevents

import (
	"errors"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cloudevents/sdk-go/v2/event"

	"podium/bus/binding"
)

const (
	headerPrefix = "ce-"
	specVersion  = event.CloudEventsVersionV1
	maxAttribute = 1 << 10 // bytes
	maxID        = 256     // bytes: the ledger keeps it as the message's id
)

// The names of attributes that are spoken of.
const (
	attrSpecVersion  = "specversion"
	attrID           = "id"
	attrType         = "type"
	attrTime         = "time"
	attrContentType  = "datacontenttype"
	attrPartitionKey = "partitionkey"
	attrData         = "data"
	attrKeyID        = "keyid"
)

// A mode is how a request carries its events.
type mode int

const (
	modeBinary     mode = iota // attributes are headers, the body is the data
	modeStructured             // the body is an event in JSON
	modeBatch                  // the body is a list of events in JSON
)

// modeOf finds the content mode by the media type alone (HTTP binding, section 3); false
// for a format that this adapter does not read.
func modeOf(header http.Header) (found mode, ok bool) {
	lines := header.Values("Content-Type")
	if len(lines) == 0 {
		return modeBinary, true
	}
	mediaType, parameters, err := mime.ParseMediaType(lines[0])
	switch {
	case err != nil, len(lines) > 1:
	case !strings.HasPrefix(mediaType, "application/cloudevents"):
		return modeBinary, true
	case !isUTF8(parameters):
	case mediaType == event.ApplicationCloudEventsJSON:
		return modeStructured, true
	case mediaType == event.ApplicationCloudEventsBatchJSON:
		return modeBatch, true
	}
	return 0, false
}

func isUTF8(parameters map[string]string) bool {
	charset := parameters["charset"]
	return charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "us-ascii")
}

// readBinary reads an event whose attributes are headers (HTTP binding, section 3.1).
func readBinary(header http.Header, body []byte) (*event.Event, *Fault) {
	attributes := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), headerPrefix)
		if !ok {
			continue
		}
		values := header[name]
		if len(values) != 1 {
			return nil, &Fault{Attribute: attribute, Detail: "it is given more than once"}
		}
		if attribute == attrContentType || attribute == attrData {
			return nil, &Fault{Attribute: attribute, Detail: "in binary mode this is no ce- header: the header Content-Type is the datacontenttype, the body is the data"}
		}
		value, ok := binding.DecodeHeader(values[0])
		if !ok {
			return nil, &Fault{Attribute: attribute, Detail: "it is not percent-encoded UTF-8"}
		}
		attributes[attribute] = value
	}
	if mediaType := header.Get("Content-Type"); mediaType != "" {
		attributes[attrContentType] = mediaType
	}
	read, fault := newEvent(attributes)
	if fault != nil {
		return nil, fault
	}
	if len(body) > 0 {
		read.DataEncoded = body
	}
	return read, nil
}

// newEvent makes an event of its attributes and checks them (CloudEvents 1.0.2,
// section 3). Values are strings, booleans and 32-bit integers.
func newEvent(attributes map[string]any) (*event.Event, *Fault) {
	if attributes[attrSpecVersion] != any(specVersion) {
		return nil, &Fault{Attribute: attrSpecVersion, Detail: `it must be "` + specVersion + `"`}
	}
	made := event.New(specVersion)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text, isText := attributes[name].(string)
		switch {
		case !attributeName(name):
			return nil, &Fault{Attribute: legibleName(name), Detail: "the name of an attribute has letters a-z and digits only"}
		case len(text) > maxAttribute || name == attrID && len(text) > maxID:
			return nil, &Fault{Attribute: name, Detail: "it is too long: ids may have 256 bytes, other attributes 1 KiB"}
		case strings.ContainsFunc(text, forbidden):
			return nil, &Fault{Attribute: name, Detail: "it holds control characters, or what is no character"}
		}
		if fault := setAttribute(&made, name, text, isText, attributes[name]); fault != nil {
			return nil, fault
		}
	}
	return &made, faultOf(made.Validate())
}

// setAttribute sets one attribute; what the event itself finds wrong is left to its
// validation.
func setAttribute(made *event.Event, name, text string, isText bool, value any) *Fault {
	set, known := map[string]func(string){
		attrID: made.SetID, "source": made.SetSource, attrType: made.SetType, "subject": made.SetSubject,
		"dataschema": made.SetDataSchema, attrContentType: made.SetDataContentType,
	}[name]
	switch {
	case name == attrSpecVersion:
	case name == attrTime:
		return setTime(made, text)
	case !known:
		made.SetExtension(name, value)
	case !isText || text == "":
		return &Fault{Attribute: name, Detail: "it must be text and not empty"}
	default:
		set(text)
	}
	return nil
}

func setTime(made *event.Event, text string) *Fault {
	at, ok := parseTime(text)
	if !ok {
		return &Fault{Attribute: attrTime, Detail: "it is not a time by RFC 3339, such as 2026-01-31T12:00:00Z"}
	}
	made.SetTime(at)
	return nil
}

// parseTime reads a time by RFC 3339, section 5.6: t and z may be small. A leap second, which is the last of a month in
// UTC, is the second before it: no clock here can hold it.
func parseTime(text string) (time.Time, bool) {
	text = strings.Map(func(c rune) rune {
		if c == 't' || c == 'z' {
			return unicode.ToUpper(c)
		}
		return c
	}, text)
	leap := len(text) > len(secondOf) && text[len(secondOf)-len(":60"):len(secondOf)] == ":60"
	if leap {
		text = text[:len(secondOf)-len("60")] + "59" + text[len(secondOf):]
	}
	at, err := time.Parse(time.RFC3339, text)
	utc := at.UTC()
	if leap && (utc.Hour() != 23 || utc.Minute() != 59 || utc.AddDate(0, 0, 1).Day() != 1) {
		return time.Time{}, false
	}
	return at, err == nil && utc.Year() >= 0 && utc.Year() <= 9999
}

// secondOf is as long as a time by RFC 3339 up to its seconds.
const secondOf = "2006-01-02T15:04:05"

// faultOf names the attribute that the event's own validation refuses: of several
// the first in lexical order.
func faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	invalid, _ := errors.AsType[event.ValidationError](err)
	if len(invalid) == 0 {
		return &Fault{Detail: "it is not a CloudEvent"}
	}
	name := slices.Sorted(maps.Keys(invalid))[0]
	detail := "it is missing, or not what CloudEvents 1.0.2 (section 3.1) says"
	return &Fault{Attribute: strings.TrimPrefix(name, "extension:"), Detail: detail}
}

// attributeName reports whether a name keeps to CloudEvents 1.0.2, section 3.1.
func attributeName(name string) bool {
	return name != "" && name != attrData &&
		!strings.ContainsFunc(name, func(c rune) bool { return ('a' > c || c > 'z') && ('0' > c || c > '9') })
}

// legibleName is a name from outside as a problem may repeat it.
func legibleName(name string) string {
	name = strings.Map(func(c rune) rune {
		if forbidden(c) {
			return unicode.ReplacementChar
		}
		return c
	}, name)
	return name[:min(len(name), 64)]
}

// forbidden reports what a String may not hold (CloudEvents 1.0.2, section 2):
// control characters, and code points that are no characters.
func forbidden(c rune) bool {
	return unicode.IsControl(c) || c >= 0xFDD0 && c <= 0xFDEF || c&0xFFFE == 0xFFFE
}

// dataMedia returns the media type of an event's data.
func dataMedia(e *event.Event) (mediaType string, parameters map[string]string) {
	mediaType, parameters, err := mime.ParseMediaType(e.DataContentType())
	if err != nil {
		return "", nil // validated: it is absent
	}
	return mediaType, parameters
}

func isJSON(mediaType string) bool {
	_, subtype, _ := strings.Cut(mediaType, "/")
	return subtype == "json" || strings.HasSuffix(subtype, "+json")
}
