package sim

// A watch notes which process knew of which record when: no ledger says it, and
// an owner can only be held to what it knew.
type watch struct {
	clock uint64
	began uint64 // when the tick under way began
	seen  map[place]sighting
	stuck map[string]uint64 // when an append to a subject last went wrong
}

// A place is a message of a shard.
type place struct {
	shard    int
	sequence uint64
}

// A sighting says when a process published a record and when it learned that
// the ledger had taken it.
type sighting struct {
	process *faults
	asked   uint64 // the beginning of the tick
	known   uint64
}

func newWatch() watch {
	return watch{seen: map[place]sighting{}, stuck: map[string]uint64{}}
}

func (w *watch) tick() {
	w.clock++
	w.began = w.clock
}

func (w *watch) learn(process *faults, sequence, asked uint64) {
	w.clock++
	w.seen[place{process.shard, sequence}] = sighting{process: process, asked: asked, known: w.clock}
}
