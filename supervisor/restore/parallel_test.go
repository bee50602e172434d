package restore

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestInParallel: each number is done once, never more at a time than allowed.
func TestInParallel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ n, atOnce int }{{0, 4}, {1, 4}, {4, 4}, {5, 4}, {100, 1}, {100, 7}} {
		t.Run(fmt.Sprintf("%d, %d at once", test.n, test.atOnce), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				done := make([]atomic.Int64, test.n)
				var running, most atomic.Int64
				began := time.Now()
				err := inParallel(test.n, test.atOnce, func(i int) error {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(time.Second)
					running.Add(-1)
					done[i].Add(1)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range done {
					if done[i].Load() != 1 {
						t.Errorf("%d was done %d times", i, done[i].Load())
					}
				}
				rounds := (test.n + test.atOnce - 1) / test.atOnce
				if took := time.Since(began); took != time.Duration(rounds)*time.Second || most.Load() > int64(test.atOnce) {
					t.Errorf("%s, %d at once", took, most.Load())
				}
			})
		})
	}
}

// TestInParallelEndsEarly: after an error nothing more begins, and the error of
// the smallest number is returned.
func TestInParallelEndsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		err := inParallel(1000, 4, func(i int) error {
			begun.Add(1)
			time.Sleep(time.Duration(10-i) * time.Second)
			if i == 1 || i == 3 {
				return errors.New(strconv.Itoa(i))
			}
			return nil
		})
		if err == nil || err.Error() != "1" || begun.Load() > 5 {
			t.Errorf("%v after %d", err, begun.Load())
		}
	})
}
