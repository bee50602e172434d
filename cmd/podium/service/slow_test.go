package service_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
)

// A sender that is slow while the service is told to stop makes no failure of it.
func TestSlowSenderFailsNoStop(t *testing.T) {
	t.Parallel()
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
	running, err := service.Start(t.Context(), settings, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	slow, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(running.Address(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_, _ = fmt.Fprint(slow, "POST /v1/chat/web HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("a stop in order: %v", err)
	}
	_ = running.Close()
}
