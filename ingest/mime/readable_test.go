package mime_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// readable is the event as JSON for people to review.
func readable(tb testing.TB, mail schemas.EmailReceived) []byte {
	tb.Helper()
	validStrings(tb, mail)
	text, err := json.Marshal(mail, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		tb.Fatal(err)
	}
	return append(text, '\n')
}
