package chat

import (
	"strings"
	"testing"
	"time"

	"podium/bus/binding"
	"podium/schemas"
)

// What the adapter answers with 202 has to be an event that its session can read.
func TestLongNamesCanBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ж", 128) // 256 bytes, as the adapter allows
	posted, place := decodePosted([]byte(`{"text":"x","message_id":"` + long + `","thread":"` + long + `","tenant":"` + long + `"}`))
	if place != nil {
		t.Fatal(place)
	}
	message := posted.message(posted.MessageID)
	event, _, err := message.event(envelope{channel: "web", kind: schemas.ProviderWebhook, profile: "desk", now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := binding.Encode("podium.in.chat.0", &event)
	if err == nil {
		_, err = binding.Decode(encoded)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWebhookIDThatIsNotUTF8IsTold(t *testing.T) {
	t.Parallel()
	if wrongName("\xff") == "" {
		t.Fatal("it is taken, and answered with 503 for ever")
	}
}
