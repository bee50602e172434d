package mcp_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/agents/mcp"
)

// remote is an agent of a tool of a server at a URL, which the handler may stand before.
func remote(t *testing.T, tool string, before func(http.Handler) http.Handler, more ...func(*mcp.Config)) *mcp.Agent {
	t.Helper()
	server := newServer("Says it again.")
	served := httptest.NewServer(before(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	t.Cleanup(served.Close)
	config := mcp.Config{Agent: "tester", URL: served.URL, Client: served.Client(), Tool: tool, Pin: pinned(t, tool)}
	for _, change := range more {
		change(&config)
	}
	return made(t, config)
}

func plainly(next http.Handler) http.Handler { return next }

// TestRemote: a server at a URL is one like any other, and is shown the key.
func TestRemote(t *testing.T) {
	t.Parallel()
	keyed := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	one := remote(t, "add", keyed, func(config *mcp.Config) { config.Key = "secret" })
	if outcome, err := one.Handle(t.Context(), request(`{"a":1,"b":2}`), silent); err != nil || string(outcome.Data) != `{"sum":3}` {
		t.Errorf("%+v, %v", outcome, err)
	}
	if failure := failed(t, remote(t, "add", keyed), `{"a":1,"b":2}`); failure.Permanent || !strings.Contains(failure.Message, "cannot be reached") || strings.Contains(failure.Error(), "secret") {
		t.Errorf("%+v", *failure)
	}
}

// TestRemoteAsks: a server at a URL may ask too.
func TestRemoteAsks(t *testing.T) {
	t.Parallel()
	if outcome, err := remote(t, "book", plainly).Handle(t.Context(), request(`{}`), silent); err != nil || len(outcome.Needs) != 1 {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// TestRemoteFailures: what becomes of a call to a server that goes away, is slow, or may not be called.
func TestRemoteFailures(t *testing.T) {
	t.Parallel()
	barred := errors.New("nobody goes there")
	one := remote(t, "echo", plainly, func(config *mcp.Config) {
		config.Client = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, barred })}
		config.Barred = func(err error) bool { return errors.Is(err, barred) }
	})
	if failure := failed(t, one, `{}`); !failure.Permanent || failure.Unknown || !strings.Contains(failure.Message, "may be sent there") {
		t.Errorf("barred: %+v", *failure)
	}
	one = remote(t, "echo", plainly, func(config *mcp.Config) {
		config.URL = "http://127.0.0.1:1/mcp?key=se%20cret"
		config.Client = http.DefaultClient
	})
	if failure := failed(t, one, `{}`); strings.Contains(failure.Error(), "cret") || strings.Contains(one.Check(t.Context()).Error(), "cret") || failure.Permanent {
		t.Errorf("nobody is there: %+v", *failure)
	}
	var gone atomic.Bool
	one = remote(t, "echo", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gone.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	}, external)
	if _, err := one.Handle(t.Context(), request(`{}`), silent); err != nil {
		t.Fatal(err)
	}
	gone.Store(true)
	if failure := failed(t, one, `{}`); failure.Permanent || !failure.Unknown {
		t.Errorf("gone: %+v", *failure)
	}
	gone.Store(false)
	eventually(t, "it is called again", func() bool {
		_, err := one.Handle(t.Context(), request(`{}`), silent)
		return err == nil
	})
	one = remote(t, "hang", plainly, func(config *mcp.Config) { config.Timeout = 300 * time.Millisecond })
	if failure := failed(t, one, `{"text":"/dev/null"}`); !strings.Contains(failure.Message, "not finished after 300ms") {
		t.Errorf("slow: %+v", *failure)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
