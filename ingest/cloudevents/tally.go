package cloudevents

import (
	"maps"
	"slices"
	"sync/atomic"
)

// A tally counts what came of a source's events.
type tally struct {
	accepted, refused, failed atomic.Uint64
}

// A Tally is what came of one source's events since the adapter was opened.
type Tally struct {
	Source   string // empty: requests to sources that do not exist
	Accepted uint64 // events on the ledger, repeats included
	Refused  uint64 // events, and requests as a whole, that were told to the sender as faulty
	Failed   uint64 // requests left to the sender to repeat, because the ledger did not take them
}

// Tallies returns one tally a source, in lexical order, then that of strangers.
func (d *Adapter) Tallies() []Tally {
	told := make([]Tally, 0, len(d.sources)+1)
	for _, name := range slices.Sorted(maps.Keys(d.sources)) {
		told = append(told, d.sources[name].told())
	}
	return append(told, d.stranger.told())
}

func (s *source) told() Tally {
	return Tally{Source: s.name, Accepted: s.tally.accepted.Load(), Refused: s.tally.refused.Load(), Failed: s.tally.failed.Load()}
}
