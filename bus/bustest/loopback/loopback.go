// Package loopback reserves addresses for servers that tests start as processes
// of their own, stop, and start again at the same place.
package loopback

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports from which no system that Podium is tested on picks one for an outgoing
// connection or for a listener that names none (Linux begins at 32768, the others
// at 49152): whoever connects in between cannot take the place of a stopped server.
const firstPort, endPort = 10240, 32768

const attempts = 1000

// Reserve returns a TCP address, host and port, where nobody listens. Until the
// test ends nobody else is given it, in whatever process: the UDP port of the same
// number is held meanwhile.
func Reserve(tb testing.TB) string {
	tb.Helper()
	var config net.ListenConfig
	for range attempts {
		port := firstPort + rand.IntN(endPort-firstPort) //nolint:gosec // nothing secret
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		hold, err := config.ListenPacket(tb.Context(), "udp", address)
		if err != nil {
			continue
		}
		listener, err := config.Listen(tb.Context(), "tcp", address)
		if err != nil {
			_ = hold.Close()
			continue
		}
		_ = listener.Close() // it carried nothing
		tb.Cleanup(func() { _ = hold.Close() })
		return address
	}
	tb.Fatalf("no port between %d and %d is free", firstPort, endPort)
	return ""
}
