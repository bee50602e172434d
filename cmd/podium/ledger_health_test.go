package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

const diskConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  calculator: {kind: calculator}
profiles:
  desk: {agents: [calculator], routers: [{kind: default, agent: calculator}]}
`

// TestFullLedgerIsSaid: a ledger that has filled what it may hold says so before it refuses,
// then truly, by every adapter; be it the shards that are full, or the artifacts, where large
// messages stand.
func TestFullLedgerIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		full  string
		words int     // of a message
		pause int     // messages between two looks
		from  float64 // the share that is looked at first
	}{{"shard 0", 20_000, 4, 0.6}, {"the store of large messages", 100_000, 1, 0}} {
		t.Run(c.full, func(t *testing.T) {
			t.Parallel()
			saysThatItIsFull(t, c.full, c.words, c.pause, c.from)
		})
	}
}

func saysThatItIsFull(t *testing.T, full string, words, pause int, from float64) {
	t.Helper()
	i := install(t, fmt.Sprintf(diskConfig, webSecret), "ledger: {shards: 1, max_bytes: 64MiB}")
	i.up()
	nearly, used := false, 0.0
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	for n := 0; ; n++ {
		status, body, err := webhook{id: strconv.Itoa(n), text: "What is 6 * 7? " + strings.Repeat("word ", words), prefer: "wait=20"}.post(ctx, i.listen)
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusServiceUnavailable && strings.Contains(string(body), "ledger-full") {
			break
		}
		if status != http.StatusAccepted && status != http.StatusOK {
			t.Fatalf("answered %d: %s", status, body)
		}
		if n%pause == pause-1 && used >= from { // what is known is a second old
			before := used
			eventually(t, "it is known", func() bool { used = i.metric("podium_ledger_used_ratio"); return used != before })
		}
		used = i.metric("podium_ledger_used_ratio")
		if code, said := i.ledger(); code == http.StatusOK && strings.HasPrefix(said, "nearly full: ") && strings.Contains(said, full) && strings.Contains(said, "ledger.max_bytes") {
			nearly = true
		}
	}
	if !nearly {
		t.Error("it was not said before")
	}
	i.saysOfLedger(http.StatusServiceUnavailable, "full: ", full, "ledger.max_bytes")
	i.says("nothing new is taken")
	if sent := i.podium("send", "What is 6 * 7?"); sent.code != exitFailed || !strings.Contains(sent.stderr, full) || !strings.Contains(sent.stderr, "ledger.max_bytes") {
		t.Errorf("send ended with %d: %s%s", sent.code, sent.stdout, sent.stderr)
	}
	if limit := i.metric("podium_ledger_limit_bytes"); limit != 64<<20 || i.metric("podium_ledger_used_ratio") < 0.9 {
		t.Errorf("the limit is %f, used %f", limit, i.metric("podium_ledger_used_ratio"))
	}
	i.stop()
}

// get reads a page of the service.
func (i *deployment) get(path string) (status int, body string) {
	i.t.Helper()
	ctx, stop := context.WithTimeout(i.t.Context(), patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.listen+path, http.NoBody)
	if err != nil {
		i.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(read)
}

// ledger returns what the health page says of the ledger.
func (i *deployment) ledger() (status int, said string) {
	i.t.Helper()
	status, body := i.get("/healthz")
	var health struct {
		Ledger string `json:"ledger"`
	}
	if err := json.Unmarshal([]byte(body), &health); err != nil {
		return status, body
	}
	return status, health.Ledger
}

// metric returns a number of the metrics page; -1 is none.
func (i *deployment) metric(name string) float64 {
	i.t.Helper()
	_, body := i.get("/metrics")
	for line := range strings.Lines(body) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				i.t.Fatal(err)
			}
			return number
		}
	}
	return -1
}

// saysOfLedger waits until the health page says something of the ledger, with a status.
func (i *deployment) saysOfLedger(status int, words ...string) {
	i.t.Helper()
	last := ""
	defer func() {
		if i.t.Failed() {
			i.t.Logf("/healthz says %s", last)
		}
	}()
	within(i.t, patience, fmt.Sprintf("/healthz answers %d and says %q", status, words), func() bool {
		got, said := i.ledger()
		last = strconv.Itoa(got) + " " + said
		for _, word := range words {
			if !strings.Contains(said, word) {
				return false
			}
		}
		return got == status
	})
}
