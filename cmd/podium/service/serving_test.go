package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded/serverprocess"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
)

const onAServer = `
ledger: {data: %q, nats: {url: %q, credentials: %q}}
http: {listen: "127.0.0.1:0"}
agents: {echo: {kind: echo}, office: {kind: supervisor, profile: desk}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}
`

func settingsOn(t *testing.T, server *serverprocess.Process) *config.Config {
	t.Helper()
	settings, err := config.Parse(fmt.Appendf(nil, onAServer, t.TempDir(), server.URL(), server.Keys().Core.SeedFile), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// TestAgentsThatCannotConnectFailTheStart: the start says which agent the server
// does not know, and what to do, instead of taking messages that nobody answers.
func TestAgentsThatCannotConnectFailTheStart(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: []string{"chat", "echo", "office"}})
	for _, missing := range []string{"echo", "office"} {
		server.Kill()
		server.Know("chat", map[string]string{"echo": "office", "office": "echo"}[missing])
		server.Restart()
		running, err := service.Start(t.Context(), settingsOn(t, server), zerolog.Nop())
		if err == nil {
			_ = running.Close()
			t.Fatalf("it starts without %s", missing)
		}
		for _, says := range []string{fmt.Sprintf("agent %q cannot connect", missing), "{nkey: " + server.Keys().Agents[missing].Public + "}"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
		}
	}
}

// health is as much of /healthz as concerns agents.
type health struct {
	OK     bool `json:"ok"`
	Agents []struct {
		Name    string `json:"name"`
		Healthy bool   `json:"healthy"`
		Problem string `json:"problem"`
	} `json:"agents"`
}

func healthOf(t *testing.T, address string) (status int, report health) {
	t.Helper()
	status, body := get(t, address+"/healthz")
	if err := json.Unmarshal(body, &report); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return status, report
}

func get(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	if body, err = io.ReadAll(reply.Body); err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, body
}

// TestHealthNamesAgentsThatAreNotServed: an agent whose key the server has forgotten
// is named with the reason, and served again when the server knows it again.
func TestHealthNamesAgentsThatAreNotServed(t *testing.T) {
	t.Parallel()
	server := serverprocess.Start(t, serverprocess.Config{Agents: []string{"chat", "echo", "office"}})
	running, err := service.Start(t.Context(), settingsOn(t, server), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	waitFor(t, "all are known", func() bool {
		agents, err := registry.Agents(t.Context(), running.Ledger.Core)
		return err == nil && len(agents) == 3
	})
	waitFor(t, "all is well", func() bool {
		status, report := healthOf(t, running.Address())
		return status == http.StatusOK && report.OK
	})
	server.Kill()
	server.Know("chat", "office")
	server.Restart()
	waitFor(t, "echo is named, and nobody else", func() bool {
		status, report := healthOf(t, running.Address())
		named := status == http.StatusServiceUnavailable && !report.OK
		for _, agent := range report.Agents {
			named = named && agent.Healthy == (agent.Name != "echo") && agent.Healthy == (agent.Problem == "")
		}
		return named && len(report.Agents) == 3
	})
	server.Kill()
	server.Know("chat", "echo", "office")
	server.Restart()
	waitFor(t, "all is well again", func() bool { status, _ := healthOf(t, running.Address()); return status == http.StatusOK })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := running.Close(); err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
