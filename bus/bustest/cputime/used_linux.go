package cputime

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// used returns the processor time of the calling thread, clock_gettime(2).
func used(tb testing.TB) time.Duration {
	tb.Helper()
	var spent unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(spent.Nano())
}
