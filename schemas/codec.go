package schemas

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
)

// Marshal returns the canonical JSON of a value: the same value gives the same
// bytes, always. Records, profiles and documented messages are written by it.
func Marshal(v any) ([]byte, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("marshal %T: %w", v, err)
	}
	return body, nil
}

// Unmarshal reads JSON strictly (RFC 8259 with I-JSON): names are
// case-sensitive, duplicate names and invalid UTF-8 are errors. Unknown names
// are accepted, so that an older reader understands a newer writer.
func Unmarshal(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("unmarshal %T: %w", v, err)
	}
	return nil
}

// MaxDepth bounds the nesting of an agent's data, which later messages carry
// inside their own.
const MaxDepth = 256

// Deep reports whether JSON is nested deeper than MaxDepth.
func Deep(value []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// The bounds of JSON that a shard takes in. What has more holds up whoever reads it, however few bytes it has.
const (
	MaxValues  = 1 << 19 // in all
	MaxMembers = 1 << 14 // of one object: that no name comes twice is checked
)

// ErrTooManyValues reports JSON with more than MaxValues, or an object with more than MaxMembers.
var ErrTooManyValues = fmt.Errorf("it has more than %d JSON values, or an object with more than %d members; put such data into a file, "+
	"and name that", MaxValues, MaxMembers)

// CheckValues fails with ErrTooManyValues when JSON is beyond a bound. It looks at each byte once, and keeps little: it may be
// asked before anything is parsed. Of what is no JSON it says nothing.
func CheckValues(value []byte) error {
	values, members, quoted := 1, []int{0}, false // members of the objects and arrays that are open
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			members = append(members, 0)
			values++
		case c == '}' || c == ']':
			members = members[:max(len(members)-1, 1)]
		case c == ',':
			values++
		case c == ':':
			members[len(members)-1]++
		}
		if values > MaxValues || members[len(members)-1] > MaxMembers {
			return ErrTooManyValues
		}
	}
	return nil
}

// A Duration is a time.Duration written as "30s" or "1m30s".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 30s or 5m", text)
	}
	*d = Duration(parsed)
	return nil
}
