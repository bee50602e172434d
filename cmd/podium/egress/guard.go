package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

const (
	dialTimeout      = 10 * time.Second // of all addresses together
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second // of a connection without a request
	idleConnections  = 16               // of a client, and as many without TLS
	idlePerHost      = 8
	headerLimit      = 64 << 10         // bytes of a response's header
	pingAfter        = 30 * time.Second // of silence on an HTTP/2 connection
)

// A Guard is what the connections of one agent have to pass. The zero value lets none
// pass.
type Guard struct {
	Policy Policy
	// Own returns where Podium itself listens; no policy leads there. It is asked at
	// every connection. Nil is nowhere.
	Own      func() []netip.AddrPort
	Resolver *net.Resolver  // default: the system's
	Roots    *x509.CertPool // whom servers are certified by; default: the system's
	Limits   Limits

	connecting func(netip.AddrPort) error // has the last word before a connection, in tests
}

// Client returns the HTTP client of the agent. It follows no redirect: the response is
// handed on as it is, and whoever follows it has its target pass the guard like any other
// URL. It sets no deadline for a request as a whole, which is the context's. The errors of
// an http.Client hold the URL: whoever has a secret in one unwraps them.
func (g Guard) Client() *http.Client {
	return &http.Client{
		Transport:     &roundTripper{guard: g, clear: g.transport(true), secure: g.transport(false)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// DialContext connects to a host and port over TCP, for protocols other than HTTP. All
// addresses that a name has are tried, if the policy leads to them. If it leads to none
// the error is ErrEgress; if those where it leads cannot be reached, the error is why.
func (g Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return g.dial(ctx, network, address, false)
}

func (g Guard) dial(ctx context.Context, network, address string, inTheClear bool) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("%w: it is TCP, and not %s", ErrEgress, network)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEgress, err)
	}
	by, err := newEndpoint(host, port)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEgress, err)
	}
	if err := g.Policy.names(by); err != nil {
		return nil, err
	}
	if by.literal() {
		address = by.String() // what was judged, however it was written
	}
	var tried attempts
	dialer := net.Dialer{Timeout: dialTimeout, Resolver: g.Resolver, Control: func(_, at string, _ syscall.RawConn) error {
		return g.admit(by, at, inTheClear)
	}}
	conn, err := dialer.DialContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{ConnectDone: tried.done}), network, address)
	if err != nil {
		return nil, tried.verdict(err)
	}
	return conn, nil
}

// Control is the last word of a net.Dialer on an address that it is about to connect to, for those who dial
// themselves. The names that it was resolved from are not seen.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEgress, err)
	}
	by, err := newEndpoint(host, port)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEgress, err)
	}
	return g.admit(by, address, false)
}

// admit has the last word on an address, right before it is connected to.
func (g Guard) admit(by endpoint, address string, inTheClear bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEgress, err)
	}
	if err := g.Policy.judge(by, at.Addr(), inTheClear); err != nil {
		return err
	}
	if g.Own != nil && listensAt(g.Own(), at) {
		return fmt.Errorf("%w: %s is %s, where Podium itself listens, and no egress leads there", ErrEgress, by, at)
	}
	if g.connecting != nil {
		return g.connecting(at)
	}
	return nil
}

// listensAt reports whether one of some listeners is at an address. One that listens at
// all addresses is at every one that this machine has.
func listensAt(listeners []netip.AddrPort, at netip.AddrPort) bool {
	for _, listener := range listeners {
		if listener.Port() != at.Port() {
			continue
		}
		addr := listener.Addr().Unmap().WithZone("")
		if addr == at.Addr() || addr.IsUnspecified() && ofThisMachine(at.Addr()) {
			return true
		}
	}
	return false
}

// ofThisMachine reports whether an address is this machine's. If nobody knows, it is.
func ofThisMachine(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	networks, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, network := range networks {
		if prefix, err := netip.ParsePrefix(network.String()); err != nil || prefix.Addr().WithZone("") == addr {
			return true
		}
	}
	return false
}

// attempts is how the addresses of one name have fared. A dialer tries those of the other
// family beside the first one's, and reports the first error alone.
type attempts struct {
	mu     sync.Mutex
	failed error // the first that was no refusal
}

func (a *attempts) done(_, _ string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil && !errors.Is(err, ErrEgress) {
		a.failed = err
	}
}

// verdict is a refusal only if every address was refused.
func (a *attempts) verdict(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(err, ErrEgress) && a.failed != nil {
		return a.failed
	}
	return err
}

func (g Guard) transport(inTheClear bool) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!inTheClear)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return g.dial(ctx, network, address, inTheClear)
		},
		TLSClientConfig:        &tls.Config{RootCAs: g.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxIdleConns:           idleConnections,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: headerLimit,
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter},
	}
}

// roundTripper holds every request to the policy, also those for which a connection is
// there already.
type roundTripper struct {
	guard         Guard
	clear, secure *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.guard.Policy.Check(request.URL); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	next := t.secure
	if request.URL.Scheme == "http" {
		next = t.clear
	}
	return t.guard.Limits.roundTrip(next, request)
}

// CloseIdleConnections is what http.Client.CloseIdleConnections calls.
func (t *roundTripper) CloseIdleConnections() {
	t.clear.CloseIdleConnections()
	t.secure.CloseIdleConnections()
}
