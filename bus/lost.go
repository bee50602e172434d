package bus

import (
	"errors"
	"fmt"
)

// ErrLost reports a ledger that no longer holds what it did.
var ErrLost = errors.New("the ledger has lost messages")

// A LostError says which stream of a ledger lost what. Nobody else has taken it over: a
// disk was lost, replaced or set back.
type LostError struct {
	Stream string
	Seen   uint64 // the sequence of the newest message that was seen in it
	Ends   uint64 // the sequence at which it ends now
	Gone   bool   // it is not there any more
}

func (e *LostError) Error() string {
	found := fmt.Sprintf("ends at %d, and %d was seen", e.Ends, e.Seen)
	switch {
	case e.Gone:
		found = fmt.Sprintf("is gone, and %d was seen", e.Seen)
	case e.Ends >= e.Seen:
		found = fmt.Sprintf("is another one than the one of which %d was seen", e.Seen)
	}
	return "the ledger has lost messages: its stream " + e.Stream + " " + found +
		"; put its disk back, and podium goes on by itself; or stop podium, restore a backup of the ledger, and start podium again, which takes what is there then"
}

func (e *LostError) Unwrap() error { return ErrLost }
