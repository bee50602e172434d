package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"podium/schemas"
)

const endpointConfig = `
agents:
  erp: {kind: http, url: %q, secret: %q, side_effects: external}
  lost: {kind: http, url: %q, egress: local}
  own: {kind: http, url: %q, egress: local}
profiles:
  desk:
    language: en
    agents: [{name: erp, on_tainted: allow}, lost, own]
    routers:
      - kind: keywords
        groups: [{agent: lost, keywords: [lost]}, {agent: own, keywords: [own]}]
      - {kind: default, agent: erp}
    retry: {attempts: 2, wait: 50ms}
    delivery: {attempts: 1}
`

// TestEndpointIsAnAgent: an HTTP endpoint does work, with a permit; one that is away is told, and no call leads to Podium
// itself, whatever name leads there. No secret is in the log.
func TestEndpointIsAnAgent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead { // whether it is there
			return
		}
		calls.Add(1)
		if r.Header.Get("Webhook-Signature") == "" || r.Header.Get("Webhook-Id") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"status": "completed", "result": {"data": {"order": 12.5, "shipped": true}}, "recommendations": ["Pay."]}`)
	}))
	t.Cleanup(server.Close)
	i := install(t, fmt.Sprintf(endpointConfig, server.URL+"/podium?token=hidden", webSecret, "http://127.0.0.1:1/", "http://own/healthz"))
	i.replace("own/healthz", i.listen+"/healthz")
	i.up("-vv")
	run, answer := i.answered("what about my order")
	if want := "Order: 12.5\nShipped: yes\n\nIt is recommended:\n- Pay."; answer != want || run.Status != schemas.RunCompleted || calls.Load() != 1 {
		t.Errorf("after %d calls the answer is %q, %s, want %q", calls.Load(), answer, run.Status, want)
	}
	if run.Tasks[0].Permit == "" {
		t.Error("no permit was asked for")
	}
	within(t, patience, "it is known that nobody is there", func() bool { return i.problemOf("lost") != "" })
	for words, want := range map[string]string{"lost": "This is not available at the moment.", "own": "Nothing may be sent there"} {
		if said := i.podium("send", "--wait", words); said.code != exitFailed || !strings.Contains(said.stdout+said.stderr, want) {
			t.Errorf("%s ends with %d\n%s%s", words, said.code, said.stdout, said.stderr)
		}
	}
	i.stop()
	i.verify()
	if log := i.process.stderr.String(); strings.Contains(log, "hidden") || strings.Contains(log, strings.TrimPrefix(webSecret, "whsec_")) {
		t.Errorf("the log has a secret:\n%s", log)
	}
}
