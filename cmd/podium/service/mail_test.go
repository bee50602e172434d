package service_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/schemas"
)

const deafDesk = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
mail:
  accounts:
    - name: support
      profile: desk
      imap: {host: 127.0.0.1, port: %d, tls: none, username: u, password: p, alarm: 1ms}
      smtp: {host: 127.0.0.1, port: 1, tls: none, from: support@example.org}
agents: {echo: {kind: echo}}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}
`

// TestStatusOfAMailboxIsHeard_I13: a server that takes connections and says
// nothing is no healthy mailbox; whoever listens hears so, and nothing is stored.
func TestStatusOfAMailboxIsHeard_I13(t *testing.T) {
	t.Parallel()
	deaf, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()
	address, ok := deaf.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", deaf.Addr())
	}
	settings, err := config.Parse(fmt.Appendf(nil, deafDesk, t.TempDir(), address.Port), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	running, err := service.Start(t.Context(), settings, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan []byte, 100)
	stopHearing, err := running.Ledger.Core.Serve(bus.SourceSubject("*"), func(_ context.Context, subject string, body []byte) ([]byte, error) {
		if subject == "podium.source.email.status" {
			heard <- body
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		stopHearing()
		if err := running.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for {
		select {
		case body := <-heard:
			if silentStatus(t, body) {
				unhealthy(t, running.Address())
				return
			}
		case <-time.After(patience):
			t.Fatal("nothing was heard of the silence")
		}
	}
}

// silentStatus checks an event and tells whether it raises the alarm.
func silentStatus(t *testing.T, body []byte) bool {
	t.Helper()
	event, err := binding.Decode(bus.Message{Header: bus.Header{"Content-Type": {"application/cloudevents+json"}}, Body: body})
	if err == nil {
		err = event.Validate()
	}
	if err != nil || event.Type != schemas.TypeSourceStatus || event.Subject != "support" {
		t.Fatalf("event %+v: %v", event, err)
	}
	if violations := schemas.Validate("source_status", event.Data); violations != nil {
		t.Errorf("%s: %v", event.Data, violations)
	}
	var status schemas.SourceStatus
	if err := schemas.Unmarshal(event.Data, &status); err != nil {
		t.Fatal(err)
	}
	if status.Adapter != "email" || status.Account != "support" || status.Mailbox != "INBOX" || status.Healthy == status.Silent {
		t.Errorf("status %+v", status)
	}
	return status.Silent
}

// unhealthy reads the health page of a service whose mailbox is not well.
func unhealthy(t *testing.T, address string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(page), `"silent":true`) {
		t.Errorf("status %d: %s (%v)", response.StatusCode, page, err)
	}
}
