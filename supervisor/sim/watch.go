package sim

// A watch notes which process knew of which record when: no ledger says it, and
// an owner can only be held to what it knew.
type watch struct {
	clock uint64
	began uint64 // when the tick under way began
	seen  map[place]sighting
	stuck map[string]uint64 // when an append to a subject last went wrong

	newest map[int]*faults // who took a shard over last
	told   []told
}

// told is the word of an owner that an agent may act.
type told struct {
	permit string
	shard  int
	after  uint64 // the newest message of the shard then
	newest bool   // it came from who had taken the shard over last
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
	return watch{seen: map[place]sighting{}, stuck: map[string]uint64{}, newest: map[int]*faults{}}
}

func (w *watch) tick() {
	w.clock++
	w.began = w.clock
}

func (w *watch) learn(process *faults, sequence, asked uint64) {
	w.clock++
	w.seen[place{process.shard, sequence}] = sighting{process: process, asked: asked, known: w.clock}
}
