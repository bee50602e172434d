package llm_test

import (
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/llm"
	"podium/bus/agent"
)

var _ agent.Checker = (*llm.Agent)(nil)

// TestCheckAsksForTheModels_G35: a server that answers is there, also one that is busy or knows no such question. One
// that takes no key, or nobody behind a proxy, is not. No error holds the key.
func TestCheckAsksForTheModels_G35(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != "/v1/models" || r.Method != nethttp.MethodGet || r.Header.Get("Authorization") != "Bearer hidden" {
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
		w.WriteHeader(int(status.Load()))
	}))
	made, err := llm.New(llm.Config{Role: llm.RoleWorker, BaseURL: server.URL + "/v1", Model: "m", Key: "hidden", Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for answered, well := range map[int32]bool{200: true, 404: true, 429: true, 503: true, 401: false, 403: false, 502: false, 504: false} {
		status.Store(answered)
		if err := made.Check(t.Context()); (err == nil) != well || err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("HTTP %d: %v", answered, err)
		}
	}
	server.Close()
	if err := made.Check(t.Context()); err == nil || strings.Contains(err.Error(), server.URL) {
		t.Errorf("nobody listens: %v", err)
	}
}
