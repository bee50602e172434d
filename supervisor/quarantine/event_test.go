package quarantine_test

import (
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/quarantine"
)

// TestWhatIsKept: of a message that cannot be used its place, its reason and its bytes are
// kept, also where these are no text.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	received := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	message := bus.Message{
		Stream: "PODIUM_3", Sequence: 7, Subject: "podium.in.\xff.3", Recorded: received,
		Header: bus.Header{"ce-i\xffd": {"\xff", "b"}}, Body: []byte("\xff{"),
	}
	event, err := quarantine.NewEvent(message, schemas.QuarantineMalformed, "it is \xff")
	if err != nil {
		t.Fatal(err)
	}
	var kept schemas.Quarantined
	if err := schemas.Unmarshal(event.Data, &kept); err != nil {
		t.Fatal(err)
	}
	if event.ID != "PODIUM_3:7" || quarantine.ID(message) != event.ID || event.Type != schemas.TypeQuarantined || !event.Time.Equal(received) {
		t.Errorf("the event is %+v", event)
	}
	if kept.Reason != schemas.QuarantineMalformed || kept.Detail != "it is \uFFFD" || kept.Subject != "podium.in.\uFFFD.3" ||
		kept.Stream != message.Stream || kept.Sequence != message.Sequence || string(kept.Body) != string(message.Body) {
		t.Errorf("kept is %+v", kept)
	}
	if values := kept.Headers["ce-i\uFFFDd"]; len(values) != 2 || values[0] != "\uFFFD" || values[1] != "b" {
		t.Errorf("of the headers it keeps %q", kept.Headers)
	}
}
