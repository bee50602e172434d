package admission

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// subscriber is the length of the network that one subscriber has in IPv6, in bits.
const subscriber = 64

// addressOf reads an address with or without a port. What cannot be read is the
// zero address, which is one like any other.
func addressOf(text string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap()
	}
	address, _ := netip.ParseAddr(text) // or the zero address
	return address.Unmap()
}

// block returns what counts as one address.
func block(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = subscriber
	}
	made, _ := address.Prefix(bits) // the zero address has the zero prefix
	return made
}

func (c *Control) proxy(address netip.Addr) bool {
	return slices.ContainsFunc(c.limits.Proxies, func(proxies netip.Prefix) bool { return proxies.Contains(address) })
}

// client returns who a request comes from: the peer, or, while that is a proxy, whom
// it names. Each proxy adds its peer at the end, so what stands before the last one
// that is no proxy may be anybody's invention.
func (c *Control) client(r *http.Request) netip.Prefix {
	from := addressOf(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && c.proxy(from); i-- {
		named := addressOf(strings.TrimSpace(hops[i]))
		if !named.IsValid() {
			break
		}
		from = named
	}
	return block(from)
}
