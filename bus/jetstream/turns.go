package jetstream

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/jetstream/wire"
)

// A server allows 1,000 consumers on a stream, those of all processes and the
// agents' durables included, and refuses the next one whoever asks. So everybody
// but the owners is a visitor, and visitors leave room. Each has a consumer of its
// own, which costs nothing while its session is silent: one reader for all of them
// would read every record of a busy shard for whoever follows one session.
const (
	// visitorsHere is how many visitors one process has on a stream at a time.
	visitorsHere = 500
	// visitorsEnd is the number of consumers on a stream from which on a visitor
	// gets none. What is above it is for owners, and for processes that look at
	// the same time: each passes it by openingsAtOnce at most.
	visitorsEnd    = 800
	openingsAtOnce = 16
	// turnWait is how long a visitor waits for a place, and once more for a consumer.
	turnWait = 5 * time.Second
	turnPoll = 100 * time.Millisecond
)

// A turn is what the visitors of one stream have between them.
type turn struct {
	places   *semaphore.Weighted // from before a consumer is made until it is deleted
	openings *semaphore.Weighted // while one is made
}

func (c *Core) turn(stream string) *turn {
	known, _ := c.turns.LoadOrStore(stream, &turn{places: semaphore.NewWeighted(visitorsHere), openings: semaphore.NewWeighted(openingsAtOnce)})
	return known.(*turn) //nolint:forcetypeassert // nothing else is stored
}

// visit takes a place on a stream. Whoever has precedence needs none.
func (c *Core) visit(ctx context.Context, stream string) (leave func(), err error) {
	if bus.HasPrecedence(ctx) {
		return func() {}, nil
	}
	places := c.turn(stream).places
	if err := acquire(ctx, places); err != nil {
		return nil, err
	}
	return func() { places.Release(1) }, nil
}

// admit waits until the stream has room for one more consumer of a visitor. What
// it returns is called when that is made.
func (c *Core) admit(ctx context.Context, stream string) (made func(), err error) {
	if bus.HasPrecedence(ctx) {
		return func() {}, nil
	}
	openings := c.turn(stream).openings
	if err := acquire(ctx, openings); err != nil {
		return nil, err
	}
	if err := c.awaitRoom(ctx, stream); err != nil {
		openings.Release(1)
		return nil, err
	}
	return func() { openings.Release(1) }, nil
}

func (c *Core) awaitRoom(ctx context.Context, stream string) error {
	for end := time.Now().Add(turnWait); ; {
		info, err := c.streamInfo(ctx, stream)
		switch {
		case err != nil:
			return wire.Classify("look for room", wire.NotFound(err))
		case info.State.Consumers < visitorsEnd:
			return nil
		case time.Now().After(end):
			return wire.TooManyReaders(fmt.Sprintf("%d consumers", info.State.Consumers))
		}
		if err := backoff.Pause(ctx, turnPoll); err != nil {
			return wire.Classify("wait for room", err)
		}
	}
}

// acquire takes one, or gives up after turnWait.
func acquire(ctx context.Context, from *semaphore.Weighted) error {
	waiting, stop := context.WithTimeout(ctx, turnWait)
	defer stop()
	if from.Acquire(waiting, 1) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return wire.Classify("wait for a turn", err)
	}
	return wire.TooManyReaders("no turn within " + turnWait.String())
}
