package jetstream

import (
	"strconv"
	"strings"
	"time"
)

const ackPrefix = "$JS.ACK."

// A position is what the reply subject of a delivery says of it. Only the server
// can set one, so it also tells a message from a status.
type position struct {
	deliveries       int
	stream, consumer uint64 // sequences
	recorded         time.Time
	pending          uint64 // messages for the consumer behind this one
}

// parsePosition reads
//
//	$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<the same seven>.<random>
func parsePosition(reply string) (position, bool) {
	rest, ok := strings.CutPrefix(reply, ackPrefix)
	if !ok {
		return position{}, false
	}
	var tokens [11]string
	count := 0
	for more := true; more; count++ {
		if count == len(tokens) {
			return position{}, false
		}
		tokens[count], rest, more = strings.Cut(rest, ".")
	}
	first := 2
	switch {
	case count == 7:
	case count >= 9:
		first = 4
	default:
		return position{}, false
	}
	var values [5]uint64
	for i := range values {
		value, err := strconv.ParseUint(tokens[first+i], 10, 63)
		if err != nil {
			return position{}, false
		}
		values[i] = value
	}
	return position{
		deliveries: int(values[0]), //nolint:gosec // 63 bits
		stream:     values[1],
		consumer:   values[2],
		recorded:   time.Unix(0, int64(values[3])).UTC(), //nolint:gosec // 63 bits
		pending:    values[4],
	}, true
}
