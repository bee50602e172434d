package bus

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// usageAge is how old the knowledge of a stream's size may be.
const usageAge = time.Second

// Usage knows how much of the shards' room is used. It is safe for use by several
// goroutines at once.
type Usage struct {
	ledger Ledger

	mu    sync.Mutex
	known map[int]usedShare // by shard
}

type usedShare struct {
	fill Fill
	err  error // why it is not known
	at   time.Time
}

// A Fill is how full the place of a shard is. The zero value is empty.
type Fill struct {
	Shard int
	Limit float64 // percent of the shard's share of the ledger's limit
	Disk  Disk    // under it
}

// Share returns the larger of what is used of the limit and of the disk, in percent.
func (f Fill) Share() float64 { return max(f.Limit, f.Disk.Share()) }

// String says in English what is full, and what gives it room.
func (f Fill) String() string {
	if f.Disk.Share() > f.Limit {
		return fmt.Sprintf("%.0f %% of what its disk has for it is used, and %d MB are left: make room there", f.Disk.Share(), f.Disk.Free/1_000_000)
	}
	return fmt.Sprintf("%.0f %% of what shard %d may hold is used: set ledger.max_bytes higher and start again", f.Limit, f.Shard)
}

// NewUsage returns the usage of a ledger.
func NewUsage(ledger Ledger) *Usage { return &Usage{ledger: ledger, known: make(map[int]usedShare)} }

// Share returns how much of a shard's limit or of its disk is used, whichever is
// more, in percent: see Fill.
func (u *Usage) Share(ctx context.Context, shard int) (percent float64, err error) {
	fill, err := u.Fill(ctx, shard)
	return fill.Share(), err
}

// Fill returns how full the place of a shard is, as it was a second ago at most. Who was
// not answered asks again as late: nobody waits for a ledger that is away message by
// message.
func (u *Usage) Fill(ctx context.Context, shard int) (Fill, error) {
	u.mu.Lock()
	known, ok := u.known[shard]
	u.mu.Unlock()
	if ok && time.Since(known.at) < usageAge {
		return known.fill, known.err
	}
	state, err := u.ledger.State(ctx, ShardStream(shard))
	known = usedShare{at: time.Now(), fill: Fill{Shard: shard, Disk: state.Disk}}
	switch {
	case err != nil:
		known.err = fmt.Errorf("state of shard %d: %w", shard, err)
	case state.MaxBytes > 0:
		known.fill.Limit = float64(state.Bytes) / float64(state.MaxBytes) * 100
	}
	u.mu.Lock()
	u.known[shard] = known
	u.mu.Unlock()
	return known.fill, known.err
}
