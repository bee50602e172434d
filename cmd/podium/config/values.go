package config

import (
	"encoding"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"podium/schemas"
	"podium/supervisor/language"
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

// A TextCheck says how a profile finds out in which language a text is.
type TextCheck string

// The ways to check a language. CheckTrue is CheckWords, as before there was another way.
const (
	CheckOff   TextCheck = "false"
	CheckTrue  TextCheck = "true"
	CheckWords TextCheck = "words"
	CheckText  TextCheck = "text"
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *TextCheck) UnmarshalText(text []byte) error {
	*c = TextCheck(text)
	switch *c {
	case CheckOff, CheckTrue, CheckWords, CheckText:
		return nil
	}
	return fmt.Errorf("%q is not text, words, true or false", text)
}

// Form says what there is to choose from.
func (*TextCheck) Form() string { return "text, words, true or false" }

// Switches implements strictyaml.Switch.
func (*TextCheck) Switches() {}

// build names the newest judgement of texts, so that a profile is pinned with it.
func (c TextCheck) build() schemas.LanguageCheck {
	switch c {
	case CheckTrue, CheckWords:
		return schemas.CheckWords
	case CheckText:
		return language.Newest
	case CheckOff:
	}
	return ""
}

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
