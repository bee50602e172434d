package jetstream

import (
	"strings"

	"github.com/nats-io/nats.go"

	"podium/bus"
)

const serverPrefix = "nats-"

// serverHeader reports whether a header belongs to the server.
func serverHeader(name string) bool {
	return len(name) >= len(serverPrefix) && strings.EqualFold(name[:len(serverPrefix)], serverPrefix)
}

// outgoing copies the headers that a publisher may set, with room for one more.
func outgoing(header bus.Header) nats.Header {
	out := make(nats.Header, len(header)+1)
	for name, values := range header {
		if !serverHeader(name) {
			out[name] = values
		}
	}
	return out
}

// incoming takes the server's headers away from a message that was read.
func incoming(header nats.Header) bus.Header {
	for name := range header {
		if serverHeader(name) {
			delete(header, name)
		}
	}
	if len(header) == 0 {
		return nil
	}
	return bus.Header(header)
}
