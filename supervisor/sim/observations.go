package sim

import (
	"slices"

	"podium/schemas"
)

// observations note which process knew of which record when: no ledger says it, and
// an owner can only be held to what it knew.
type observations struct {
	clock uint64
	began uint64 // when the tick under way began
	seen  map[place]sighting

	newest map[int]*faults // who took a shard over last
	told   []told
	denied []told             // who is told that nobody waits any more
	handed map[handing]uint64 // when a process was given an input

	ordinals map[place]uint64 // the order of records, over all shards
	late     map[place]bool   // records that came when they had been given up on
	adrift   map[place]bool   // those that came later than anybody reckons with
	breakers map[string][]schemas.Breaker
	views    map[view][]knowledge
}

// A view is one process's, of the breaker of an agent.
type view struct {
	process *faults
	agent   string
}

// knowledge is what a process knew of a breaker from a moment on. What it has told
// the ledger itself is in there as far as it had seen it at an earlier moment.
type knowledge struct {
	from    uint64
	told    uint64 // the beginning of the tick that began to read
	breaker schemas.Breaker
}

// order notes that a record is the newest of all.
func (w *observations) order(at place) {
	w.clock++
	w.ordinals[at] = w.clock
}

// change notes what the ledger says of a breaker from now on.
func (w *observations) change(agent string, b *schemas.Breaker) {
	w.breakers[agent] = append(w.breakers[agent], *b)
}

// read notes that a process has learned what a breaker is.
func (w *observations) read(process *faults, agent string, told uint64, b *schemas.Breaker) {
	w.clock++
	key := view{process, agent}
	w.views[key] = append(w.views[key], knowledge{w.clock, told, *b})
}

// write notes that a process is about to change what it has just read: it goes by
// that only if it succeeds.
func (w *observations) write(process *faults, agent string) {
	key := view{process, agent}
	if known := w.views[key]; len(known) > 0 {
		w.views[key] = known[:len(known)-1]
	}
}

// known returns what a process knew of a breaker at a moment; false is nothing.
func (w *observations) known(process *faults, agent string, at uint64) (knowledge, bool) {
	for _, known := range slices.Backward(w.views[view{process, agent}]) {
		if known.from < at {
			return known, true
		}
	}
	return knowledge{}, false
}

// told is the word of an owner that an agent may act.
type told struct {
	permit string
	shard  int
	after  uint64 // the newest message of the shard then
	by     *faults
	newest bool // it had taken the shard over last
}

// A handing is an input in the hands of a process.
type handing struct {
	process  *faults
	sequence uint64
}

// A place is a message of a shard.
type place struct {
	shard    int
	sequence uint64
}

// A sighting says when a process decided and published a record and when it learned
// that the ledger had taken it.
type sighting struct {
	process *faults
	asked   uint64 // the beginning of the tick that did both, or unknown
	known   uint64
}

// unknown is a moment before all others.
const unknown = 0

func newWatch() observations {
	return observations{
		seen: map[place]sighting{}, newest: map[int]*faults{}, handed: map[handing]uint64{},
		ordinals: map[place]uint64{}, late: map[place]bool{}, adrift: map[place]bool{}, breakers: map[string][]schemas.Breaker{}, views: map[view][]knowledge{},
	}
}

func (w *observations) tick() {
	w.clock++
	w.began = w.clock
}

func (w *observations) learn(process *faults, sequence, asked uint64) {
	w.clock++
	w.seen[place{process.shard, sequence}] = sighting{process: process, asked: asked, known: w.clock}
}

// hand notes that a process has been given an input.
func (w *observations) hand(process *faults, sequence uint64) {
	w.clock++
	w.handed[handing{process, sequence}] = w.clock
}
