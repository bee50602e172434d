package wire

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

const serverPrefix = "nats-"

// How the answer of a service says why there is none, as in NATS services.
const (
	ErrorHeader     = "Nats-Service-Error"
	ErrorCodeHeader = "Nats-Service-Error-Code"
	CodeFailed      = "500"
	CodeBusy        = "503" // the same question may be asked again
	CodeRefused     = "403" // no other try can succeed
)

// serverHeader reports whether a header belongs to the server.
func serverHeader(name string) bool {
	return len(name) >= len(serverPrefix) && strings.EqualFold(name[:len(serverPrefix)], serverPrefix)
}

// Outgoing returns the headers that a publisher may set: those of the message
// itself, which are not to be changed, unless one of them is the server's.
func Outgoing(header bus.Header) nats.Header {
	for name := range header {
		if serverHeader(name) {
			return copied(header)
		}
	}
	return nats.Header(header)
}

// Expecting returns the headers that a publisher may set, and the sequence that
// the server has to find as the last of the subject.
func Expecting(header bus.Header, last uint64) nats.Header {
	out := copied(header)
	out[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(last, 10)}
	return out
}

func copied(header bus.Header) nats.Header {
	out := make(nats.Header, len(header)+1)
	for name, values := range header {
		if !serverHeader(name) {
			out[name] = values
		}
	}
	return out
}

// Incoming takes the server's headers away from a message that was read.
func Incoming(header nats.Header) bus.Header {
	maps.DeleteFunc(header, func(name string, _ []string) bool { return serverHeader(name) })
	if len(header) == 0 {
		return nil
	}
	return bus.Header(header)
}

// ReadAnswer reads the answer of a service of the core: its body, or its error.
func ReadAnswer(op string, reply *nats.Msg) ([]byte, error) {
	switch text, code := reply.Header.Get(ErrorHeader), reply.Header.Get(ErrorCodeHeader); {
	case text == "":
	case code == CodeBusy:
		return nil, &bus.TemporaryError{Op: op, Err: errors.New(text)}
	case code == CodeRefused:
		return nil, fmt.Errorf("%s: %w", op, &bus.RefusedError{Reason: text})
	default:
		return nil, fmt.Errorf("%s: %s", op, text)
	}
	return reply.Data, nil
}
