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
	percent float64
	err     error // why it is not known
	at      time.Time
}

// NewUsage returns the usage of a ledger.
func NewUsage(ledger Ledger) *Usage { return &Usage{ledger: ledger, known: make(map[int]usedShare)} }

// Share returns how much of a shard's limit is used, in percent, as it was a second
// ago at most; 0 without a limit. Who was not answered asks again as late: nobody
// waits for a ledger that is away message by message.
func (u *Usage) Share(ctx context.Context, shard int) (percent float64, err error) {
	u.mu.Lock()
	known, ok := u.known[shard]
	u.mu.Unlock()
	if ok && time.Since(known.at) < usageAge {
		return known.percent, known.err
	}
	state, err := u.ledger.State(ctx, ShardStream(shard))
	known = usedShare{at: time.Now()}
	switch {
	case err != nil:
		known.err = fmt.Errorf("state of shard %d: %w", shard, err)
	case state.MaxBytes > 0:
		known.percent = float64(state.Bytes) / float64(state.MaxBytes) * 100
	}
	u.mu.Lock()
	u.known[shard] = known
	u.mu.Unlock()
	return known.percent, known.err
}
