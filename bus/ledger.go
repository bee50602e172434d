package bus

import (
	"context"
	"io"
	"iter"
	"time"

	"podium/schemas"
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

// After expects that the newest message of the subject has this sequence.
func After(sequence uint64) Expect { return Expect{Check: true, Last: sequence} }

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

// A Store is a small key-value table with compare-and-set.
type Store interface {
	// Get returns a value and its revision, or ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Put sets a value whatever stood there.
	Put(ctx context.Context, key string, value []byte) (revision uint64, err error)
	// Update sets a value if the key is still at the revision; revision 0
	// expects that the key does not exist. Otherwise ErrConflict.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Delete removes a key; a missing key is no error.
	Delete(ctx context.Context, key string) error
	// Keys lists the keys in lexical order.
	Keys(ctx context.Context) ([]string, error)
}

// Artifacts is the object store, addressed by content.
type Artifacts interface {
	// Put stores what r yields; the same bytes twice are stored once.
	Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error)
	// Get opens the bytes that a reference names, or ErrNotFound. Reading to the
	// end verifies the hash. An agent needs the grant in the reference too:
	// ErrNotGranted.
	Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error)
}

// An ArtifactStore is the core's own Artifacts, where a hash opens everything.
type ArtifactStore interface {
	Artifacts
	// Part returns at most limit bytes from an offset on, none behind the end, and
	// the size of the whole; or ErrNotFound. It verifies no hash, and holds no more
	// than it returns.
	Part(ctx context.Context, sha256 string, offset int64, limit int) (piece []byte, size int64, err error)
}

// A Core is everything that the core account may do. Doors, the shard owners
// and the command line hold one; agents hold a Worker.
type Core interface {
	Ledger
	// Store opens a bucket, which exists from the ledger's creation on.
	Store(bucket string) Store
	Artifacts() ArtifactStore
	// Declare makes sure that an agent's durable consumer exists with these bounds.
	Declare(ctx context.Context, agent string, pool Pool) error
	// PoolState returns who waits for the requests of an agent, or ErrNotFound.
	PoolState(ctx context.Context, agent string) (PoolState, error)
	// Serve answers requests to a service subject (wildcards allowed) until
	// stop is called, which waits for answers under way. An error from answer
	// reaches the asker as text, and a *RefusedError as such.
	Serve(subject string, answer func(ctx context.Context, subject string, body []byte) ([]byte, error)) (stop func(), err error)
	// Signal sends a message to whoever listens now; it is not stored.
	Signal(subject string, body []byte) error
	// Flush returns when everything that was acknowledged before the call survives a
	// loss of power, whatever the durability of the ledger. On servers of their own, which
	// only they can tell to, and in memory it does nothing. After an error of the disk it
	// fails for good: what is not on the disk by then may never be.
	Flush(ctx context.Context) error
	// Server names the server that takes what is published now, as Delivery.Server
	// does. It is empty when nobody could tell by it that a delivery is the first
	// (see First): then no request is to be marked with it.
	Server() string
}

// A Pool bounds the work of one agent, over all its processes (M-31, M-32).
type Pool struct {
	Size    int           // requests at a time
	AckWait time.Duration // how long the bus waits for a sign of life before it hands a request to another process
}

// PoolState is what the bus knows of those who work for an agent.
type PoolState struct {
	Size    int       // requests at a time, as declared
	Waiting int       // processes that wait for a request now
	Last    time.Time // when somebody was last handed a request, or acknowledged one; zero is not since the bus began
}

// A Worker is all that one agent may do on the bus: take its own requests,
// answer them, and ask the core services.
type Worker interface {
	// Name is the agent's name.
	Name() string
	// Fetch waits for requests and returns at least one and at most n, or the
	// context's error. A request stays the worker's until its ack-wait passes
	// without a sign of life.
	Fetch(ctx context.Context, n int) ([]Delivery, error)
	// Publish appends a response, a progress update or the question for a permit,
	// and waits for the ack.
	Publish(ctx context.Context, message Message) (Ack, error)
	// Ask asks a core service and waits for its answer.
	Ask(ctx context.Context, service string, body []byte) ([]byte, error)
	// Artifacts reaches the object store through the core, for a request of that id.
	Artifacts(request string) Artifacts
	// Cancelled hands out ids of requests that nobody waits for any more. It is
	// a hint: it may miss some.
	Cancelled() <-chan string
	// Permitted hands out the answers to the permits that any process of the agent
	// has asked for. It may miss some: then the same permit is asked for again.
	Permitted() <-chan schemas.PermitAnswer
}

// A Delivery is one request handed to a worker.
type Delivery interface {
	Message() Message
	// Deliveries counts how often it was handed out, this time included, as far as
	// the server knows: one that was killed, or whose machine lost its power, may
	// begin anew with 1 (see First).
	Deliveries() int
	// Server names the server that the worker was connected to when it was handed the
	// request. It has another name after each start; empty is unknown.
	Server() string
	// InProgress is the sign of life that keeps the request.
	InProgress() error
	// Ack says that the request is dealt with, and waits until that is noted.
	Ack(ctx context.Context) error
	// Nak gives the request back after a wait.
	Nak(wait time.Duration) error
}
