package schemas

import (
	"fmt"

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
