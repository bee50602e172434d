package binding

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// structuredOutline holds what the SDK's reader takes for granted: it panics on
// a data_base64 that is no string and on an empty datacontentencoding, and it
// reads what is not JSON.
type structuredOutline struct {
	SpecVersion string  `json:"specversion"`
	DataBase64  *string `json:"data_base64"`
}

// decodeStructured reads the JSON event format (CloudEvents JSON format 1.0.2).
func decodeStructured(body []byte) (schemas.Event, error) {
	var outline structuredOutline
	if err := schemas.Unmarshal(body, &outline); err != nil {
		return schemas.Event{}, &bus.MalformedError{Detail: "its body is not a CloudEvent in JSON"}
	}
	if outline.SpecVersion != specVersion {
		return schemas.Event{}, &bus.MalformedError{Detail: "specversion is missing or not " + specVersion}
	}
	var read event.Event
	if err := read.UnmarshalJSON(body); err != nil {
		return schemas.Event{}, &bus.MalformedError{Detail: "its body is not a CloudEvent in JSON"}
	}
	if err := read.Validate(); err != nil {
		return schemas.Event{}, &bus.MalformedError{Detail: validationDetail(err)}
	}
	var a attributes
	extensions := read.Extensions()
	for i, header := range headerNames() {
		name := attributeName(header)
		value, ok := extensions[name]
		if !ok {
			continue
		}
		text, err := types.Format(value)
		if err != nil {
			return schemas.Event{}, &bus.MalformedError{Detail: "attribute " + name + " has a type that CloudEvents does not know"}
		}
		a[i] = text
	}
	copy(a[:8], []string{
		specVersion, read.ID(), read.Source(), read.Type(), read.Subject(),
		formatTime(read.Time()), read.DataContentType(), read.DataSchema(),
	})
	return a.event(slices.Clone(read.Data()))
}

// validationDetail names the bad attributes in a fixed order: the SDK holds them in a map.
func validationDetail(err error) string {
	var invalid event.ValidationError
	if !errors.As(err, &invalid) {
		return "it is not a valid CloudEvent"
	}
	return "not valid as CloudEvents attributes: " + strings.Join(slices.Sorted(maps.Keys(invalid)), ", ")
}

// MarshalStructured writes an event in structured mode as one line of JSON. Data
// stands in it as JSON, else as text, else in base64, whichever is the first that
// loses nothing but the white space of JSON.
func MarshalStructured(e *schemas.Event) ([]byte, error) {
	if err := checkEncodable(e); err != nil {
		return nil, err
	}
	written := event.New(event.CloudEventsVersionV1)
	written.SetID(e.ID)
	written.SetSource(e.Source)
	written.SetType(e.Type)
	written.SetSubject(e.Subject)
	written.SetDataContentType(e.DataContentType)
	written.SetDataSchema(e.DataSchema)
	written.SetTime(e.Time)
	values := attributeValues(e)
	for i, header := range headerNames() {
		switch name := attributeName(header); {
		case i < 8 || values[i] == "":
		case name == "attempt" && e.Attempt <= math.MaxInt32:
			written.SetExtension(name, int32(e.Attempt)) //nolint:gosec // checked
		default: // sequences and sizes go beyond the 32 bits of a CloudEvents integer
			written.SetExtension(name, values[i])
		}
	}
	setData(&written, e.Data)
	if err := written.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %s", schemas.ErrInvalidEvent, validationDetail(err))
	}
	body, err := written.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("marshal a %s: %w", e.Type, err)
	}
	return body, nil
}

func setData(to *event.Event, data []byte) {
	if len(data) == 0 {
		return
	}
	mediaType, _, _ := strings.Cut(strings.ToLower(to.DataContentType()), ";")
	mediaType = strings.TrimSpace(mediaType)
	isJSON := mediaType == "" || mediaType == schemas.MediaTypeJSON || mediaType == "text/json" // as the SDK has it
	if !isJSON {
		to.DataEncoded, to.DataBase64 = data, !utf8.Valid(data)
		return
	}
	value := jsontext.Value(slices.Clone(data))
	if err := value.Compact(); err != nil {
		to.DataEncoded, to.DataBase64 = data, true
		return
	}
	to.DataEncoded = value
}
