package restore_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/restore"
)

// A slow core takes a second for each record that it gets.
type slow struct {
	bus.Core
	running, most, begun atomic.Int64
	why                  error // of the first one, when it is not nil
}

func (c *slow) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	if ctx.Err() != nil {
		return bus.Message{}, ctx.Err()
	}
	number := c.begun.Add(1)
	c.most.Store(max(c.most.Load(), c.running.Add(1)))
	time.Sleep(time.Second)
	c.running.Add(-1)
	if number == 1 && c.why != nil {
		return bus.Message{}, c.why
	}
	return c.Core.Get(ctx, stream, sequence)
}

// TestLoadManyAtOnce: each session is read once, no more than eight of a chunk at a time.
func TestLoadManyAtOnce(t *testing.T) {
	t.Parallel()
	for _, sessions := range []int{0, 1, 8, 9, 100} {
		t.Run(strconv.Itoa(sessions), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core, ids := twice(t, sessions)
				began := time.Now()
				found, err := restore.LoadMany(t.Context(), core, 0, ids)
				if err != nil || len(found) != sessions || int(core.begun.Load()) != sessions {
					t.Errorf("%d were found after %d reads, %v", len(found), core.begun.Load(), err)
				}
				rounds := (sessions + 7) / 8
				if took := time.Since(began); took != time.Duration(rounds)*time.Second || core.most.Load() > 8 {
					t.Errorf("%s, %d at once", took, core.most.Load())
				}
			})
		})
	}
}

// TestLoadManyEndsEarly: after an error nothing more begins, and that error is returned.
func TestLoadManyEndsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, ids := twice(t, 100)
		core.why = &bus.TemporaryError{Op: "get", Err: context.DeadlineExceeded}
		if _, err := restore.LoadMany(t.Context(), core, 0, ids); !bus.Temporary(err) || core.begun.Load() > 16 {
			t.Errorf("%v after %d", err, core.begun.Load())
		}
	})
}

// twice returns sessions of two records each, the older of which has to be got.
func twice(t *testing.T, sessions int) (*slow, []string) {
	t.Helper()
	d := newDesk(t)
	var ids []string
	for n := range sessions {
		thread := fmt.Sprint("thread ", n)
		d.take(thread)
		d.take(thread)
		ids = append(ids, schemas.SessionID("desk", thread))
	}
	return &slow{Core: d.ledger}, ids
}
