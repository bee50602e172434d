package cloudevents

import (
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
)

// TestTimesByRFC3339: small letters and leap seconds are times (RFC 3339, section 5.6 and appendix D).
func TestTimesByRFC3339(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-28t12:00:00z": "2026-11-28T12:00:00Z", "2026-11-28T12:00:00z": "2026-11-28T12:00:00Z", "2026-11-28t12:00:00.25+01:00": "2026-11-28T11:00:00.25Z",
		"2016-12-31T23:59:60Z": "2016-12-31T23:59:59Z", "2015-06-30t23:59:60.5z": "2015-06-30T23:59:59.5Z", "1990-12-31T15:59:60-08:00": "1990-12-31T23:59:59Z",
		"2016-12-31T22:59:60Z": "", "2016-12-30T23:59:60Z": "", "2016-12-31T23:59:61Z": "", "2016-12-31 23:59:59Z": "", "2026-11-28T12:00:00": "", "2026-13-01T00:00:00Z": "", "z": "", "": "",
	} {
		at, ok := parseTime(text)
		if ok != (want != "") || ok && at.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s is %v, %v, want %s", text, at, ok, want)
		}
	}
}

// TestJSONByItsSubtype: data of a type whose subtype is json, or ends with +json, is JSON (CloudEvents JSON format, 3.1).
func TestJSONByItsSubtype(t *testing.T) {
	t.Parallel()
	for mediaType, want := range map[string]string{
		"application/json": "open the gate", "text/json": "open the gate", "text/json; charset=utf-8": "open the gate", "x/json": "open the gate",
		"TEXT/JSON": "open the gate", "text/x+json": "open the gate", "image/svg+json": "open the gate",
		"text/plain": `{"text":"open the gate"}`, "text/jsonx": `{"text":"open the gate"}`,
	} {
		made := event.New()
		made.SetDataContentType(mediaType)
		made.DataEncoded = []byte(`{"text":"open the gate"}`)
		if got, fault := (&Type{}).words(&made); fault != nil || got != want {
			t.Errorf("%q: %q, %+v", mediaType, got, fault)
		}
	}
}
