package cloudevents

import (
	"encoding/base64"
	"math"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

const attrDataBase64 = "data_base64"

// readStructured reads an event in the JSON format (JSON format 1.0.2). Names that
// stand twice and text that is not UTF-8 are refused.
func readStructured(body []byte) (*event.Event, *Fault) {
	var members map[string]jsontext.Value
	if err := schemas.Unmarshal(body, &members); err != nil || members == nil {
		return nil, &Fault{Detail: "it is not a JSON object, or one with a name that stands twice or text that is not UTF-8"}
	}
	data, encoded := members[attrData], members[attrDataBase64]
	_, hasData := members[attrData]
	delete(members, attrData)
	delete(members, attrDataBase64)
	attributes := make(map[string]any, len(members)+1)
	for name, member := range members {
		value, ok := attributeValue(member)
		if !ok {
			return nil, &Fault{Attribute: legibleName(name), Detail: "it must be text, true, false or a whole number of 32 bits"}
		}
		if value != nil { // null is as good as absent
			attributes[name] = value
		}
	}
	if _, typed := attributes[attrContentType]; !typed && hasData {
		attributes[attrContentType] = schemas.MediaTypeJSON // JSON format, section 3.1
	}
	read, fault := newEvent(attributes)
	if fault != nil {
		return nil, fault
	}
	return read, setData(read, data, encoded)
}

// attributeValue reads a value; false for what no attribute can be.
func attributeValue(member jsontext.Value) (value any, ok bool) {
	switch member.Kind() {
	case 'n':
		return nil, true
	case 't', 'f':
		return member.Kind() == 't', true
	case '"':
		var text string
		err := schemas.Unmarshal(member, &text)
		return text, err == nil
	case '0':
		var number int64
		if schemas.Unmarshal(member, &number) != nil || number < math.MinInt32 || number > math.MaxInt32 {
			return nil, false
		}
		return int32(number), true
	default:
		return nil, false
	}
}

// setData gives an event its data: JSON as it stands, text by its characters, bytes
// by their base64 (JSON format, section 3.1.1).
func setData(read *event.Event, data, encoded jsontext.Value) *Fault {
	if encoded != nil {
		var text string
		if data != nil || schemas.Unmarshal(encoded, &text) != nil {
			return &Fault{Attribute: attrDataBase64, Detail: "it must be text in base64, and then there is no data"}
		}
		plain, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return &Fault{Attribute: attrDataBase64, Detail: "it is not base64 (RFC 4648, section 4)"}
		}
		read.DataEncoded = plain
		return nil
	}
	if data == nil {
		return nil
	}
	if mediaType, _ := dataMedia(read); isJSON(mediaType) {
		read.DataEncoded = data
		return nil
	}
	var text string
	if data.Kind() != '"' || schemas.Unmarshal(data, &text) != nil {
		return &Fault{Attribute: attrData, Detail: "data that is not JSON by its datacontenttype must be text, or stand in data_base64"}
	}
	read.DataEncoded = []byte(text)
	return nil
}
