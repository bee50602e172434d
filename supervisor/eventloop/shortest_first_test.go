package eventloop_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"podium/supervisor/eventloop"
)

// TestShortestFirst: one at a time has its turn, the smallest of those that wait first, and of one size the one that came first.
func TestShortestFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var line eventloop.ShortestFirst
		if err := line.Enter(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var done sync.WaitGroup
		var order []int
		for i, size := range []int64{30, 10, 20, 10} {
			done.Go(func() {
				if err := line.Enter(t.Context(), size); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				line.Leave()
			})
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		done.Go(func() {
			if err := line.Enter(ctx, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("one that goes away gets %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		line.Leave()
		done.Wait()
		if want := []int{1, 3, 2, 0}; !slices.Equal(order, want) {
			t.Errorf("the order is %v, want %v", order, want)
		}
		if err := line.Enter(t.Context(), 1); err != nil {
			t.Errorf("the place is not free in the end: %v", err)
		}
	})
}
