package jetstream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/jetstream/wire"
)

// confirmEvery and confirmTimes: a server that has just become a stream's leader may
// say for a moment that the stream ends earlier than it does.
const (
	confirmEvery = 500 * time.Millisecond
	confirmTimes = 6
)

// lastSequences are how far each stream of a ledger was seen: no later answer of a server
// may be behind it.
type lastSequences struct {
	mu      sync.RWMutex
	streams map[string]*lastSequence
}

// A lastSequence is what is known of one stream.
type lastSequence struct {
	created time.Time // the stream that was seen
	seen    atomic.Uint64
	settled atomic.Uint64 // what was seen when the connection was last lost: whatever is appended later is behind it
}

// of returns what is known of a stream; nil is none.
func (m *lastSequences) of(stream string) *lastSequence {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.streams[stream]
}

// begin watches a stream from now on.
func (m *lastSequences) begin(stream string, created time.Time, last uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := &lastSequence{created: created}
	known.seen.Store(last)
	known.settled.Store(last)
	m.streams[stream] = known
}

// advance notes an acknowledgement of a message and of so many before it. It reports
// false when the stream cannot be the one that was seen.
func (m *lastSequences) advance(ack bus.Ack, before int) bool {
	known := m.of(ack.Stream)
	if known == nil {
		return true
	}
	if ack.Sequence <= known.settled.Load()+uint64(before) { //nolint:gosec // a length
		return false
	}
	known.saw(ack.Sequence)
	return true
}

// saw raises it.
func (m *lastSequence) saw(last uint64) {
	for seen := m.seen.Load(); last > seen && !m.seen.CompareAndSwap(seen, last); seen = m.seen.Load() {
	}
}

// settle is told that nothing which was sent is answered any more.
func (m *lastSequences) settle() {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, known := range m.streams {
		known.settled.Store(known.seen.Load())
	}
}

// Streams are those that the ledger cannot do without, by the names of the server.
func (c *Core) Streams() []string {
	streams := []string{bus.WorkStream, "KV_" + bus.MailboxBucket, bus.ArtifactStream}
	for shard := range c.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

// recordLastSequences remembers how far the ledger reaches at this moment.
func (c *Core) recordLastSequences(ctx context.Context) error {
	for _, stream := range c.Streams() {
		info, err := c.streamInfo(ctx, stream)
		if err != nil {
			return wire.ClassifyStore("open stream "+stream, wire.NotFound(err))
		}
		c.publisher.lastSequences.begin(stream, info.Created, info.State.LastSeq)
	}
	return nil
}

// Seen returns the sequence of the newest message that is known of a stream.
func (c *Core) Seen(stream string) uint64 {
	if known := c.publisher.lastSequences.of(stream); known != nil {
		return known.seen.Load()
	}
	return 0
}

// Verify asks whether every stream of the ledger is the one that was opened, and
// reaches as far as this connection has seen it reach: that of its own appends that
// were acknowledged, and of earlier answers. It returns a *bus.LostError when one is
// not, after it has asked again for some seconds, and other errors when the
// ledger does not say.
func (c *Core) Verify(ctx context.Context) error {
	for _, stream := range c.Streams() {
		known := c.publisher.lastSequences.of(stream)
		if known == nil {
			continue
		}
		if err := c.verify(ctx, stream, known); err != nil {
			return err
		}
	}
	return nil
}

func (c *Core) verify(ctx context.Context, stream string, known *lastSequence) error {
	for times := 1; ; times++ {
		err := c.compare(ctx, stream, known)
		if !errors.Is(err, bus.ErrLost) || times == confirmTimes {
			return err
		}
		if err := backoff.Pause(ctx, confirmEvery); err != nil {
			return err
		}
	}
}

// compare returns a *bus.LostError when a stream lacks something, by one look at it.
func (c *Core) compare(ctx context.Context, stream string, known *lastSequence) error {
	ctx, cancel := wire.Bounded(ctx)
	defer cancel()
	seen := known.seen.Load()
	info, err := c.streamInfo(ctx, stream)
	err = wire.ClassifyStore("verify stream "+stream, wire.NotFound(err))
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return &bus.LostError{Stream: stream, Seen: seen, Gone: true}
	case err != nil:
		return err
	case info.State.LastSeq < seen || !info.Created.Equal(known.created):
		return &bus.LostError{Stream: stream, Seen: seen, Ends: info.State.LastSeq}
	}
	known.saw(info.State.LastSeq)
	return nil
}
