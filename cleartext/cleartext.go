// Package cleartext keeps mail and passwords from crossing a network that they may not
// cross without TLS.
//
// It judges the address that is connected to, not the name that led there: what a name
// was resolved to earlier proves nothing. Which addresses are allowed is for the caller
// to say; without a word only those of this machine are. Connections with TLS are none
// of its business.
package cleartext

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
)

// ErrForbidden reports a server whose address is none to which mail and password may go
// without TLS. Nothing was said to it.
var ErrForbidden = errors.New("the mail server's address is none to which anything may go without TLS: " +
	"tls none is for this machine, and with cleartext: private for private networks")

// Here reports whether a host is this machine by its name or address alone.
func Here(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// Control returns what a net.Dialer asks before it connects, so that it is the
// address itself that is judged, and not what a name was resolved to at another time.
// Without allowed it is one of this machine.
func Control(allowed func(netip.Addr) bool) func(network, address string, conn syscall.RawConn) error {
	if allowed == nil {
		allowed = netip.Addr.IsLoopback
	}
	return func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !allowed(at.Addr().Unmap()) {
			return ErrForbidden
		}
		return nil
	}
}
