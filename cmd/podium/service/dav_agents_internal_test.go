package service

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"podium/bus/agent"
	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
)

// TestCollectionsPassTheGuard: neither kind calls where Podium itself listens, or a redirect leads, and no error holds a path.
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
		checked, is := made.(agent.Checker)
		if !is {
			t.Fatalf("%s cannot be checked", c.kind)
		}
		err := checked.Check(t.Context())
		if barred := errors.Is(err, egress.ErrEgress); barred != (c.own != nil) || barred != (calls.Load() == 0) || err == nil {
			t.Errorf("%s: %v after %d calls", c.kind, err, calls.Load())
		}
		if err != nil && strings.Contains(err.Error(), "/x/") {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}
