package config

import (
	"encoding"
	"fmt"

	"github.com/dustin/go-humanize"
)

// sizePattern is a number of bytes, with a unit of powers of 1000 or of 1024.
const sizePattern = `^[0-9]+(\.[0-9]+)? ?([kKMGT]i?)?B?$`

// minSize is the smallest ledger that holds a day of anything.
const minSize = 64 << 20

// A Size is a number of bytes, written as 500MB or 64GiB.
type Size int64

var _ encoding.TextUnmarshaler = (*Size)(nil)

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	bytes, err := humanize.ParseBytes(string(text))
	if err != nil || bytes > 1<<62 {
		return fmt.Errorf("%q is not a size such as 500MB or 64GiB", text)
	}
	if bytes < minSize {
		return fmt.Errorf("%s is too small: at least %s are needed", text, humanize.IBytes(minSize))
	}
	*s = Size(bytes)
	return nil
}

// Form says how a size is written.
func (*Size) Form() string { return "a size such as 64GiB" }
