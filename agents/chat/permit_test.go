package chat_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"podium/agents/chat"
	"podium/bus/agent"
)

var errRefused = errors.New("nobody wants it any more")

// The callback is called only with a permit, and nobody is asked for an answer that
// is read from the run.
func TestNoCallWithoutAPermit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		channel string
		refusal error
		asked   int
		calls   int32
	}{
		"granted": {channel: "web", asked: 1, calls: 1},
		"refused": {channel: "web", refusal: errRefused, asked: 1},
		"fetched": {channel: "terminal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
			defer server.Close()
			agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: server.URL, Secret: secret}}})
			asked := 0
			given := requestWith(`{"channel":"`+test.channel+`","text":"25"}`, "en")
			request := given.WithPermit(func(context.Context) error {
				asked++
				if calls.Load() > 0 {
					t.Error("it is asked after the call")
				}
				return test.refusal
			})
			_, err := agent.Handle(t.Context(), request, ignore)
			if !errors.Is(err, test.refusal) || asked != test.asked || calls.Load() != test.calls {
				t.Errorf("asked %d times, %d calls, %v", asked, calls.Load(), err)
			}
		})
	}
}

// Nobody knows what became of a call that broke once there was a connection.
func TestDoubtAboutACall(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(server.Close)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(refusing.Close)
	for name, test := range map[string]struct {
		url     string
		unknown bool
	}{
		"cut": {server.URL, true}, "unavailable": {refusing.URL, false}, "nobody there": {"http://127.0.0.1:1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tested := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: test.url, Secret: secret}}})
			_, err := tested.Handle(t.Context(), requestWith(`{"channel":"web","text":"25"}`, "en"), ignore)
			if failure, ok := errors.AsType[*agent.Failure](err); !ok || failure.Unknown != test.unknown {
				t.Errorf("%+v", err)
			}
		})
	}
}
