package admission

import (
	"context"
	"errors"

	"podium/bus"
	"podium/schemas"
)

// compareAndSetTries is how often in a row a value may be somebody else's before the
// operation gives up for now.
const compareAndSetTries = 16

// compareAndSet changes a value that owners share: it reads it, has it changed, and writes
// it if nobody else has in between, else begins anew. A key that is missing, or
// holds what nobody can read, counts as the zero value. Nothing is written when
// change reports false; an error of it ends the operation. A write whose
// acknowledgment is lost may come again, so that change has to know its own work.
func compareAndSet[T any](ctx context.Context, store bus.KeyValue, key string, change func(*T) (bool, error)) (T, error) {
	var zero T
	for range compareAndSetTries {
		body, revision, err := store.Get(ctx, key)
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return zero, err
		}
		var value T
		if err == nil && schemas.Unmarshal(body, &value) != nil {
			value = zero
		}
		changed, err := change(&value)
		if err != nil || !changed {
			return value, err
		}
		if body, err = schemas.Marshal(value); err != nil {
			return zero, err
		}
		if _, err = store.Update(ctx, key, body, revision); err == nil {
			return value, nil
		}
		if !errors.Is(err, bus.ErrConflict) {
			return zero, err
		}
	}
	return zero, &bus.TemporaryError{Op: "change " + key, Err: bus.ErrConflict}
}
