package supervisor

// A floor tracks which inputs of a shard are dealt with. Inputs enter in the
// order of the stream and leave in any order.
type floor struct {
	entries []*entry // the oldest first; those in front are not done
	value   uint64
	read    uint64 // the newest input that entered
}

// An entry is one input on its way.
type entry struct {
	sequence uint64
	done     bool
}

func (f *floor) enter(sequence uint64) *entry {
	e := &entry{sequence: sequence}
	f.entries = append(f.entries, e)
	f.read = sequence
	return e
}

// leave marks an input as dealt with: applied, and its outputs acknowledged.
func (f *floor) leave(e *entry) {
	e.done = true
	for len(f.entries) > 0 && f.entries[0].done {
		f.value = f.entries[0].sequence
		f.entries[0] = nil
		f.entries = f.entries[1:]
	}
	if len(f.entries) == 0 {
		f.entries = nil
	}
}

// first reports whether everything before the input is dealt with.
func (f *floor) first(e *entry) bool { return len(f.entries) > 0 && f.entries[0] == e }
