package jetstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

const (
	lastOfChunk    = 512 // of at most 1024 that the server looks up at once
	lastOfParallel = 32
)

// LastOf implements bus.Ledger.
func (c *Core) LastOf(ctx context.Context, shard int, subjects []string) ([]bus.Message, error) {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	newest := make(map[string]bus.Message, len(subjects))
	for chunk := range slices.Chunk(subjects, lastOfChunk) {
		var err error
		if c.replicas == 1 && allCoreWrites(chunk) {
			if err = c.directLastOf(ctx, bus.ShardStream(shard), chunk, newest); errors.Is(err, errForeign) {
				err = c.lastOfEach(ctx, chunk, newest)
			}
		} else {
			err = c.lastOfEach(ctx, chunk, newest)
		}
		if err != nil {
			return nil, fmt.Errorf("look up the last of %d subjects: %w", len(chunk), err)
		}
	}
	return slices.Collect(maps.Values(newest)), nil
}

func allCoreWrites(subjects []string) bool {
	for _, subject := range subjects {
		if parsed, err := bus.ParseSubject(subject); err != nil || !coreWrites(parsed.Kind) {
			return false
		}
	}
	return true
}

// lastOfEach asks for one subject after the other, several at a time.
func (c *Core) lastOfEach(ctx context.Context, subjects []string, newest map[string]bus.Message) error {
	var mu sync.Mutex
	var asking errgroup.Group
	asking.SetLimit(lastOfParallel)
	for _, subject := range subjects {
		asking.Go(func() error {
			message, err := c.Last(ctx, subject)
			if errors.Is(err, bus.ErrNotFound) {
				return nil
			}
			if err == nil {
				mu.Lock()
				newest[subject] = message
				mu.Unlock()
			}
			return err
		})
	}
	return asking.Wait()
}
