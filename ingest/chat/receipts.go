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
	key     string
	done    chan struct{} // closed when receipt and err are set
	receipt intake.Receipt
	err     error
}

func newReceipts(limit int) *receipts {
	return &receipts{byKey: ttlcache.New(ttlcache.WithCapacity[string, *delivery](uint64(limit)))} //nolint:gosec // it is positive
}

// once submits the delivery of a key, or waits for the one under way, or
// returns the receipt of an earlier one. A failure is not remembered.
func (r *receipts) once(ctx context.Context, key string, submit func() (intake.Receipt, error)) (intake.Receipt, error) {
	current, first := r.claim(key)
	if first {
		r.settle(current, submit)
		return current.receipt, current.err
	}
	select {
	case <-current.done:
		return current.receipt, current.err
	case <-ctx.Done():
		return intake.Receipt{}, ctx.Err()
	}
}

// claim returns the delivery of a key, and whether the caller has to submit it.
func (r *receipts) claim(key string) (current *delivery, first bool) {
	item, known := r.byKey.GetOrSet(key, &delivery{key: key, done: make(chan struct{}), err: errAbandoned})
	return item.Value(), !known
}

// settle runs submit and releases whoever waits, even if submit panics.
func (r *receipts) settle(current *delivery, submit func() (intake.Receipt, error)) {
	defer func() {
		if current.err != nil {
			if known := r.byKey.Get(current.key); known != nil && known.Value() == current {
				r.byKey.Delete(current.key)
			}
		}
		close(current.done)
	}()
	current.receipt, current.err = submit()
}
