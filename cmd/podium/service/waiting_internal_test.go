package service

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/config"
)

// TestAWaitingStartIsSaid: while a start waits, /healthz answers 503 with what for, and all else is
// refused; once it is done the address is free.
func TestAWaitingStartIsSaid(t *testing.T) {
	t.Parallel()
	probe, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	_ = probe.Close()
	w := beginWaiting(0, address, func() string { return "starting: it waits" }, zerolog.Nop())
	get := func(path string) (int, string) {
		for {
			reply, err := http.Get("http://" + address + path) //nolint:noctx // a test
			if err != nil {
				if t.Context().Err() != nil {
					t.Fatal(err)
				}
				continue
			}
			body, _ := io.ReadAll(reply.Body)
			_ = reply.Body.Close()
			return reply.StatusCode, string(body)
		}
	}
	if status, body := get("/healthz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "it waits") {
		t.Errorf("/healthz answers %d %s", status, body)
	}
	if status, _ := get("/v1/chat/web"); status != http.StatusServiceUnavailable {
		t.Errorf("a message is answered by %d", status)
	}
	w.end()
	w.end()
	again, err := net.Listen("tcp", address) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// TestHealthNamesStallsAndFloods: a shard that stalls makes the page answer 503, with its number; an agent that floods the
// gate is on the page, and makes it no worse: everybody else is served.
func TestHealthNamesStallsAndFloods(t *testing.T) {
	t.Parallel()
	settings, err := config.Parse(fmt.Appendf(nil, `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
agents: {echo: {kind: echo}, alpha: {kind: external}}
profiles: {desk: {agents: [{name: echo, work: 3h}], routers: [{kind: default, agent: echo}]}}
`, t.TempDir()), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), settings, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	page := func() (status int, report struct {
		OK      bool         `json:"ok"`
		Stalled []shardStall `json:"stalled"`
		Floods  []struct {
			Agent   string `json:"agent"`
			Refused int    `json:"refused"`
		} `json:"floods"`
	},
	) {
		answer := httptest.NewRecorder()
		s.health(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody))
		if err := json.Unmarshal(answer.Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		return answer.Code, report
	}
	if longest := s.longestWork(); longest != 3*time.Hour {
		t.Errorf("the longest work takes %s", longest)
	}
	before, _ := page()
	flood := bus.Message{Subject: bus.ResponseSubject("alpha", 0), Body: []byte("{")}
	for range 2000 {
		if _, done, err := s.gate.Admit(flood); err == nil && done != nil {
			done(bus.Ack{}, nil)
		}
	}
	status, report := page()
	if status != before || len(report.Floods) != 1 || report.Floods[0].Agent != "alpha" || report.Floods[0].Refused < 20 {
		t.Errorf("with an agent that floods: %d, %+v", status, report)
	}
	since := time.Now().Add(-time.Minute)
	s.stalls.mu.Lock()
	s.stalls.found = map[int]time.Time{0: since}
	s.stalls.mu.Unlock()
	status, report = page()
	if status != http.StatusServiceUnavailable || report.OK || len(report.Stalled) != 1 || report.Stalled[0].Shard != 0 || !report.Stalled[0].Since.Equal(since) {
		t.Errorf("with a shard that stalls: %d, %+v", status, report)
	}
}
