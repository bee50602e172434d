package config

import (
	"fmt"
	"time"
)

// A Secret is a password or key. It prints, logs and marshals as "***"; only a
// conversion to string yields it.
type Secret string

const hidden = "***"

func (Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hidden }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Secrets is one secret or several, all of them valid.
type Secrets []Secret

// Since says what of an existing mailbox is answered. The zero value is what
// arrives from now on.
type Since struct {
	All  bool      // everything in the mailbox
	Date time.Time // what the server received on or after this day (UTC); zero unless given
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Since) UnmarshalText(text []byte) error {
	switch string(text) {
	case "now":
		*s = Since{}
		return nil
	case "all":
		*s = Since{All: true}
		return nil
	}
	date, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%q is neither now, nor all, nor a date such as 2026-01-31", text)
	}
	*s = Since{Date: date}
	return nil
}
