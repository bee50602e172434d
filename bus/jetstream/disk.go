package jetstream

import (
	"context"
	"sync"
	"time"

	"podium/bus"
)

// diskAge is how old the knowledge may be of how much the ledger holds.
const diskAge = time.Second

// A holding is how much all streams hold together, as it was a moment ago.
type holding struct {
	mu    sync.Mutex
	bytes int64
	at    time.Time
}

// disk returns what the ledger's disk has, as far as that is known.
func (c *Core) disk(ctx context.Context) bus.Disk {
	disk := bus.Disk{Used: c.holds(ctx)}
	if c.config.Free != nil {
		free, err := c.config.Free()
		disk.Free, disk.Known = free, err == nil
	}
	return disk
}

// holds returns how many bytes all streams hold. Without an answer it is what was known
// before.
func (c *Core) holds(ctx context.Context) int64 {
	c.holding.mu.Lock()
	defer c.holding.mu.Unlock()
	if time.Since(c.holding.at) < diskAge {
		return c.holding.bytes
	}
	c.holding.at = time.Now()
	if account, err := c.js.AccountInfo(ctx); err == nil {
		c.holding.bytes = int64(account.Store) //nolint:gosec // a size
	}
	return c.holding.bytes
}
