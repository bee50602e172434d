package bus

import (
	"context"
	"io"
	"time"

	"podium/schemas"
)

// A KeyValue is a small key-value bucket with compare-and-set.
type KeyValue interface {
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
	// Below returns the values of the keys that begin with a prefix, which ends in a dot.
	Below(ctx context.Context, prefix string) (map[string][]byte, error)
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
	// PutPending is Put for bytes that nothing refers to yet. They can be read as others, and RemovePending removes them unless
	// Keep or Put is called for them before.
	PutPending(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error)
	// Keep has bytes stay that PutPending has stored; all others stay anyway. It fails with ErrNotFound when they are gone.
	Keep(ctx context.Context, sha256 string) error
	// RemovePending removes what was last put as pending before a time and is not kept. It returns how many artifacts it removed.
	RemovePending(ctx context.Context, before time.Time) (removed int, err error)
}

// A Core is everything that the core account may do: Podium's own on the server, to which
// all streams belong. Adapters, the shard owners and the command line hold one; agents hold
// a Worker.
type Core interface {
	Ledger
	// KeyValue opens a bucket, which exists from the ledger's creation on.
	KeyValue(bucket string) KeyValue
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
	// Working is how many requests are handed out and not acknowledged. Deliveries counts how often
	// any was handed out, each time anew.
	Working    int
	Deliveries uint64
	Pending    uint64 // requests that nobody was handed yet
}

// HasWorked reports whether a process of the agent was ever handed a request, also before the bus began.
func (p *PoolState) HasWorked() bool { return p != nil && (p.Deliveries > 0 || !p.Last.IsZero()) }
