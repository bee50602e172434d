package ledgerwatch

import (
	"context"
	"errors"

	"podium/bus"
	"podium/bus/intake"
)

// Silent is said of a ledger that cannot be asked.
const Silent = "does not answer"

// Well is said of a ledger that is well.
const Well = "ok"

// Health is how much of the ledger's room is used, on the health page.
type Health struct {
	Bytes    int64   `json:"ledger_bytes"`
	Limit    int64   `json:"ledger_limit,omitempty"` // none without
	DiskFree *int64  `json:"disk_free,omitempty"`    // not there when the disk is another machine's
	Used     float64 `json:"ledger_used"`            // percent of what is nearest to its end
}

// fill returns the place that is fullest.
func (w *Watcher) fill(ctx context.Context) (fullest intake.Fill, err error) {
	for shard := range w.ledger.Core.Shards() {
		fill, err := w.used.Fill(ctx, shard)
		if err != nil {
			return intake.Fill{}, err
		}
		if fill.Share() > fullest.Share() || shard == 0 {
			fullest = fill
		}
	}
	return fullest, nil
}

// Health says in a few words how the ledger is, and whether it takes messages.
func (w *Watcher) Health(ctx context.Context) (said string, numbers Health, takes bool) {
	fill, err := w.fill(ctx)
	if err == nil {
		numbers = w.numbers(fill)
	}
	held := w.holds()
	switch {
	case errors.Is(held, bus.ErrLost):
		return "lost: " + held.Error(), numbers, false
	case errors.Is(held, bus.ErrFull):
		return "full: " + held.Error(), numbers, false
	case held != nil:
		return "failed: " + held.Error(), numbers, false
	case err != nil:
		return Silent, numbers, false
	case fill.Share() >= intake.IntakeShare:
		return "full: nothing new is taken, what is under way goes on: " + fill.String(), numbers, false
	case fill.Share() >= NearlyFull:
		return "nearly full: " + fill.String(), numbers, true
	}
	return Well, numbers, true
}

func (w *Watcher) numbers(fill intake.Fill) Health {
	numbers := Health{Bytes: fill.Disk.Used, Limit: w.ledger.MaxBytes, Used: float64(int(fill.Share()*10)) / 10}
	if fill.Disk.Known && w.free != nil {
		numbers.DiskFree = &fill.Disk.Free
		if left, err := w.free(); err == nil { // it is of this moment
			numbers.DiskFree = &left
		}
	}
	return numbers
}

// sayLevel writes to the log when the ledger becomes nearly full, full, or neither.
func (w *Watcher) sayLevel(ctx context.Context) {
	fill, err := w.fill(ctx)
	if err != nil {
		return
	}
	level := ""
	switch share := fill.Share(); {
	case share >= intake.IntakeShare:
		level = "the ledger is full: nothing new is taken, and what is under way goes on"
	case share >= NearlyFull:
		level = "the ledger is nearly full"
	}
	w.mu.Lock()
	before := w.said
	w.said = level
	w.mu.Unlock()
	switch {
	case level == before:
	case level == "":
		w.log.Info().Msg("the ledger has room again")
	default:
		w.log.Warn().Str("why", fill.String()).Msg(level)
	}
}
