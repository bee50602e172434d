package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/supervisor/history"
)

// reopen loads the sessions that were open.
func (o *Owner) reopen(ctx context.Context, open []string, now time.Time) error {
	loaded, err := history.LoadMany(ctx, o.Core, o.Shard, open)
	if err != nil {
		return fmt.Errorf("load open sessions of shard %d: %w", o.Shard, err)
	}
	for _, found := range loaded {
		if o.deposed(found) {
			return fmt.Errorf("take over shard %d: %w", o.Shard, ErrNotOwner)
		}
		c := o.conversation(found.State.Session)
		if found.Unread {
			o.push(c)
			continue
		}
		c.take(found)
		o.track(c)
		o.begin(c)
		o.owe(ctx, c, found, now)
	}
	return nil
}
