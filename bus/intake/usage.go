package intake

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"podium/bus"
)

// usageAge is how old the knowledge of a stream's size may be, up to usageNear percent.
// From there on it is asked for anew: a few large messages fill the rest in a second.
const (
	usageAge  = time.Second
	usageNear = IntakeShare - 10
)

// Usage knows how much of the ledger's room is used. It is safe for use by several
// goroutines at once.
type Usage struct {
	ledger bus.Ledger

	mu    sync.Mutex
	known map[string]usedShare // by stream
}

type usedShare struct {
	fill  Fill
	limit int64 // of the stream, in bytes; 0 is none
	err   error // why it is not known
	at    time.Time
}

// A Fill is how full the place is that an event of a shard needs. The zero value is empty.
type Fill struct {
	Stream string   // the shard's, or that of the artifacts when it is fuller
	Limit  float64  // percent of the stream's share of the ledger's limit
	Disk   bus.Disk // under it
}

// Share returns the larger of what is used of the limit and of the disk, in percent.
func (f Fill) Share() float64 { return max(f.Limit, f.Disk.Share()) }

// String says in English what is full, and what gives it room.
func (f Fill) String() string {
	if f.Disk.Share() > f.Limit {
		return fmt.Sprintf("%.0f %% of what its disk has for it is used, and %d MB are left: make room there", f.Disk.Share(), f.Disk.Free/1_000_000)
	}
	holder := "shard " + strings.TrimPrefix(f.Stream, bus.ShardStreamPrefix)
	if f.Stream == bus.ArtifactStream {
		holder = "the store of large messages and attachments"
	}
	return fmt.Sprintf("%.0f %% of what %s may hold is used: set ledger.max_bytes higher and start again", f.Limit, holder)
}

// NewUsage returns the usage of a ledger.
func NewUsage(ledger bus.Ledger) *Usage {
	return &Usage{ledger: ledger, known: make(map[string]usedShare)}
}

// Fill returns how full a shard is, or the artifacts when they are fuller: an event that is
// taken may need both. Below usageNear percent it may be a second old. Who was not answered
// asks again as late: nobody waits for a ledger that is away message by message.
func (u *Usage) Fill(ctx context.Context, shard int) (Fill, error) {
	fill, err := u.of(ctx, bus.ShardStream(shard))
	if err != nil {
		return fill, err
	}
	artifacts, err := u.of(ctx, bus.ArtifactStream)
	if err == nil && artifacts.Limit > fill.Limit {
		return artifacts, nil
	}
	return fill, nil // an event that needs the artifacts finds out by itself
}

// Shard is Fill of the shard alone, for messages that need no artifact.
func (u *Usage) Shard(ctx context.Context, shard int) (Fill, error) {
	return u.of(ctx, bus.ShardStream(shard))
}

// Artifacts is Fill of the store of artifacts alone, with its limit in bytes; 0 is none.
func (u *Usage) Artifacts(ctx context.Context) (fill Fill, limit int64, err error) {
	fill, err = u.of(ctx, bus.ArtifactStream)
	u.mu.Lock()
	defer u.mu.Unlock()
	return fill, u.known[bus.ArtifactStream].limit, err
}

func (u *Usage) of(ctx context.Context, stream string) (Fill, error) {
	u.mu.Lock()
	known, ok := u.known[stream]
	u.mu.Unlock()
	if ok && time.Since(known.at) < usageAge && known.fill.Share() < usageNear {
		return known.fill, known.err
	}
	state, err := u.ledger.State(ctx, stream)
	known = usedShare{at: time.Now(), fill: Fill{Stream: stream, Disk: state.Disk}}
	switch {
	case err != nil:
		known.err = fmt.Errorf("state of %s: %w", stream, err)
	case state.MaxBytes > 0:
		known.limit, known.fill.Limit = state.MaxBytes, percent(state.Bytes, state.MaxBytes)
	}
	u.mu.Lock()
	u.known[stream] = known
	u.mu.Unlock()
	return known.fill, known.err
}

// Add counts bytes that are about to be stored, until the stream is looked at again.
func (u *Usage) Add(stream string, bytes int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.known[stream]; known.limit > 0 {
		known.fill.Limit += percent(bytes, known.limit)
		u.known[stream] = known
	}
}

func percent[Part int | uint64](part Part, whole int64) float64 {
	return float64(part) / float64(whole) * 100
}
