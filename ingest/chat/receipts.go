package chat

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"podium/bus/intake"
)

// errAbandoned is what waiters get when the one that submitted did not come back.
var errAbandoned = errors.New("the message was not submitted")

// receipts remembers what recent deliveries were answered with. It saves the
// ledger the repeats of a retrying sender; nothing is wrong without it.
type receipts struct {
	limit int

	mutex sync.Mutex
	order *list.List // of *delivery, the most recent first
	byKey map[string]*list.Element
}

// A delivery is one message on its way to the ledger or there.
type delivery struct {
	key     string
	done    chan struct{} // closed when receipt and err are set
	receipt intake.Receipt
	err     error
}

func newReceipts(limit int) *receipts {
	return &receipts{limit: limit, order: list.New(), byKey: make(map[string]*list.Element)}
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
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if element, ok := r.byKey[key]; ok {
		r.order.MoveToFront(element)
		return element.Value.(*delivery), false
	}
	current = &delivery{key: key, done: make(chan struct{}), err: errAbandoned}
	r.byKey[key] = r.order.PushFront(current)
	if r.order.Len() > r.limit {
		r.forget(r.order.Back())
	}
	return current, true
}

// settle runs submit and releases whoever waits, even if submit panics.
func (r *receipts) settle(current *delivery, submit func() (intake.Receipt, error)) {
	defer func() {
		if current.err != nil {
			r.mutex.Lock()
			if element, ok := r.byKey[current.key]; ok && element.Value == current {
				r.forget(element)
			}
			r.mutex.Unlock()
		}
		close(current.done)
	}()
	current.receipt, current.err = submit()
}

func (r *receipts) forget(element *list.Element) {
	r.order.Remove(element)
	delete(r.byKey, element.Value.(*delivery).key)
}
