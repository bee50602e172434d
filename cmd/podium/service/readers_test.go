package service_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/ingest/chat"
	"podium/schemas"
)

// An open house has a channel whose runs never end: nobody serves their agent.
const openHouse = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
chat: {channels: {web: {profile: desk, token: 0123456789abcdef}}}
agents: {nobody: {kind: external}}
profiles: {desk: {agents: [nobody], routers: [{kind: default, agent: nobody}]}}
`

// startOn runs a service until the test ends, by a configuration that holds a place
// for its data.
func startOn(t *testing.T, configuration string) (running *service.Service, data string) {
	t.Helper()
	data = t.TempDir()
	settings, err := config.Parse(fmt.Appendf(nil, configuration, data), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if running, err = service.Start(t.Context(), settings, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, running.Close()); err != nil {
			t.Error(err)
		}
	})
	return running, data
}

// consumers returns what counts the consumers of the only shard's stream.
func consumers(t *testing.T, running *service.Service, data string) func() int {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(filepath.Join(installation.CredentialsDir(data), "core.nk"))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(running.Ledger.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	js, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	return func() int {
		stream, err := js.Stream(t.Context(), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		return stream.CachedInfo().State.Consumers
	}
}

// Three thousand readers who each take 64 bytes of a run's events and go away leave
// nothing behind; meanwhile and afterwards runs are read, waited for and begun.
//
//nolint:paralleltest // it counts the goroutines of the process
func TestReadersWhoGoAwayLeaveNothing(t *testing.T) {
	running, data := startOn(t, openHouse)
	count := consumers(t, running, data)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	accepted := say(t, client, running)
	ask(t, client, running.Address()+accepted.Events, 64)
	settled := func(what string, read func() int, want int) {
		t.Helper()
		for end := time.Now().Add(14 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			have := read()
			if have <= want {
				return
			}
			if time.Now().After(end) { // the server forgets an abandoned consumer after 15 s
				t.Fatalf("%d %s, %d before", have, what, want)
			}
		}
	}
	settled("consumers", count, 1) // the owner's
	before := runtime.NumGoroutine()

	address, most := strings.TrimPrefix(running.Address(), "http://"), 0
	work := make(chan struct{})
	var readers sync.WaitGroup
	for range 50 {
		readers.Go(func() {
			for range work {
				leaveEarly(t, address, accepted.Events)
			}
		})
	}
	for i := range 3000 {
		work <- struct{}{}
		if i%100 == 0 {
			most = max(most, count())
		}
		if i%1000 == 500 {
			ask(t, client, running.Address()+accepted.Run, 1<<20)
			say(t, client, running)
		}
	}
	close(work)
	readers.Wait()
	if most > 501 {
		t.Errorf("%d consumers at a time", most)
	}
	if status, _ := ask(t, client, running.Address()+accepted.Run, 1<<20); status != http.StatusOK {
		t.Errorf("right afterwards a run's page is %d", status)
	}
	records := 0
	for _, err := range history.LoadSession(t.Context(), running.Ledger.Core, accepted.Session) {
		if err != nil {
			t.Fatal(err)
		}
		records++
	}
	if records == 0 {
		t.Error("the run has no record")
	}
	settled("consumers", count, 1)
	settled("goroutines", runtime.NumGoroutine, before+20) // a service at work has some more, some less
}

// say sends a message that begins a conversation.
func say(t *testing.T, client *http.Client, running *service.Service) (accepted chat.Accepted) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.Address()+"/v1/chat/web", strings.NewReader(`{"text":"hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer 0123456789abcdef")
	reply, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(reply.Body)
	if err == nil {
		err = schemas.Unmarshal(body, &accepted)
	}
	if err != nil || reply.StatusCode != http.StatusAccepted {
		t.Fatalf("%d, %v: %s", reply.StatusCode, err, body)
	}
	return accepted
}

// ask reads the beginning of a page.
func ask(t *testing.T, client *http.Client, address string, limit int64) (int, string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(reply.Body, limit))
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(body)
}

// leaveEarly reads 64 bytes of an event stream on a connection of its own.
func leaveEarly(t *testing.T, address, path string) {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close() //nolint:errcheck // it was only read
	_, err = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	if err == nil {
		_, err = io.ReadFull(bufio.NewReader(connection), make([]byte, 64))
	}
	if err != nil {
		t.Error(err)
	}
}
