package bus

import (
	"errors"
	"fmt"
	"strconv"
)

// FormatKey is under which the metadata of every stream of a ledger say its format.
const FormatKey = "podium.format"

// Format is the format of the ledgers that this version writes. It reads OldestFormat and all
// between: whoever opens a ledger to write to it has it say Format first. It grows when a
// reader of before would misread what is written: another meaning of a member, a fact or a value
// that is there, or a new one that must not be passed over.
const (
	Format       = 7
	OldestFormat = 1
)

// ErrFormat reports a ledger of another format. Nothing of it was read or changed.
var ErrFormat = errors.New("the ledger has another format")

// CheckFormat is ErrFormat, with what to do, unless a ledger says that it has a format
// that this version reads. Empty is a ledger that says none.
func CheckFormat(said string) error {
	format, err := strconv.ParseUint(said, 10, 31)
	switch {
	case said == "":
		return fmt.Errorf("%w: it says none (%s), so that it is from before formats were counted, and this version reads formats %d to %d only; "+
			"keep it for the Podium that made it, and begin a new one: another --data DIR, or another account on the server", ErrFormat, FormatKey, OldestFormat, Format)
	case err != nil:
		return fmt.Errorf("%w: %s says %q, which is no number; somebody has changed the metadata of its streams, and has to put back what was there",
			ErrFormat, FormatKey, said)
	case format < OldestFormat:
		return fmt.Errorf("%w: it has format %d, and this version reads formats %d to %d only; "+
			"read it with the Podium that made it, and begin a new one: another --data DIR, or another account on the server", ErrFormat, format, OldestFormat, Format)
	case format > Format:
		return fmt.Errorf("%w: it has format %d, and this version reads formats %d to %d only; a newer Podium has written to it: use that one",
			ErrFormat, format, OldestFormat, Format)
	}
	return nil
}
