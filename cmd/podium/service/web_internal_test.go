package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/embedded/recovery"
)

// A starved listener has no descriptor left, once, and is closed then.
type starved struct {
	net.Listener
	once sync.Once
}

func (s *starved) Accept() (net.Conn, error) {
	err := net.ErrClosed
	s.once.Do(func() { err = &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE} })
	return nil, err
}

func (*starved) Close() error   { return nil }
func (*starved) Addr() net.Addr { return &net.TCPAddr{} }

// TestServerFaultsAreLinesOfTheLog: what net/http itself writes when no descriptor is left is JSON as every other line.
func TestServerFaultsAreLinesOfTheLog(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	server := lossServer(&recovery.LossError{}, zerolog.New(&written))
	if err := server.Serve(&starved{}); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		t.Fatal(err)
	}
	server.ErrorLog.Printf("%s", "http: panic serving 192.0.2.7:4711 and [2001:db8::1%eth0]:80: \"x\"\ngoroutine 1")
	lines := strings.Split(strings.TrimSpace(written.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "too many open files") {
		t.Fatalf("%q", lines)
	}
	for _, line := range lines {
		var read map[string]any
		if err := json.Unmarshal([]byte(line), &read); err != nil || read["level"] != "warn" || strings.Contains(line, "192.0.2.7") || strings.Contains(line, "2001:db8") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestDefaultLogIsTheLog: what a library says to the default logger of package log is a line as every other.
func TestDefaultLogIsTheLog(t *testing.T) { //nolint:paralleltest // there is one default logger
	flags, output := log.Flags(), log.Writer()
	defer func() {
		log.SetFlags(flags)
		log.SetOutput(output)
	}()
	var written bytes.Buffer
	RedirectDefaultLog(zerolog.New(&written))
	log.Print("unsolicited response from 192.0.2.7:443") //nolint:forbidigo // as a library does
	var read map[string]string
	if err := json.Unmarshal(written.Bytes(), &read); err != nil || read["level"] != "warn" || read["reason"] != "unsolicited response from an address" {
		t.Errorf("%q: %v", written.String(), err)
	}
}
