package wire

import (
	"bytes"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/schemas"
)

// A pubAck is what the server says to a publish, or to the last one of a batch.
type pubAck struct {
	Stream    string              `json:"stream"`
	Sequence  uint64              `json:"seq"` // of the last message
	Count     uint64              `json:"count"`
	Duplicate bool                `json:"duplicate"`
	Error     *jetstream.APIError `json:"error"`
}

// ReadPubAck returns the ack for so many messages, or why there is none.
func ReadPubAck(body []byte, count int) (bus.Ack, error) {
	const op = "publish"
	if ack, ok := plainPubAck(body); ok && count == 1 {
		return ack, nil
	}
	var said pubAck
	err := schemas.Unmarshal(body, &said)
	switch {
	case err != nil || said.Error == nil && said.Stream == "":
		return bus.Ack{}, &bus.TemporaryError{Op: op, Err: jetstream.ErrInvalidJSAck}
	case said.Error != nil:
		return bus.Ack{}, ClassifyAPI(op, said.Error)
	case said.Duplicate:
		return bus.Ack{}, Classify(op, errSwallowed)
	case count > 1 && said.Count != uint64(count): //nolint:gosec // positive
		return bus.Ack{}, &bus.TemporaryError{Op: op, Err: jetstream.ErrInvalidJSAck}
	}
	return bus.Ack{Stream: said.Stream, Sequence: said.Sequence}, nil
}

// plainAnswer reads what a server says to nearly every publish,
// {"stream":"PODIUM_0","seq":7}, letter by letter: this is on the way of each.
func plainPubAck(body []byte) (bus.Ack, bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"stream":"`))
	stream, rest, found := bytes.Cut(rest, []byte(`"`))
	if !ok || !found || bytes.IndexByte(stream, '\\') >= 0 {
		return bus.Ack{}, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	digits, found := bytes.CutSuffix(rest, []byte(`}`))
	if !ok || !found {
		return bus.Ack{}, false
	}
	sequence, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil || len(stream) == 0 {
		return bus.Ack{}, false
	}
	return bus.Ack{Stream: string(stream), Sequence: sequence}, true
}
