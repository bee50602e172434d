// Package checkpoint keeps what a takeover reads: up to where a shard's inputs are dealt
// with, its low watermark, and which of its sessions are open. A chain of messages says it:
// a base that names all open sessions, and behind it what has changed. Whoever writes the
// first message of a new epoch owns the shard.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/publisher"
)

// ErrNotOwner reports that another process has taken the shard over.
var ErrNotOwner = errors.New("another process owns the shard")

// A Writer writes the checkpoints of one owner.
type Writer struct {
	Epoch     uint64
	Chain          // of the newest one on the ledger
	Clean     bool // it ends a stop in order
	WriteSoon bool // one is to be written as soon as possible

	config Config
	since  uint64 // sequence of the checkpoint that the epoch began with
	before Chain  // when the epoch began

	writing bool
	due     time.Time // zero until the first Write
	// changed are the sessions that came into memory or left it, and of which the checkpoints
	// may say something else.
	changed map[string]struct{}
}

// Sessions are those that an owner has in memory.
type Sessions interface {
	Len() int
	Has(id string) bool
	IDs() iter.Seq[string]
}

// Config is what a Writer needs.
type Config struct {
	Shard     int
	Owner     string // the name of the process
	Build     string // the version of Podium that it runs
	Sessions  Sessions
	Publisher *publisher.Publisher
	Every     time.Duration
	Names     int             // sessions that one message names at most
	Failed    func(err error) // is told of ErrNotOwner, and of a checkpoint that cannot be written
}

// NewWriter returns a writer that has not taken its shard yet.
func NewWriter(config Config) *Writer {
	return &Writer{config: config, changed: map[string]struct{}{}}
}

// MarkChanged notes that a session has come into memory or left it.
func (w *Writer) MarkChanged(id string) { w.changed[id] = struct{}{} }

// Writing reports whether a checkpoint is on its way.
func (w *Writer) Writing() bool { return w.writing }

// Next returns when the next checkpoint is due, if there is anything new to say.
func (w *Writer) Next(watermark uint64) (time.Time, bool) {
	if w.writing || !w.WriteSoon && w.Watermark == watermark {
		return time.Time{}, false
	}
	return w.due, true
}

// WriteIfDue writes a checkpoint when it is time for one.
func (w *Writer) WriteIfDue(ctx context.Context, now time.Time, watermark uint64) {
	if w.due.IsZero() {
		w.due = now.Add(w.config.Every)
	}
	if at, due := w.Next(watermark); due && (w.WriteSoon || !now.Before(at)) {
		w.Write(ctx, now, watermark, false)
	}
}

// Write says where the shard stands, in as many messages as that takes. Each of them
// counts alone, so that it does not matter how many are stored.
func (w *Writer) Write(ctx context.Context, now time.Time, watermark uint64, clean bool) {
	w.writing, w.WriteSoon = true, false
	w.due = now.Add(w.config.Every)
	parts, base := w.parts(watermark)
	for i := range parts {
		parts[i].Epoch, parts[i].Since, parts[i].Owner, parts[i].Time = w.Epoch, w.since, w.config.Owner, now
	}
	parts[len(parts)-1].Clean = clean
	w.writeParts(ctx, parts, base)
}

// writeParts writes checkpoints one after the other. The last one of a base says
// that those from the first on are all that counts.
func (w *Writer) writeParts(ctx context.Context, parts []schemas.Checkpoint, base bool) {
	part := &parts[0]
	part.Previous = w.Sequence
	event, err := w.event(part)
	if err != nil {
		w.config.Failed(err)
		return
	}
	publisher := w.config.Publisher
	publisher.Publish(ctx, bus.ShardSubject(w.config.Shard), &event, bus.ExpectLast(w.Sequence), func(_ time.Time, ack bus.Ack, err error) {
		if err != nil {
			publisher.LogFailure(zerolog.WarnLevel, err).Int("shard", w.config.Shard).Msg("checkpoint not acknowledged; reading it again")
			w.reread(ctx)
			return
		}
		w.add(part, ack.Sequence)
		w.Clean = part.Clean
		if len(parts) == 1 {
			w.writing = false
			return
		}
		if base {
			parts[len(parts)-1].Base = ack.Sequence
		}
		w.writeParts(ctx, parts[1:], false)
	})
}

// reread finds out whose the newest checkpoint is. One that was not expected may be this
// owner's, whose acknowledgment was lost.
func (w *Writer) reread(ctx context.Context) {
	var chain Chain
	var newest schemas.Checkpoint
	publisher := w.config.Publisher
	publisher.Loop.Start(func() (err error) {
		chain, newest, err = ReadChain(ctx, publisher.Core, w.config.Shard)
		return err
	}, func(now time.Time, err error) {
		switch {
		case err != nil:
			publisher.Loop.At(now.Add(publisher.Backoff.After(0)), func(time.Time) { w.reread(ctx) })
		case newest.Epoch != w.Epoch || newest.Owner != w.config.Owner:
			w.config.Failed(fmt.Errorf("shard %d: %w", w.config.Shard, ErrNotOwner))
		default:
			w.writing, w.Clean = false, newest.Clean
			w.reset(chain)
		}
	})
}

func (w *Writer) event(point *schemas.Checkpoint) (schemas.Event, error) {
	body, err := schemas.Marshal(point)
	return schemas.Event{
		ID:     bus.ShardSubject(w.config.Shard) + "/" + strconv.FormatUint(point.Epoch, 10) + "/" + strconv.FormatInt(point.Time.UnixNano(), 10),
		Source: "/podium/supervisor", Type: schemas.TypeCheckpoint, Time: point.Time,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}, err
}

// parts returns the checkpoints that say together where a shard stands, none
// naming more sessions than the limit, and whether they are a base. Each of them
// is true whether the next is stored or not: only the last has the new watermark, and
// a session too many does no harm.
func (w *Writer) parts(watermark uint64) (parts []schemas.Checkpoint, base bool) {
	opened, closed := w.changes()
	limit := w.config.Names
	if base = w.needsNewBase(w.config.Sessions.Len()); base {
		opened = slices.Sorted(w.config.Sessions.IDs())
	}
	last := w.at(watermark)
	if base && len(opened) <= limit {
		last.Base, last.Previous, last.Open = 0, 0, opened
		return []schemas.Checkpoint{last}, true
	}
	for len(opened)+len(closed) > limit {
		part := w.unchanged()
		part.Open, opened = split(opened, limit)
		part.Closed, closed = split(closed, limit-len(part.Open))
		parts = append(parts, part)
	}
	last.Open, last.Closed = opened, closed
	return append(parts, last), base
}

// at returns a checkpoint with a low watermark, which is this owner's own once it has moved: until
// then what a takeover found may wait to be published, and a record that a fenced owner had left
// would count as dealt with.
func (w *Writer) at(watermark uint64) schemas.Checkpoint {
	point := w.unchanged()
	if watermark != w.Watermark || fault.Is("a low watermark that has not moved is one's own") {
		point.LowWatermark, point.LowWatermarkEpoch, point.LowWatermarkSince = watermark, 0, 0
	}
	return point
}

func split(ids []string, n int) (first, rest []string) {
	n = min(n, len(ids))
	return ids[:n:n], ids[n:]
}

// changes returns, in lexical order, the sessions in memory that the checkpoints
// do not name, and those that they name and that have left it.
func (w *Writer) changes() (opened, closed []string) {
	for id := range w.changed {
		_, named := w.open[id]
		switch live := w.config.Sessions.Has(id); {
		case live && !named:
			opened = append(opened, id)
		case !live && named:
			closed = append(closed, id)
		}
	}
	clear(w.changed)
	slices.Sort(opened)
	slices.Sort(closed)
	return opened, closed
}

// reset begins anew from what the ledger says. What is in memory may differ anywhere.
func (w *Writer) reset(chain Chain) {
	w.Chain = chain
	for id := range chain.open {
		w.changed[id] = struct{}{}
	}
	for id := range w.config.Sessions.IDs() {
		w.changed[id] = struct{}{}
	}
}
