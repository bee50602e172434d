package service_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
)

// startAdapter runs a service with a chat adapter, and returns how to end it.
func startAdapter(t *testing.T) (running *service.Service, stop func() error) {
	t.Helper()
	text := fmt.Sprintf(`
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: 0123456789abcdef}}}
agents: {echo: {kind: echo}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}
`, t.TempDir())
	settings, err := config.Parse([]byte(text), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if running, err = service.Start(t.Context(), settings, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	return running, func() error {
		cancel()
		return errors.Join(<-ended, running.Close())
	}
}

// A connection on which nothing was asked delays no stop: net/http would wait for
// five seconds.
func TestSilentConnectionDelaysNoStop(t *testing.T) {
	t.Parallel()
	least := time.Hour
	for range 5 { // a stop that waits for them takes five seconds each time, and a busy machine takes long for some
		if least = min(least, stopBesideSilent(t)); least < 4*time.Second {
			return
		}
	}
	t.Errorf("it took %s at least", least)
}

// stopBesideSilent returns how long a stop takes while two connections are open on which nothing was asked.
func stopBesideSilent(t *testing.T) time.Duration {
	t.Helper()
	running, stop := startAdapter(t)
	address := strings.TrimPrefix(running.Address(), "http://")
	for range 2 { // when somebody after them is answered, both were accepted
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.Address()+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	return time.Since(began)
}

// A sender that is slow while the service is told to stop makes no failure of it.
func TestSlowSenderFailsNoStop(t *testing.T) {
	t.Parallel()
	running, stop := startAdapter(t)
	slow, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(running.Address(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_, _ = fmt.Fprint(slow, "POST /v1/chat/web HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := stop(); err != nil {
		t.Errorf("a stop in order: %v", err)
	}
}
