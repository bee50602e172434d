package service

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"podium/agents/mcp"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/schemas"
)

// toolServer serves the tool say at a URL, which says x so many times.
func toolServer(t *testing.T, times int) *httptest.Server {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	type nothing struct{}
	sdk.AddTool(server, &sdk.Tool{Name: "say"}, func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", times)}}}, nil, nil
	})
	served := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(served.Close)
	return served
}

// TestToolServersPassTheGuard: a server at a URL is called where egress leads and nowhere else, never where Podium itself listens, and may say no
// more than an answer may have.
func TestToolServersPassTheGuard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		times int
		own   bool
		says  string
	}{
		"as it is meant":       {10, false, ""},
		"where Podium listens": {10, true, "may be sent there"},
		"too much":             {3 * mcp.DefaultMaxMessage, false, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := toolServer(t, test.times)
			settings := &config.Config{Agents: map[string]config.Agent{"far": {Kind: config.KindMCP, URL: served.URL, Tool: "say"}}}
			pin, err := mcp.Discover(t.Context(), ToolConfig(settings, "far", nil, zerolog.Nop()))
			if err != nil {
				t.Fatal(err)
			}
			entry := settings.Agents["far"]
			entry.Pinned = pin
			settings.Agents["far"] = entry
			var own func() []netip.AddrPort
			if test.own {
				own = func() []netip.AddrPort {
					return []netip.AddrPort{netip.MustParseAddrPort(served.Listener.Addr().String())}
				}
			}
			made, err := toolAgent(settings, "far", own, zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = made.Close() }()
			request := &agent.Request{ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1"}}}}}
			outcome, err := made.Handle(t.Context(), request, func(int, string) {})
			if test.says == "" {
				if err != nil || len(outcome.Text) != test.times {
					t.Errorf("%q, %v", outcome.Text, err)
				}
				return
			}
			if failure, failed := errors.AsType[*agent.Failure](err); !failed || !failure.Permanent || !strings.Contains(failure.Message, test.says) {
				t.Errorf("%d bytes, %v: %+v", len(outcome.Text), err, failure)
			}
		})
	}
}

// fragile is an agent that works by something that may be away.
type fragile struct {
	agent.HandlerFunc

	problem error
	closed  bool
}

func (*fragile) Description() schemas.Agent    { return schemas.Agent{Kind: "fragile"} }
func (f *fragile) Check(context.Context) error { return f.problem }
func (f *fragile) Close() error                { f.closed = true; return nil }

// TestOwnAgentsAreLookedAfter_G35: what an agent of this process says of itself is told as long as it is served, and then
// what it keeps open is let go.
func TestOwnAgentsAreLookedAfter_G35(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := memory.New(1)
		if err := ledger.Declare(t.Context(), "far", bus.Pool{Size: 1, AckWait: AckWait}); err != nil {
			t.Fatal(err)
		}
		stop, err := registry.ServeAgents(t.Context(), ledger, registry.AgentServices{Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		s := &Service{log: zerolog.Nop(), settings: &config.Config{Agents: map[string]config.Agent{"far": {Concurrency: 1}}}}
		tool, served := &fragile{problem: errors.New("it is another one")}, &inProcess{name: "far"}
		s.serving = []*inProcess{served}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.serveAgent(ctx, ledger.Worker("far"), served, tool) }()
		time.Sleep(time.Second)
		if why := s.unwell("far"); why != "it is another one" {
			t.Errorf("told %q", why)
		}
		end()
		if err := <-ended; err != nil || !tool.closed {
			t.Errorf("%v, closed: %t", err, tool.closed)
		}
	})
}
