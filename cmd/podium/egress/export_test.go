package egress

import (
	"net/http"
	"net/netip"
)

// Connecting has a guard ask before each connection that it would make.
func (g Guard) Connecting(ask func(netip.AddrPort) error) Guard {
	g.connecting = ask
	return g
}

// Leads says why a policy does not lead to an address that a name is resolved to.
func (p Policy) Leads(name string, at netip.AddrPort) error {
	return p.judge(endpoint{host: name, port: at.Port()}, at.Addr(), false)
}

// Bound is a transport whose answers have limits.
func (l Limits) Bound(next http.RoundTripper) http.RoundTripper { return bound{l, next} }

type bound struct {
	limits Limits
	next   http.RoundTripper
}

func (b bound) RoundTrip(request *http.Request) (*http.Response, error) {
	return b.limits.roundTrip(b.next, request)
}
