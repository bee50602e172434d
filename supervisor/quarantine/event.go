// Package quarantine writes down messages that cannot be used, with the reason, so that
// somebody can read them and send them again.
package quarantine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"podium/bus"
	"podium/schemas"
)

// ID is how a message in quarantine is called: by where it stood.
func ID(message bus.Message) string {
	return message.Stream + ":" + strconv.FormatUint(message.Sequence, 10)
}

// NewEvent returns what quarantine holds of a message.
func NewEvent(message bus.Message, reason schemas.QuarantineReason, detail string) (schemas.Event, error) {
	body, err := schemas.Marshal(schemas.Quarantined{
		Reason: reason, Detail: ValidUTF8(detail), Subject: ValidUTF8(message.Subject), Stream: message.Stream,
		Sequence: message.Sequence, Received: message.Recorded, Headers: validHeaders(message.Header), Body: message.Body,
	})
	return schemas.Event{
		ID:     ID(message),
		Source: "/podium/supervisor", Type: schemas.TypeQuarantined, Time: message.Recorded,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}, err
}

// ValidUTF8 returns a text that JSON can hold. What stood there byte for byte can be read at
// the message's own place in the ledger.
func ValidUTF8(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

func validHeaders(header bus.Header) map[string][]string {
	if len(header) == 0 {
		return nil
	}
	headers := make(map[string][]string, len(header))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			headers[ValidUTF8(name)] = append(headers[ValidUTF8(name)], ValidUTF8(value))
		}
	}
	return headers
}
