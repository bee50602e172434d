package chat

import (
	"context"
	"errors"

	"github.com/jellydator/ttlcache/v3"

	"podium/bus/intake"
)

// errAbandoned is what waiters get when the one that submitted did not come back.
var errAbandoned = errors.New("the message was not submitted")

// receipts remembers what recent deliveries were answered with. It saves the
// ledger the repeats of a retrying sender; nothing is wrong without it.
type receipts struct {
	byKey *ttlcache.Cache[string, *delivery]
}

// A delivery is one message on its way to the ledger or there.
type delivery struct {
	done    chan struct{} // closed when receipt and err are set
	receipt intake.Receipt
	err     error
}

func newReceipts(limit int) *receipts {
	return &receipts{byKey: ttlcache.New(ttlcache.WithCapacity[string, *delivery](uint64(limit)))} //nolint:gosec // it is positive
}

// once submits the delivery of a key, or waits for the one under way, or returns the
// receipt of an earlier one: then it is repeated. A failure is not remembered. Whoever
// waits is released even if submit panics.
func (r *receipts) once(ctx context.Context, key string, submit func() (intake.Receipt, error)) (receipt intake.Receipt, repeated bool, err error) {
	current := &delivery{done: make(chan struct{}), err: errAbandoned}
	if item, known := r.byKey.GetOrSet(key, current); known {
		current = item.Value()
		select {
		case <-current.done:
			return current.receipt, true, current.err
		case <-ctx.Done():
			return intake.Receipt{}, true, ctx.Err()
		}
	}
	defer func() {
		if known := r.byKey.Get(key); current.err != nil && known != nil && known.Value() == current {
			r.byKey.Delete(key)
		}
		close(current.done)
	}()
	current.receipt, current.err = submit()
	return current.receipt, false, current.err
}
