package supervisor

// A floor tracks which inputs of a shard are dealt with. Inputs enter in the
// order of the stream and leave in any order.
type floor struct {
	entries []*entry // the oldest first; the first is not done
	value   uint64
	read    uint64 // the newest input that entered
	under   int    // inputs that entered and did not leave
	bytes   int64  // of their bodies
}

// An entry is one input on its way.
type entry struct {
	sequence uint64
	bytes    int64
	done     bool
}

func (f *floor) enter(sequence uint64) *entry {
	e := &entry{sequence: sequence}
	f.under++
	f.entries = append(f.entries, e)
	f.read = sequence
	return e
}

// weigh counts the bytes that an input keeps in memory.
func (f *floor) weigh(e *entry, bytes int64) {
	e.bytes += bytes
	f.bytes += bytes
}

// room reports whether one more input may enter.
func (f *floor) room(inputs int, bytes int64) bool {
	return f.under < inputs && (f.bytes < bytes || f.under == 0)
}

// leave marks an input as dealt with: applied, and its outputs acknowledged.
func (f *floor) leave(e *entry) {
	if e.done {
		return
	}
	e.done = true
	f.under--
	f.bytes -= e.bytes
	for len(f.entries) > 0 && f.entries[0].done {
		f.value = f.entries[0].sequence
		f.entries[0] = nil
		f.entries = f.entries[1:]
	}
	if len(f.entries) == 0 {
		f.entries = nil
	}
}
