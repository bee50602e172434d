package wire

import (
	"strconv"
	"strings"
	"time"
)

const ackPrefix = "$JS.ACK."

// A Position is what the reply subject of a delivery says of it. Only the server
// can set one, so it also tells a message from a status.
type Position struct {
	Deliveries       int
	Stream, Consumer uint64 // sequences
	Recorded         time.Time
	Pending          uint64 // messages for the consumer behind this one
}

// ParsePosition reads
//
//	$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<the same seven>.<random>
func ParsePosition(reply string) (Position, bool) {
	rest, ok := strings.CutPrefix(reply, ackPrefix)
	if !ok {
		return Position{}, false
	}
	var tokens [11]string
	count := 0
	for more := true; more; count++ {
		if count == len(tokens) {
			return Position{}, false
		}
		tokens[count], rest, more = strings.Cut(rest, ".")
	}
	first := 2
	switch {
	case count == 7:
	case count >= 9:
		first = 4
	default:
		return Position{}, false
	}
	var values [5]uint64
	for i := range values {
		value, err := strconv.ParseUint(tokens[first+i], 10, 63)
		if err != nil {
			return Position{}, false
		}
		values[i] = value
	}
	return Position{
		Deliveries: int(values[0]), //nolint:gosec // 63 bits
		Stream:     values[1],
		Consumer:   values[2],
		Recorded:   time.Unix(0, int64(values[3])).UTC(), //nolint:gosec // 63 bits
		Pending:    values[4],
	}, true
}
