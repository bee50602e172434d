package checkpoint

// A Watermark is the low watermark of a shard: the sequence up to which every input is
// dealt with. Inputs enter in the order of the stream and leave in any order.
type Watermark struct {
	Value uint64
	Read  uint64 // sequence of the newest input that entered
	Left  uint64 // how many entries have left

	entries []*Entry // the oldest first; the first is not done
	pending int      // inputs that entered and did not leave
	bytes   int64    // of their bodies
}

// An Entry is one input on its way.
type Entry struct {
	sequence uint64
	bytes    int64
	done     bool
}

// Enter takes an input, behind all that have entered before.
func (w *Watermark) Enter(sequence uint64) *Entry {
	e := &Entry{sequence: sequence}
	w.pending++
	w.entries = append(w.entries, e)
	w.Read = sequence
	return e
}

// Pin keeps the watermark below what is read next, until the entry leaves.
func (w *Watermark) Pin() *Entry { return w.Enter(w.Read) }

// Pending counts the entries that have not left.
func (w *Watermark) Pending() int { return w.pending }

// AddBytes counts the bytes that an input keeps in memory.
func (w *Watermark) AddBytes(e *Entry, bytes int64) {
	e.bytes += bytes
	w.bytes += bytes
}

// HasRoom reports whether one more input may enter.
func (w *Watermark) HasRoom(inputs int, bytes int64) bool {
	return w.pending < inputs && (w.bytes < bytes || w.pending == 0)
}

// Leave marks an input as dealt with: applied, and its outputs acknowledged. Once is enough.
func (w *Watermark) Leave(e *Entry) {
	if e.done {
		return
	}
	e.done = true
	w.pending--
	w.Left++
	w.bytes -= e.bytes
	for len(w.entries) > 0 && w.entries[0].done {
		w.Value = w.entries[0].sequence
		w.entries[0] = nil
		w.entries = w.entries[1:]
	}
	if len(w.entries) == 0 {
		w.entries = nil
	}
}
