package bus

import (
	"context"
	"iter"
	"time"
)

// A Header holds the headers of a message, as NATS spells them.
type Header map[string][]string

// A Message is what stands in a stream: bytes under a subject. Encode and
// Decode turn it into an event and back.
type Message struct {
	Subject string
	Header  Header
	Body    []byte

	Stream   string    // set on messages that were read
	Sequence uint64    // set on messages that were read
	Recorded time.Time // when the stream took it; set on messages that were read
}

// An Ack says that a message is in the stream as durably as the ledger promises.
type Ack struct {
	Stream   string
	Sequence uint64
}

// Expect is a condition on an append. The zero value expects nothing.
type Expect struct {
	// Last, when Check is set, is the sequence of the newest message of the
	// subject; 0 expects that there is none.
	Check bool
	Last  uint64
}

// ExpectLast expects that the newest message of the subject has this sequence.
func ExpectLast(sequence uint64) Expect { return Expect{Check: true, Last: sequence} }

// A Ledger is the shards and the work stream. All methods are safe for use by
// several goroutines at once.
type Ledger interface {
	// Shards returns the number of shards, as the ledger was created with.
	Shards() int

	// Publish appends one message to the stream that holds its subject and
	// calls done exactly once, from any goroutine, when the outcome is known or
	// will not be known. Messages published from one goroutine keep their order
	// in the stream. It does not block on the network. Errors: ErrConflict when
	// the expectation fails, ErrFull when the stream takes no more, ErrTooLarge,
	// and temporary errors (see Temporary) after which the message may be in the
	// stream or not.
	Publish(message Message, expect Expect, done func(Ack, error))

	// Read yields the messages of a stream from a sequence on, in stream order,
	// each exactly once, then waits for more. Subjects may hold wildcards; none
	// means all. The context bounds the opening, not the reader; one that ends
	// meanwhile leaves nothing behind. How many read a stream at a time is bounded,
	// scans included: others wait for a moment, then get ErrTooManyReaders
	// (see WithPrecedence).
	Read(ctx context.Context, stream string, from uint64, subjects ...string) (Reader, error)

	// Scan yields what stood in the stream when it was called, from a sequence
	// on, and ends.
	Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[Message, error]

	// Get returns the message at a sequence, or ErrNotFound.
	Get(ctx context.Context, stream string, sequence uint64) (Message, error)

	// Last returns the newest message of a subject without wildcards, or ErrNotFound.
	Last(ctx context.Context, subject string) (Message, error)

	// LastOf returns the newest message of each subject that has one, in no
	// particular order. All subjects belong to one shard.
	LastOf(ctx context.Context, shard int, subjects []string) ([]Message, error)

	// State returns what a stream holds.
	State(ctx context.Context, stream string) (StreamState, error)
}

// StreamState is what a stream holds.
type StreamState struct {
	First, Last uint64 // sequences; Last is 0 when nothing was ever appended
	Messages    uint64
	Bytes       uint64
	MaxBytes    int64 // the limit; -1 is none
	Disk        Disk  // under all streams
}

// A Reader hands out the messages of one stream in order. It is for one goroutine.
type Reader interface {
	// Next returns the next message without waiting; ok is false when none is
	// here yet. An error is final: the reader has lost its place and the caller
	// reads anew from the last sequence it has seen.
	Next() (message Message, ok bool, err error)
	// Wake receives a value when Next may have something new to say.
	Wake() <-chan struct{}
	// Close releases the reader; it may be called more than once.
	Close()
}
