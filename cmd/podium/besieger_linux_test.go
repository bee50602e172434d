package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	soakDropped = 20 // readers a second that go away
	soakIdle    = 40 // connections that say half a request
)

// besieged is the variable of the environment that makes this program besiege a service
// instead of testing: it holds a besieger as JSON.
const besieged = "PODIUM_BESIEGE"

func init() { //nolint:gochecknoinits // it comes before anything is tested
	if what := os.Getenv(besieged); what != "" {
		os.Exit(besiege(what))
	}
}

// A besieger is whoever besets a service. It is a process of its own that gets what the
// others leave of the processors: it stands for machines elsewhere, and what it costs
// to make trouble is not the service's to bear.
type besieger struct {
	With   string // what it does, by words
	Flood  int    // messages a second
	HTTP   string // address of the service
	Events string // path of the events of a run
	NATS   string // URL of the service
	Seed   string // file of the hostile agent's key

	client  *http.Client
	hostile *nats.Conn
}

// besiege starts a besieger; relieve ends it.
func (s *soak) besiege() (relieve func()) {
	s.t.Helper()
	what, err := json.Marshal(besieger{
		With: *soakWith, Flood: *soakFlood, HTTP: s.service.listen, Events: *s.newest.Load(), NATS: s.service.instance().NATS,
		Seed: filepath.Join(s.service.data, "credentials", "agent-hostile.nk"),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	command := exec.CommandContext(s.t.Context(), "nice", "-n", "19", program)
	command.Env = append(os.Environ(), besieged+"="+string(what))
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "it begins\n" {
		s.t.Fatalf("the besieger says %q, %v", line, err)
	}
	return func() {
		_ = input.Close()
		if err := command.Wait(); err != nil {
			s.t.Errorf("the besieger: %v", err)
		}
	}
}

// besiege besets a service until its input ends, and returns the exit code.
func besiege(what string) int {
	var b besieger
	err := json.Unmarshal([]byte(what), &b)
	if err == nil {
		err = b.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return exitOK
}

func (b *besieger) run() error {
	key, err := nats.NkeyOptionFromSeed(b.Seed)
	if err != nil {
		return err
	}
	if b.hostile, err = nats.Connect(b.NATS, key, nats.CustomInboxPrefix("_INBOX_hostile"), nats.MaxReconnects(-1), nats.Timeout(patience)); err != nil {
		return err
	}
	defer b.hostile.Close()
	b.client = &http.Client{Timeout: patience}
	defer b.client.CloseIdleConnections()
	troubles := map[string]func(context.Context){
		"readers": b.drop, "flood": b.flood, "slow": b.readSlowly, "garbage": b.talkGarbage, "half": b.talkHalf,
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var beset sync.WaitGroup
	for name := range strings.FieldsSeq(b.With) {
		trouble := troubles[name]
		if trouble == nil {
			return fmt.Errorf("nobody knows how to besiege with %q", name)
		}
		beset.Go(func() { trouble(ctx) })
	}
	if _, err := fmt.Fprintln(os.Stdout, "it begins"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	stop()
	beset.Wait()
	return err
}

func (b *besieger) url(path string) string { return "http://" + b.HTTP + path }

func (b *besieger) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", b.HTTP)
}

// every does something at a rate until ctx ends.
func every(ctx context.Context, perSecond int, do func()) {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// drop opens readers that go away after 64 bytes, or before the first one.
func (b *besieger) drop(ctx context.Context) {
	number := 0
	every(ctx, soakDropped, func() {
		number++
		connection, err := b.dial(ctx)
		if err != nil {
			return
		}
		defer func() { _ = connection.Close() }()
		_, _ = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", b.Events)
		if number%2 == 0 {
			_, _ = io.ReadFull(connection, make([]byte, 64))
		}
	})
}

// flood publishes what nobody asked for: garbage, and now and then a megabyte.
func (b *besieger) flood(ctx context.Context) {
	large := make([]byte, 900<<10)
	number := 0
	every(ctx, min(b.Flood, 1000), func() {
		for range max(1, b.Flood/1000) {
			number++
			body := []byte("{" + strconv.Itoa(number))
			if number%100 == 0 {
				body = large
			}
			_ = b.hostile.Publish(fmt.Sprintf("podium.agent.hostile.progress.%d", number%2), body)
			_ = b.hostile.PublishRequest("podium.agent.hostile.artifact", "_INBOX_hostile.unread", []byte(`{"op":"get","sha256":"0"}`+"\n"))
		}
	})
}

// readSlowly keeps readers of events open, and reads nothing of them.
func (b *besieger) readSlowly(ctx context.Context) {
	for range 8 {
		connection, err := b.dial(ctx)
		if err != nil {
			continue
		}
		defer func() { _ = connection.Close() }()
		_, _ = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", b.Events)
	}
	<-ctx.Done()
}

// talkGarbage posts what cannot be read, to channels that are and that are not.
func (b *besieger) talkGarbage(ctx context.Context) {
	large := strings.Repeat("x", 1<<20)
	every(ctx, 10, func() {
		for _, path := range []string{"/v1/chat/web", "/v1/chat/nope", "/v1/events/nope", "//x", "/v1/runs/nope"} {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url(path), strings.NewReader(large))
			if err != nil {
				return // never: the path is fixed
			}
			request.Header.Set("Content-Type", "application/json")
			if response, err := b.client.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}
	})
}

// talkHalf opens connections that say half a request.
func (b *besieger) talkHalf(ctx context.Context) {
	for ctx.Err() == nil {
		var open []net.Conn
		for range soakIdle {
			if connection, err := b.dial(ctx); err == nil {
				_, _ = io.WriteString(connection, "POST /v1/events/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
				open = append(open, connection)
			}
		}
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
		}
		for _, connection := range open {
			_ = connection.Close()
		}
	}
}
