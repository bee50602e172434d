package http_test

import (
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/http"
	"podium/bus/agent"
)

var _ agent.Checker = (*http.Agent)(nil)

// TestCheckAsksTheEndpoint_G35: an endpoint that answers at all is there, whatever it thinks of HEAD; behind a proxy
// that finds nobody, or when nobody listens, it is not. The URL, which may hold a token, is in no error.
func TestCheckAsksTheEndpoint_G35(t *testing.T) {
	t.Parallel()
	var status, posts atomic.Int32
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method != nethttp.MethodHead {
			posts.Add(1)
		}
		w.WriteHeader(int(status.Load()))
	}))
	made, err := http.New(http.Config{URL: server.URL + "/hook?token=hidden", Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for answered, well := range map[int32]bool{200: true, 404: true, 405: true, 500: true, 501: true, 502: false, 503: false, 504: false} {
		status.Store(answered)
		if err := made.Check(t.Context()); (err == nil) != well || err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("HTTP %d: %v", answered, err)
		}
	}
	if posts.Load() != 0 {
		t.Error("a check has asked the endpoint to do something")
	}
	server.Close()
	if err := made.Check(t.Context()); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("nobody listens: %v", err)
	}
}
