package recovery

import (
	"context"
	"slices"
)

// Again makes a ledger ready for its server to start once more in the same life, after
// that has met a disk that it could not write. It is a *LossError when something is gone
// that was there: then no server may be started on it.
func (r *Recovery) Again(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.readFromDisk(); err != nil {
		return err
	}
	store, err := r.read(ctx)
	if err != nil {
		return err
	}
	if losses := Judge(store, r.marks); len(losses) > 0 {
		return &LossError{Data: r.config.Data, Losses: slices.Clone(losses)}
	}
	if _, err = r.afterCrash(ctx, store); err != nil {
		return err
	}
	return r.flushAll()
}
