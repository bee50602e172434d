package egress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"podium/cmd/podium/egress"
)

// TestRebinding: a name that is resolved to another address the next time leads no
// further than the policy, whichever way it turns.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	_, port := service(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Connection", "close") // so that the name is resolved again
		_, _ = io.WriteString(w, "here")
	})
	const here, away = "127.0.0.1", "93.184.216.34"
	w := newWorld(t)
	for name, addrs := range map[string][2]string{"in.example": {here, away}, "out.example": {away, here}, "listed.example": {away, here}} {
		w.resolves(name, addrs[0])
		w.resolves(name, addrs[1])
	}

	local := w.guard("local").Client()
	if _, body, err := get(t, local, "http://in.example:"+port); err != nil || body != "here" {
		t.Fatalf("%q, %v", body, err)
	}
	if _, _, err := get(t, local, "http://in.example:"+port); !errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), away) {
		t.Errorf("a name that was of this machine leads away: %v", err)
	}
	if went := w.went(); !slices.Equal(went, []string{here + ":" + port}) {
		t.Errorf("connections to %v", went)
	}

	for name, entry := range map[string]string{"out.example": "public", "listed.example": "listed.example:" + port} {
		client := w.guard(entry).Client()
		if _, _, err := get(t, client, "https://"+name+":"+port); !errors.Is(err, errStopped) {
			t.Errorf("%s does not lead to a public address: %v", entry, err)
		}
		if _, _, err := get(t, client, "https://"+name+":"+port); !errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), here) {
			t.Errorf("%s: a name that was public leads to this machine: %v", entry, err)
		}
		if went := w.went(); !slices.Equal(went, []string{away + ":" + port}) {
			t.Errorf("%s: connections to %v", entry, went)
		}
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests have come to this machine", n)
	}
}

// TestMixedAddresses: a name is reached by those of its addresses that the policy leads
// to, and by no others.
func TestMixedAddresses(t *testing.T) {
	t.Parallel()
	_, port := service(t, says("here"))
	w := newWorld(t)
	w.resolves("mixed.example", "169.254.169.254", "93.184.216.34", "fe80::1", "64:ff9b::7f00:1", "2606:4700::1111", "127.0.0.1", "0.0.0.0")
	w.resolves("outside.example", "93.184.216.34", "2606:4700::1111")
	w.resolves("shut.example", "93.184.216.34", "127.0.0.1")
	w.resolves("guise.example", "::ffff:127.0.0.1")

	if _, body, err := get(t, w.guard("local").Client(), "http://mixed.example:"+port); err != nil || body != "here" {
		t.Errorf("%q, %v", body, err)
	}
	if went := w.went(); !slices.Equal(went, []string{"127.0.0.1:" + port}) {
		t.Errorf("local: connections to %v", went)
	}
	for _, entry := range []string{"public", "mixed.example:" + port} {
		if _, _, err := get(t, w.guard(entry).Client(), "https://mixed.example:"+port); !errors.Is(err, errStopped) || errors.Is(err, egress.ErrEgress) {
			t.Errorf("%s: %v", entry, err)
		}
		if went := w.went(); len(went) != 2 || !strings.HasPrefix(went[0], "93.184.216.34:") || !strings.HasPrefix(went[1], "[2606:4700::1111]:") {
			t.Errorf("%s: connections to %v", entry, went)
		}
	}
	_, _, err := get(t, w.guard("local").Client(), "https://outside.example")
	if !errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), "outside.example:443 is ") || !strings.Contains(err.Error(), `public or "outside.example:443"`) {
		t.Errorf("nothing of it is local: %v", err)
	}
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shut := netip.MustParseAddrPort(free.Addr().String())
	_ = free.Close()
	if _, err := w.guard("local").DialContext(t.Context(), "tcp", shut.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("nobody should listen at %s: %v", shut, err)
	}
	if _, _, err := get(t, w.guard("local").Client(), fmt.Sprintf("http://shut.example:%d", shut.Port())); !errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, egress.ErrEgress) {
		t.Errorf("where the policy leads, nobody answers: %v", err)
	}
	w.went()
	if _, _, err := get(t, w.guard("public").Client(), "https://guise.example:"+port); !errors.Is(err, egress.ErrEgress) || len(w.went()) > 0 {
		t.Errorf("an IPv4 address in the guise of IPv6: %v", err)
	}
}

// TestListedNames: a name that a list does not have is not even resolved, and one that it
// has leads to no loopback address.
func TestListedNames(t *testing.T) {
	t.Parallel()
	_, port := service(t, says("here"))
	w := newWorld(t)
	w.resolves("other.example", "10.0.0.5")
	w.resolves("erp.example", "127.0.0.1", "10.0.0.5", "100.64.0.1", "169.254.169.254")
	guard := w.guard("erp.example:443", "127.0.0.1:"+port)
	client := guard.Client()
	for _, url := range []string{"https://other.example", "https://erp.example:8443", "https://localhost:" + port} {
		if _, _, err := get(t, client, url); !errors.Is(err, egress.ErrEgress) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := guard.DialContext(t.Context(), "tcp", "other.example:443"); !errors.Is(err, egress.ErrEgress) {
		t.Error(err)
	}
	if n := w.lookups(); n != 0 {
		t.Errorf("%d questions about names that are not in the list", n)
	}
	if _, _, err := get(t, client, "https://erp.example"); !errors.Is(err, errStopped) {
		t.Error(err)
	}
	if went := w.went(); !slices.Equal(went, []string{"10.0.0.5:443"}) {
		t.Errorf("connections to %v", went)
	}
	if _, body, err := get(t, client, "http://127.0.0.1:"+port); err != nil || body != "here" {
		t.Errorf("a literal of the list: %q, %v", body, err)
	}
}

// TestNoPlainHTTPToPublicAddresses: whatever the name was meant to be.
func TestNoPlainHTTPToPublicAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.resolves("erp.example", "93.184.216.34")
	client := w.guard("local", "public", "erp.example:80").Client()
	if _, _, err := get(t, client, "http://erp.example"); !errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), "write https") || len(w.went()) > 0 {
		t.Error(err)
	}
	if _, _, err := get(t, client, "https://erp.example"); !errors.Is(err, errStopped) || len(w.went()) != 1 {
		t.Error(err)
	}
}

// TestOwnListeners: no name, address or list leads to where Podium itself listens.
func TestOwnListeners(t *testing.T) {
	t.Parallel()
	own, port := service(t, says("Podium"))
	_, otherPort := service(t, says("other"))
	w := newWorld(t)
	w.resolves("inside.example", "127.0.0.1")
	everywhere := netip.AddrPortFrom(netip.IPv6Unspecified(), own.Port())
	for _, listener := range []netip.AddrPort{own, everywhere, netip.AddrPortFrom(netip.IPv4Unspecified(), own.Port()), netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), own.Port())} {
		guard := w.guard("local", "127.0.0.1:"+port)
		guard.Own = func() []netip.AddrPort { return []netip.AddrPort{{}, listener} }
		client := guard.Client()
		for _, host := range []string{"127.0.0.1:", "localhost:", "inside.example:", "INSIDE.example.:"} {
			if _, body, err := get(t, client, "http://"+host+port); !errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), "Podium itself") {
				t.Errorf("%s reaches %s: %q, %v", host, listener, body, err)
			}
		}
		if _, body, err := get(t, client, "http://inside.example:"+otherPort); err != nil || body != "other" {
			t.Errorf("another port: %q, %v", body, err)
		}
	}
	networks, err := net.InterfaceAddrs()
	if err != nil || len(networks) == 0 {
		t.Fatalf("this machine has the addresses %v: %v", networks, err)
	}
	guard := w.guard("local", "public")
	guard.Own = func() []netip.AddrPort { return []netip.AddrPort{everywhere} }
	for _, network := range networks {
		addr := netip.MustParsePrefix(network.String()).Addr()
		if _, err := guard.DialContext(t.Context(), "tcp", netip.AddrPortFrom(addr, own.Port()).String()); !errors.Is(err, egress.ErrEgress) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if _, err := guard.DialContext(t.Context(), "tcp", netip.AddrPortFrom(netip.MustParseAddr("127.1.2.3"), own.Port()).String()); !errors.Is(err, egress.ErrEgress) {
		t.Errorf("another loopback address: %v", err)
	}
	if _, err := guard.DialContext(t.Context(), "tcp", netip.AddrPortFrom(netip.MustParseAddr("10.11.12.13"), own.Port()).String()); !errors.Is(err, errStopped) {
		t.Errorf("another machine's port: %v", err)
	}
}

// TestDialContext: other protocols than HTTP pass the same judgement.
func TestDialContext(t *testing.T) {
	t.Parallel()
	address, port := service(t, says("here"))
	w := newWorld(t)
	w.resolves("box.example", "127.0.0.1")
	guard := w.guard("local")
	for _, at := range []string{address.String(), "box.example:" + port} {
		conn, err := guard.DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if conn.RemoteAddr().String() != address.String() {
			t.Errorf("%s is %s", at, conn.RemoteAddr())
		}
		_ = conn.Close()
	}
	for network, at := range map[string]string{
		"udp": address.String(), "unix": "/run/podium.sock", "ip": "127.0.0.1", "tcp": "127.0.0.1", "tcp4": "box.example:http", "tcp6": "[fe80::1%lo]:80",
	} {
		if _, err := guard.DialContext(t.Context(), network, at); !errors.Is(err, egress.ErrEgress) {
			t.Errorf("%s %s: %v", network, at, err)
		}
	}
	if _, err := (egress.Guard{}).DialContext(t.Context(), "tcp", address.String()); !errors.Is(err, egress.ErrEgress) {
		t.Errorf("the zero value leads to %s: %v", address, err)
	}
	asked := w.lookups()
	conn, err := guard.DialContext(t.Context(), "tcp", "１２７.0.0.1:"+port)
	if err != nil || conn.RemoteAddr().String() != address.String() || w.lookups() != asked {
		t.Fatalf("an address in other letters is that address, and nothing to resolve: %v", err)
	}
	_ = conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := guard.DialContext(ctx, "tcp", address.String()); err == nil || errors.Is(err, egress.ErrEgress) {
		t.Errorf("nobody waits any more: %v", err)
	}
}
