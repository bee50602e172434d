package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"podium/bus"
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
func (o *observations) order(at place) {
	o.clock++
	o.ordinals[at] = o.clock
}

// change notes what the ledger says of a breaker from now on.
func (o *observations) change(agent string, b *schemas.Breaker) {
	o.breakers[agent] = append(o.breakers[agent], *b)
}

// read notes that a process has learned what a breaker is.
func (o *observations) read(process *faults, agent string, told uint64, b *schemas.Breaker) {
	o.clock++
	key := view{process, agent}
	o.views[key] = append(o.views[key], knowledge{o.clock, told, *b})
}

// write notes that a process is about to change what it has just read: it goes by
// that only if it succeeds.
func (o *observations) write(process *faults, agent string) {
	key := view{process, agent}
	if known := o.views[key]; len(known) > 0 {
		o.views[key] = known[:len(known)-1]
	}
}

// known returns what a process knew of a breaker at a moment; false is nothing.
func (o *observations) known(process *faults, agent string, at uint64) (knowledge, bool) {
	for _, known := range slices.Backward(o.views[view{process, agent}]) {
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

func (o *observations) tick() {
	o.clock++
	o.began = o.clock
}

func (o *observations) learn(process *faults, sequence, asked uint64) {
	o.clock++
	o.seen[place{process.shard, sequence}] = sighting{process: process, asked: asked, known: o.clock}
}

// hand notes that a process has been given an input.
func (o *observations) hand(process *faults, sequence uint64) {
	o.clock++
	o.handed[handing{process, sequence}] = o.clock
}

func (w *World) streams() []string {
	streams := []string{bus.WorkStream}
	for shard := range w.configuration.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

// Digest is a hash over the whole ledger.
func (w *World) Digest() string {
	sum := sha256.New()
	for _, stream := range w.streams() {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			header, err := schemas.Marshal(message.Header)
			w.must(err)
			_, _ = fmt.Fprintf(sum, "%s %d %s %d %s\n", stream, message.Sequence, message.Subject, message.Recorded.UnixNano(), header)
			_, _ = sum.Write(message.Body)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Dump writes the ledger for a person to read: one line for each message.
func (w *World) Dump(to io.Writer) {
	for _, stream := range w.streams() {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			_, _ = fmt.Fprintf(to, "%s/%d %s %s %s\n", stream, message.Sequence, message.Recorded.Format("15:04:05.000"), message.Subject, brief(message))
		}
	}
	for i := range w.violations {
		_, _ = fmt.Fprintf(to, "%s: %s\n", w.violations[i].Invariant, w.violations[i].Detail)
	}
}

// brief is what a message says, shortened.
func brief(message bus.Message) string {
	var record schemas.Record
	if schemas.Unmarshal(message.Body, &record) != nil || record.Session == "" {
		return string(message.Body[:min(len(message.Body), dumpLength)])
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "#%d epoch %d", record.Number, record.Epoch)
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		cause, facts := &transition.Cause, transition.Facts
		switch {
		case cause.Deadline != nil:
			_, _ = fmt.Fprintf(&b, " | %s %s/%d", cause.Deadline.Kind, cause.Deadline.Task, cause.Deadline.Attempt)
		case cause.Grant != nil:
			_, _ = fmt.Fprintf(&b, " | grant %s", cause.Grant.Task)
		case cause.Absence != nil:
			_, _ = fmt.Fprintf(&b, " | absence %s", cause.Absence.Task)
		default:
			_, _ = fmt.Fprintf(&b, " | %d", cause.Sequence)
		}
		for _, f := range facts {
			_, _ = fmt.Fprintf(&b, ", %s %d/%s", f.Name(), schemas.RunOf(f), schemas.TaskOf(f))
			switch f := f.(type) {
			case *schemas.TaskDispatched:
				_, _ = fmt.Fprintf(&b, " %d %s", f.Attempt, f.Agent)
			case *schemas.TaskReady:
				b.WriteString(" " + f.Agent)
			case *schemas.TaskFailed:
				_, _ = fmt.Fprintf(&b, " %d %s %s", f.Attempt, f.Cause, f.Action)
			case *schemas.RunSettled:
				b.WriteString(" " + string(f.Reason))
			default:
			}
		}
	}
	return b.String()
}

const dumpLength = 160

// Size counts the messages of the ledger.
func (w *World) Size() int {
	size := 0
	for _, stream := range w.streams() {
		state, err := w.ledger.State(context.Background(), stream)
		w.must(err)
		size += int(state.Messages) //nolint:gosec // it fits
	}
	return size
}
