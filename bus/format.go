package bus

import (
	"errors"
	"fmt"
	"strconv"
)

// FormatKey is the key under which the metadata of every stream of a ledger hold its format. It is another one than
// before format 1 was begun anew (ADR 157): ledgers of then hold none.
const FormatKey = "podium.ledger_format"

// Format is the one format of ledgers. It changes when a reader would misread what is written.
const Format = 1

// ErrFormat reports a ledger of another format. Nothing but its metadata was read, and nothing was changed.
var ErrFormat = errors.New("the ledger has another format")

// CheckFormat returns nil if a ledger says that it has the format, and otherwise an error that wraps ErrFormat and says
// what to do. Empty is a ledger that says none.
func CheckFormat(said string) error {
	format, err := strconv.ParseUint(said, 10, 31)
	const advice = "use the Podium that made it, or begin a new ledger: another --data DIR, or another account on the server"
	switch {
	case said == "":
		return fmt.Errorf("%w: it says none (%s), and this version reads format %d only; %s", ErrFormat, FormatKey, Format, advice)
	case err != nil:
		return fmt.Errorf("%w: %s says %q, which is no valid number: the metadata of its streams were changed; put the old value back",
			ErrFormat, FormatKey, said)
	case format != Format:
		return fmt.Errorf("%w: it has format %d, and this version reads format %d only; %s", ErrFormat, format, Format, advice)
	}
	return nil
}
