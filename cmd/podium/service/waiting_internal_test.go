package service

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
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
