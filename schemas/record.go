package schemas

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Record is one append to a session: a transition, or several that followed at
// once. The fold of a session's records is its state; nothing else is.
type Record struct {
	Session string `json:"session"`
	Number  uint64 `json:"number"`         // position in the session; 1 is first
	Epoch   uint64 `json:"epoch,omitzero"` // of the owner that wrote it
	// Transitions are one or more, each decided on the state after the one before it. Only
	// the last may owe outputs.
	Transitions []Transition `json:"transitions"`
	// Snapshot is the state after the record, in one of SnapshotEvery records or fewer.
	Snapshot jsontext.Value `json:"snapshot,omitzero"`
	// Roots stand beside a snapshot: see Tip.
	Roots []uint64 `json:"roots,omitzero"`
}

// A Transition is one decision: what caused it and what was decided.
type Transition struct {
	Cause Cause `json:"cause"`
	Facts Facts `json:"facts"`
}

// AllFacts yields the facts of all transitions, in order.
func (r *Record) AllFacts() iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		for i := range r.Transitions {
			for _, fact := range r.Transitions[i].Facts {
				if !yield(fact) {
					return
				}
			}
		}
	}
}

// First returns the oldest transition; an empty one when the record has none, which only
// somebody else has written.
func (r *Record) First() *Transition {
	if len(r.Transitions) == 0 {
		return &Transition{}
	}
	return &r.Transitions[0]
}

// Last returns the newest transition, the only one that may owe outputs.
func (r *Record) Last() *Transition {
	if len(r.Transitions) == 0 {
		return &Transition{}
	}
	return &r.Transitions[len(r.Transitions)-1]
}

// SnapshotEvery is how many records snapshots are apart, unless the records behind a
// snapshot weigh less than it: then the next one comes as soon as they weigh as much.
const SnapshotEvery = 8

// A Cause is the one input of a transition and all that the decision knew
// besides the state.
type Cause struct {
	// Sequence and ID name the input in the session's shard; Sequence is 0 when
	// the cause is a deadline.
	Sequence uint64    `json:"sequence,omitzero"`
	ID       string    `json:"id,omitzero"`
	Type     string    `json:"type,omitzero"`
	Deadline *Deadline `json:"deadline,omitzero"`
	Time     time.Time `json:"time"`    // when it was decided: the only clock that the decision saw
	Profile  string    `json:"profile"` // SHA-256 of the profile in force for new runs
	// Grant, when it is the cause: a task that was ready may be dispatched now.
	Grant *Grant `json:"grant,omitzero"`
	// Absence, when it is the cause: nobody serves the agent that a task waits for.
	Absence *Absence `json:"absence,omitzero"`
	// Malformed is what the decision knew of an input that cannot be read.
	Malformed *Malformed `json:"malformed,omitzero"`
	// Limits is what kept tasks from being dispatched.
	Limits []AgentLimit `json:"limits,omitzero"`
	// Reuses are earlier answers that the decision found.
	Reuses []Reuse `json:"reuses,omitzero"`
	// Asks says that a request which would have brought its permit along does not:
	// nobody can tell who is handed it first, so that its agent asks.
	Asks bool `json:"asks,omitzero"`
	// Proven are the artifacts (SHA-256) that the input names with a valid grant: an
	// answer those that its agent has put, a request those that came with it.
	Proven []string `json:"proven,omitzero"`
	// Settles is the request that the input answers, when its agent's use says Async: one answer to it
	// counts, for whatever attempt is under way, so that the session remembers it.
	Settles string `json:"settles,omitzero"`
	// Unconfigured says that the profile of the run under way is in force no more: nobody may say anything for it.
	Unconfigured bool `json:"unconfigured,omitzero"`
}

// MaxProven bounds the artifacts that a record holds of one input, or of one
// answer, as what may be passed on.
const MaxProven = 128

// A Grant lets one ready task begin: its agent has room and its resources are free.
type Grant struct {
	Run  int    `json:"run"`
	Task string `json:"task"`
}

// An Absence says that nobody serves the agent that a task waits for.
type Absence struct {
	Run   int       `json:"run"`
	Task  string    `json:"task"`
	Agent string    `json:"agent"`
	Since time.Time `json:"since,omitzero"` // when the agent was last there; zero is never
}

// Malformed is what is known of an answer that cannot be read: it is in quarantine,
// and names a request.
type Malformed struct {
	Request    string `json:"request"`         // that it names
	Detail     string `json:"detail,omitzero"` // what is wrong with it
	Quarantine string `json:"quarantine"`      // its id there
}

// An AgentLimit is an agent that could not take all that was ready.
type AgentLimit struct {
	Agent string `json:"agent"`
	Room  int    `json:"room,omitzero"` // requests that it could take
	Open  bool   `json:"open,omitzero"` // its circuit breaker was open (M-28)
	// Since is when that had opened, and Until when the next request may go as a probe; both are zero where that is not known.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Day is why the budget of a day had no room for the request that was granted, and for no other reason; nil is that it had.
	Day *Shortage `json:"day,omitzero"`
}

// A Reuse is an answer that was given to the same input before (M-29).
type Reuse struct {
	Agent    string `json:"agent"`
	Input    string `json:"input"`    // SHA-256 (hex) of what was asked
	Sequence uint64 `json:"sequence"` // of the answer
	Size     int    `json:"size,omitzero"`
	// Proven are the artifacts that it names and that its agent has put.
	Proven []string `json:"proven,omitzero"`
}

// A Deadline is a moment that a session waits for. It is void unless exactly
// this is still pending in the state.
type Deadline struct {
	Run     int          `json:"run"`
	Task    string       `json:"task"`
	Attempt int          `json:"attempt"`
	Kind    DeadlineKind `json:"kind"`
	At      time.Time    `json:"at"`
}

// DeadlineKind says what happens when a deadline passes.
type DeadlineKind string

// The kinds of deadline.
const (
	DeadlineQueue   DeadlineKind = "queue"   // nobody has begun the task
	DeadlineWork    DeadlineKind = "work"    // the agent has not answered
	DeadlineRetry   DeadlineKind = "retry"   // the wait before the next attempt is over
	DeadlineSlow    DeadlineKind = "slow"    // twice the estimate has passed (M-34)
	DeadlineSilence DeadlineKind = "silence" // three signs of life did not come (M-47)
	DeadlineRun     DeadlineKind = "run"     // nobody waits for the run any more
	DeadlineRemind  DeadlineKind = "remind"  // a person has not answered yet
	DeadlineInquiry DeadlineKind = "inquiry" // a person has not answered in time
	DeadlineBudget  DeadlineKind = "budget"  // the day is over whose budget was used up
)

// A Checkpoint is where a shard's owner stands.
type Checkpoint struct {
	Epoch uint64 `json:"epoch"` // one more at every change of owner
	// Since is the sequence of the checkpoint that the epoch began with; 0 in that one itself.
	Since uint64 `json:"since,omitzero"`
	Owner string `json:"owner"`
	// Build is the version of Podium that decides in the epoch, in the checkpoint that it begins with.
	Build string    `json:"build,omitzero"`
	Time  time.Time `json:"time"`
	// LowWatermark: every input up to it is applied and every output it caused is acknowledged.
	LowWatermark uint64 `json:"low_watermark"`
	// LowWatermarkEpoch and LowWatermarkSince are the epoch of the owner whose low watermark this one
	// repeats, and the checkpoint that it began with; 0 when the low watermark is its own.
	LowWatermarkEpoch uint64 `json:"low_watermark_epoch,omitzero"`
	LowWatermarkSince uint64 `json:"low_watermark_since,omitzero"`
	// Base and Previous are sequences of checkpoints: which sessions are open is
	// said by all of them from Base to this one, each naming in Previous the one
	// before it. Base is 0 in one that says it alone.
	Base     uint64 `json:"base,omitzero"`
	Previous uint64 `json:"previous,omitzero"`
	// Open names sessions that are open: they have a run, a queue, a deadline, an
	// input or an output under way. Closed names those, of the checkpoints before,
	// that are not any more. Whoever reads forgets Closed first.
	Open   []string `json:"open,omitzero"`
	Closed []string `json:"closed,omitzero"`
	// Clean is true on the last checkpoint before a stop in order.
	Clean bool `json:"clean,omitzero"`
}

// A Link holds all records of a session up to one: the attribute chain of the next record
// says it, in hexadecimal. The zero Link is that of no record.
//
// It is the SHA-256 of two times 32 bytes. The first are the Link that the record itself has in
// its attribute chain, zeros in the first of a session. The others are the SHA-256 of the record's
// body as it is stored: of the message's body, byte for byte, or, when that stands in the
// object store, of the object's bytes, which the attribute datahash says. Nothing is
// decoded or decrypted first: whoever has no key to a body can still follow the chain.
type Link [sha256.Size]byte

// Next returns the Link of a record whose attribute chain says l, and whose stored body has
// that SHA-256.
func (l Link) Next(body [sha256.Size]byte) Link {
	var linked [2 * sha256.Size]byte
	copy(linked[:], l[:])
	copy(linked[sha256.Size:], body[:])
	return sha256.Sum256(linked[:])
}

// String returns it as the attribute chain has it; zero is empty.
func (l Link) String() string {
	if l == (Link{}) {
		return ""
	}
	return hex.EncodeToString(l[:])
}

// LinkOf returns the Link of a record: body is what its message holds.
func LinkOf(record *Event, body []byte) Link {
	before, hash := digest(record.Chain), sha256.Sum256(body)
	if record.Artifact != nil {
		hash = digest(record.Artifact.SHA256)
	}
	return Link(before).Next(hash)
}

// digest reads a SHA-256 that was checked before; nothing is zero.
func digest(text string) (read [sha256.Size]byte) {
	_, _ = hex.Decode(read[:], []byte(text))
	return read
}
