package cloudevents_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	cloudevent "github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"podium/bus/memory"
	"podium/schemas"
)

// What the field's own library sends is taken in every mode, as one event.
func TestEventsOfTheGoSDK(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	server := httptest.NewServer(newAdapter(t, ledger).Handler())
	t.Cleanup(server.Close)
	made := cloudevent.New()
	made.SetID("Straße 7")
	made.SetSource("https://tickets.example.com/büro?a=b")
	made.SetType("com.example.note")
	made.SetSubject("ein Thema")
	made.SetTime(time.Date(2026, 1, 31, 12, 0, 0, 5, time.UTC))
	made.SetExtension("partitionkey", "k 1")
	made.SetExtension("number", 7)
	made.SetExtension("flag", true)
	if err := made.SetData("application/json", map[string]string{"text": "2 + 2 €"}); err != nil {
		t.Fatal(err)
	}
	address := server.URL + "/v1/events/tickets"
	requests := map[string]func() (*http.Request, error){
		"batch": func() (*http.Request, error) {
			return cehttp.NewHTTPRequestFromEvents(t.Context(), address, []cloudevent.Event{made})
		},
	}
	for name, mode := range map[string]func(*http.Request) error{
		"binary": func(r *http.Request) error {
			return cehttp.WriteRequest(binding.WithForceBinary(t.Context()), (*binding.EventMessage)(&made), r)
		},
		"structured": func(r *http.Request) error {
			return cehttp.WriteRequest(binding.WithForceStructured(t.Context()), (*binding.EventMessage)(&made), r)
		},
	} {
		requests[name] = func() (*http.Request, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, http.NoBody)
			if err != nil {
				return nil, err
			}
			return request, mode(request)
		}
	}
	for name, write := range requests {
		request, err := write()
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", token)
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if _ = reply.Body.Close(); reply.StatusCode != http.StatusAccepted {
			t.Errorf("%s: status %d", name, reply.StatusCode)
		}
	}
	events := inputs(t, ledger)
	if len(events) != len(requests) {
		t.Fatalf("%d events", len(events))
	}
	for i := range events {
		message := read[schemas.ChatReceived](t, events[i].Data)
		if events[i].ID != events[0].ID || events[i].PartitionKey != events[0].PartitionKey || message.MessageID != "Straße 7" || message.Thread != "k 1" ||
			message.Text != "2 + 2 €" || !events[i].Time.Equal(made.Time()) {
			t.Errorf("event %+v, message %+v", events[i], message)
		}
	}
}
