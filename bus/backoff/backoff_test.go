package backoff_test

import (
	"testing"
	"time"

	"podium/bus/backoff"
)

// TestAfter: doubled from the first to the longest, which no number of failures exceeds.
func TestAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, most time.Duration
		n           int
		want        time.Duration
	}{
		{50, 2000, 0, 50},
		{50, 2000, 1, 100},
		{50, 2000, 5, 1600},
		{50, 2000, 6, 2000},
		{50, 2000, 1 << 40, 2000},
		{10, 1280, 7, 1280},
		{10, 1280, 8, 1280},
		{10, 5, 0, 5},
		{0, 0, 3, 0},
	} {
		if got := backoff.After(test.first, test.most, test.n); got != test.want {
			t.Errorf("After(%d, %d, %d) is %d, want %d", test.first, test.most, test.n, got, test.want)
		}
	}
}

// TestBackoff: each wait is less than the doubled one by at most a half, and a reset begins anew.
func TestBackoff(t *testing.T) {
	t.Parallel()
	var trouble backoff.Backoff
	for range 2 {
		for n := range 20 {
			most := backoff.After(50*time.Millisecond, 5*time.Second, n)
			if wait := trouble.Next(); wait < most/2 || wait >= most {
				t.Errorf("wait %d is %s", n, wait)
			}
		}
		trouble.Reset()
	}
}
