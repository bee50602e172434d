package chat

import (
	"maps"
	"slices"
	"sync/atomic"

	"podium/schemas"
)

// A tally counts what came of a channel's requests.
type tally struct {
	accepted, repeated, ignored, quarantined, refused, failed atomic.Uint64
}

// A Tally is what came of one channel's messages since the adapter was opened.
type Tally struct {
	Channel     string // empty: requests to channels that do not exist
	Provider    schemas.ChatProvider
	Accepted    uint64 // on the ledger
	Repeated    uint64 // recognized as offered before
	Ignored     uint64 // in need of no answer, such as those of bots
	Quarantined uint64 // authentic and unreadable
	Refused     uint64 // not authentic, or told to the sender as faulty
	Failed      uint64 // left to the sender to repeat, because the ledger did not take them
}

// Tallies returns one tally a channel, in lexical order, then that of strangers.
func (d *Adapter) Tallies() []Tally {
	told := make([]Tally, 0, len(d.channels)+1)
	for _, name := range slices.Sorted(maps.Keys(d.channels)) {
		told = append(told, d.channels[name].read(name))
	}
	return append(told, d.stranger.read(""))
}

func (c *channel) read(name string) Tally {
	return Tally{
		Channel: name, Provider: c.kind, Accepted: c.tally.accepted.Load(), Repeated: c.tally.repeated.Load(),
		Ignored: c.tally.ignored.Load(), Quarantined: c.tally.quarantined.Load(),
		Refused: c.tally.refused.Load(), Failed: c.tally.failed.Load(),
	}
}
