package recovery

import (
	"fmt"
	"strings"
	"time"
)

// A Cause says what has become of messages.
type Cause string

// The causes.
const (
	Damaged Cause = "damaged" // the bytes in the file are not those that were written
	Missing Cause = "missing" // a file, or a piece between two messages, is gone
	Shorter Cause = "shorter" // the stream ends before it did
	// Unset is no message: the files that say how the stream is set are torn or gone.
	Unset Cause = "unset"
	// Consumer is no message: the files that say what an agent has taken are not as they were.
	Consumer Cause = "consumer"
)

// A Loss is messages of one stream that cannot be read any more.
type Loss struct {
	Found  time.Time `json:"found,omitzero"` // when it was first seen
	Stream string    `json:"stream"`
	Cause  Cause     `json:"cause"`
	// First and Last are sequences, both inclusive. Last is 0 when nobody can say.
	First uint64 `json:"first"`
	Last  uint64 `json:"last,omitempty"`
	// File is where, Offset where in it, Detail what is wrong.
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Since is the time of the last message before it, as far as it is known.
	Since time.Time `json:"since,omitzero"`
	// Behind is the sequence of the next message that can be read, 0 when there is none.
	Behind uint64 `json:"behind,omitempty"`
	// Power says that a loss of power explains it: after an unclean stop, of what was
	// not known to be flushed, and of a bucket anything.
	Power bool `json:"power,omitempty"`
	// Promised says that the durability of the ledger leaves it to a loss of power.
	Promised bool `json:"promised,omitempty"`
	// Accepted says that somebody has decided to go on without.
	Accepted bool `json:"accepted,omitempty"`
	// Restored says that one bit had flipped, and was flipped back: nothing is lost.
	Restored bool `json:"restored,omitempty"`
	// Kept is where the files are as they were found.
	Kept string `json:"kept,omitempty"`
}

// Messages is how many are lost, 0 when nobody can say.
func (l *Loss) Messages() uint64 {
	if l.First == 0 || l.Last < l.First {
		return 0
	}
	return l.Last - l.First + 1
}

// String says it in a sentence for an operator.
func (l *Loss) String() string {
	var text strings.Builder
	switch n := l.Messages(); {
	case l.Cause == Consumer:
		fmt.Fprintf(&text, "stream %s has lost what an agent had taken", l.Stream)
	case n == 1:
		fmt.Fprintf(&text, "stream %s has lost message %d", l.Stream, l.First)
	case n > 1:
		fmt.Fprintf(&text, "stream %s has lost %d messages, %d to %d", l.Stream, n, l.First, l.Last)
	case l.First == 0:
		fmt.Fprintf(&text, "stream %s has lost something that is no message any more", l.Stream)
	default:
		fmt.Fprintf(&text, "stream %s has lost what came from message %d on", l.Stream, l.First)
	}
	if !l.Since.IsZero() {
		fmt.Fprintf(&text, ", since %s", l.Since.UTC().Format(time.RFC3339))
	}
	if l.Detail != "" {
		fmt.Fprintf(&text, ": %s", l.Detail)
	}
	if l.File != "" {
		fmt.Fprintf(&text, " (%s", l.File)
		if l.Offset > 0 {
			fmt.Fprintf(&text, ", byte %d", l.Offset)
		}
		text.WriteString(")")
	}
	switch {
	case l.Restored && l.Cause == Consumer:
		text.WriteString("; it is restored as it was at the last stop in order")
	case l.Cause == Consumer:
		text.WriteString("; the next start or a repair restores it")
	case l.Restored:
		text.WriteString("; it was one flipped bit, and is restored")
	case l.Accepted:
		text.WriteString("; this was accepted, and the ledger goes on without")
	case l.Promised:
		text.WriteString("; durability: interval leaves that to a loss of power, and the ledger goes on without")
	}
	return text.String()
}
