package service

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
)

// TestCollectionsPassTheGuard: neither kind calls where Podium itself listens, or a redirect leads; the log says once that the server is not there.
func TestCollectionsPassTheGuard(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, `<multistatus xmlns="DAV:"></multistatus>`)
	}))
	t.Cleanup(front.Close)
	at, err := netip.ParseAddrPort(strings.TrimPrefix(front.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	own := func() []netip.AddrPort { return []netip.AddrPort{at} }
	for _, c := range []struct {
		kind config.AgentKind
		own  func() []netip.AddrPort
	}{{config.KindCaldav, own}, {config.KindCarddav, own}, {config.KindCaldav, nil}, {config.KindCarddav, nil}} {
		calls.Store(0)
		settings := config.Agent{Kind: c.kind, URL: front.URL + "/x/", User: "p", Password: "q", Timezone: "Europe/Berlin"}
		var made described
		if c.kind == config.KindCaldav {
			made, err = calendarAgent(&settings, c.own)
		} else {
			made, err = contactsAgent(&settings, c.own)
		}
		if err != nil {
			t.Fatal(err)
		}
		checked, is := made.(checker)
		if !is {
			t.Fatalf("%s cannot be checked", c.kind)
		}
		err := checked.Check(t.Context())
		if barred := errors.Is(err, egress.ErrEgress); barred != (c.own != nil) || barred != (calls.Load() == 0) || err == nil {
			t.Errorf("%s: %v after %d calls", c.kind, err, calls.Load())
		}
		var log bytes.Buffer
		s := &Service{log: zerolog.New(&log)}
		s.checkAgent(t.Context(), "calendar", made)
		if strings.Count(log.String(), "does not answer as it should") != 1 || strings.Contains(log.String(), "/x/") {
			t.Errorf("%s: %s", c.kind, log.String())
		}
		log.Reset()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if s.checkAgent(ended, "calendar", made); c.own == nil && log.Len() != 0 {
			t.Errorf("%s, as the service ends: %s", c.kind, log.String())
		}
	}
}
