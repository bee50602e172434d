package cloudevents_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/ingest/cloudevents"
	"podium/schemas"
)

const (
	profile   = "desk"
	token     = "Bearer correct-horse-battery"
	signature = "v1,right"
)

// authenticator knows a token, and a signature that says so.
type authenticator struct{ token string }

func (d authenticator) Claims(header http.Header, _ time.Time) bool {
	return d.Reads(header) || header.Get("Webhook-Signature") != ""
}

func (d authenticator) Verify(_ []byte, header http.Header, _ time.Time) bool {
	return d.Reads(header) || d.token != "" && header.Get("Webhook-Signature") == signature
}

func (d authenticator) Reads(header http.Header) bool {
	return d.token != "" && header.Get("Authorization") == d.token
}

func config() cloudevents.Config {
	return cloudevents.Config{
		Sources: map[string]cloudevents.Source{
			"tickets": {
				Profile: profile, Verifier: authenticator{token},
				Types: map[string]cloudevents.Type{
					"com.example.note":           {},
					"com.example.ticket.created": {Text: []string{"/title", "/lines/1"}, PartitionKey: "/ticket/id"},
					"com.example.document":       {Text: []string{""}},
					schemas.TypeExecutionRequest: {},
				},
				Origins: []string{"eventemitter.example.com"},
			},
			"plain": {Profile: profile, Verifier: authenticator{token}, Types: map[string]cloudevents.Type{"com.example.note": {}}},
		},
		Supervisor: "supervisor",
		RunURLs: func(receipt intake.Receipt) (run, events string) {
			run = "/v1/runs/" + receipt.Session + "~" + strconv.FormatUint(receipt.Sequence, 10)
			return run, run + "/events"
		},
	}
}

func newAdapter(tb testing.TB, core bus.Core, change ...func(*cloudevents.Config)) *cloudevents.Adapter {
	tb.Helper()
	made := config()
	for _, c := range change {
		c(&made)
	}
	adapter, err := cloudevents.New(made, core, zerolog.Nop())
	if err != nil {
		tb.Fatal(err)
	}
	return adapter
}

// A call is one request to an adapter.
type call struct {
	method, path, body string
	header             http.Header
}

// post is a request with the source's token; header is name, value, name, value, and
// a name that stands twice has two values.
func post(mediaType, body string, header ...string) call {
	made := call{method: http.MethodPost, path: "/v1/events/tickets", body: body, header: http.Header{"Authorization": {token}}}
	if mediaType != "" {
		made.header.Set("Content-Type", mediaType)
	}
	for i := 0; i < len(header); i += 2 {
		made.header.Add(header[i], header[i+1])
	}
	return made
}

// binary is an event in binary mode; header changes or adds to its attributes, and an
// empty value removes one.
func binary(mediaType, body string, header ...string) call {
	made := post(mediaType, body, "Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Source", "/tickets", "Ce-Type", "com.example.note")
	for i := 0; i < len(header); i += 2 {
		if made.header.Set(header[i], header[i+1]); header[i+1] == "" {
			made.header.Del(header[i])
		}
	}
	return made
}

func structured(body string) call { return post("application/cloudevents+json", body) }

func batch(body string) call { return post("application/cloudevents-batch+json", body) }

func (c call) do(ctx context.Context, adapter *cloudevents.Adapter) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	request.Header = c.header
	recorder := httptest.NewRecorder()
	adapter.Handler().ServeHTTP(recorder, request)
	return recorder
}

func read[T any](tb testing.TB, body []byte) (document T) {
	tb.Helper()
	if err := schemas.Unmarshal(body, &document); err != nil {
		tb.Fatalf("%v: %s", err, body)
	}
	return document
}

// expect does a call, checks its status, and reads its document.
func expect[T any](t *testing.T, adapter *cloudevents.Adapter, c call, status int) T {
	t.Helper()
	recorder := c.do(t.Context(), adapter)
	if recorder.Code != status {
		t.Fatalf("status %d, want %d: %s", recorder.Code, status, recorder.Body)
	}
	return read[T](t, recorder.Body.Bytes())
}

// inputs returns the events that the adapter has published.
func inputs(tb testing.TB, ledger bus.Ledger) []schemas.Event {
	tb.Helper()
	var events []schemas.Event
	for shard := range ledger.Shards() {
		for message, err := range ledger.Scan(tb.Context(), bus.ShardStream(shard), 1, bus.InSubject("http", shard)) {
			if err != nil {
				tb.Fatal(err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				tb.Fatal(err)
			}
			events = append(events, event)
		}
	}
	return events
}

// A faulty ledger fails the publishes after the first good ones.
type faulty struct {
	*memory.Ledger
	good int
	err  error
}

func (f *faulty) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if f.good--; f.good < 0 && f.err != nil {
		done(bus.Ack{}, f.err)
		return
	}
	f.Ledger.Publish(message, expect, done)
}
