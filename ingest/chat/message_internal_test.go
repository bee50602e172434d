package chat

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"podium/bus"
	"podium/bus/binding"
	"podium/ingest/webhook"
	"podium/schemas"
)

func TestDecodeMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName+1)
	for name, test := range map[string]struct{ body, pointer, detail string }{
		"all fields":        {body: `{"text":"hi","message_id":"1","thread":"t","tenant":"w","user":{"id":"u","name":"Ann"},"language":"en"}`},
		"unknown field":     {body: `{"text":"hi","emoji":":)"}`},
		"empty body":        {body: ``, pointer: "#", detail: "not valid JSON"},
		"not JSON":          {body: `text=hi`, pointer: "#", detail: "not valid JSON at byte 1"},
		"cut off":           {body: `{"text":"hi"`, pointer: "#", detail: "not valid JSON at byte 12"},
		"two documents":     {body: `{"text":"hi"}{}`, pointer: "#", detail: "not valid JSON at byte 13"},
		"field twice":       {body: `{"text":"a","text":"b"}`, pointer: "#/text", detail: "duplicate"},
		"not UTF-8":         {body: "{\"text\":\"\xff\"}", pointer: "#/text", detail: "UTF-8"},
		"an array":          {body: `["hi"]`, pointer: "#", detail: "an object is expected"},
		"text is a number":  {body: `{"text":1}`, pointer: "#/text", detail: "a string is expected"},
		"user is a string":  {body: `{"text":"hi","user":"u"}`, pointer: "#/user", detail: "an object is expected"},
		"user id a number":  {body: `{"text":"hi","user":{"id":7}}`, pointer: "#/user/id", detail: "a string is expected"},
		"no text":           {body: `{"message_id":"1"}`, pointer: "#/text", detail: "required"},
		"null":              {body: `null`, pointer: "#/text", detail: "required"},
		"blank text":        {body: `{"text":" \n\t"}`, pointer: "#/text", detail: "required"},
		"other case":        {body: `{"Text":"hi"}`, pointer: "#/text", detail: "required"},
		"long id":           {body: `{"text":"hi","message_id":"` + long + `"}`, pointer: "#/message_id", detail: "at most"},
		"long thread":       {body: `{"text":"hi","thread":"` + long + `"}`, pointer: "#/thread", detail: "at most"},
		"control character": {body: `{"text":"hi","thread":"a\u0000b"}`, pointer: "#/thread", detail: "control"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message, place := decodePosted([]byte(test.body))
			if test.pointer == "" {
				if place != nil || message.Text != "hi" {
					t.Fatalf("message %+v, place %+v", message, place)
				}
				return
			}
			if place == nil {
				t.Fatal("it is accepted")
			}
			if place.Pointer != test.pointer || !strings.Contains(place.Detail, test.detail) {
				t.Errorf("%+v, want %q at %q", *place, test.detail, test.pointer)
			}
		})
	}
}

// One conversation has one key, and no two conversations share one.
func TestPartitionKey(t *testing.T) {
	t.Parallel()
	seen := map[string]schemas.ChatReceived{}
	for _, tenant := range []string{"", "a", "a/b", "a%2Fb"} {
		for _, channel := range []string{"b", "b/c"} {
			for _, thread := range []string{"c", "b/c", "", "/"} {
				received := schemas.ChatReceived{Provider: string(schemas.ProviderWebhook), Tenant: tenant, Channel: channel, Thread: thread}
				key := partitionKey(received)
				if other, ok := seen[key]; ok {
					t.Errorf("%+v and %+v share %q", received, other, key)
				}
				seen[key] = received
			}
		}
	}
}

func TestEventIDs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		webhookID, messageID string
		id, message          string
		named                bool
	}{
		"webhook id":   {webhookID: "wh", id: "chat:web:wh", message: "wh", named: true},
		"message id":   {messageID: "m", id: "chat:web:m", message: "m", named: true},
		"both":         {webhookID: "wh", messageID: "m", id: "chat:web:wh", message: "m", named: true},
		"neither":      {named: false},
		"with a colon": {webhookID: "a:b", id: "chat:web:a:b", message: "a:b", named: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Content-Type": {"application/json"}, webhook.HeaderID: {test.webhookID}}
			messages, err := (&standard{}).Normalize([]byte(`{"text":"hi","message_id":"`+test.messageID+`"}`), header)
			if err != nil || len(messages) != 1 {
				t.Fatalf("%d messages, error %v", len(messages), err)
			}
			event, named, err := messages[0].event(envelope{channel: "web", kind: schemas.ProviderWebhook, profile: "p", now: time.Unix(1, 0)})
			if err != nil || named != test.named {
				t.Fatalf("named %v, error %v", named, err)
			}
			var received schemas.ChatReceived
			if err := schemas.Unmarshal(event.Data, &received); err != nil {
				t.Fatal(err)
			}
			if received.Thread != received.MessageID || received.MessageID == "" {
				t.Errorf("a message without a thread begins its own: %+v", received)
			}
			if test.named && (event.ID != test.id || received.MessageID != test.message) {
				t.Errorf("event %q message %q, want %q %q", event.ID, received.MessageID, test.id, test.message)
			}
		})
	}
}

func TestTraceParent(t *testing.T) {
	t.Parallel()
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for given, want := range map[string]string{good: good, good + "\r\nx: y": "", "nonsense": ""} {
		event, _, err := (&Message{}).event(envelope{channel: "web", profile: "p", traceParent: given})
		if err != nil || event.TraceParent != want {
			t.Errorf("%q becomes %q (%v)", given, event.TraceParent, err)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"text":"hi"}`, `{"text":"hi","user":{"id":"u"},"thread":"t/ü"}`, `{"text":1}`, `[`, "\xff", `{"text":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		posted, place := decodePosted(body)
		if place != nil {
			if place.Detail == "" || !strings.HasPrefix(place.Pointer, "#") {
				t.Errorf("the place is not told: %+v", *place)
			}
			return
		}
		message := posted.message("")
		event, _, err := message.event(envelope{channel: "web", profile: "p", now: time.Unix(1, 0)})
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		encoded, err := binding.Encode(bus.InSubject(adapterName, 0), &event)
		if err != nil {
			t.Fatalf("what was read is not an event: %v", err)
		}
		decoded, err := binding.Decode(encoded)
		if err != nil || decoded.ID != event.ID || decoded.PartitionKey != event.PartitionKey || !utf8.Valid(decoded.Data) {
			t.Errorf("the event does not survive the wire: %v", err)
		}
	})
}
