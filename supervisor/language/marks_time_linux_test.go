package language_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"podium/supervisor/language"
)

// TestMarksTakeTimeInProportion: quotations that are opened and never closed cost what as much prose does, by an order of magnitude.
func TestMarksTakeTimeInProportion(t *testing.T) { //nolint:paralleltest // the collector would work for other tests
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := detector(t)
	const size = 32 << 10
	fastest := func(text string) time.Duration {
		best := time.Hour
		for range 3 {
			before := processorTime(t)
			d.Other(text, "de", language.Said{})
			best = min(best, processorTime(t)-before)
		}
		return best
	}
	prose := fastest(strings.Repeat("Der Termin am Montag ist abgesagt. ", size/35))
	for _, mark := range []string{"„", "“", "«", "»", "‚", "<", "`„", "« a "} {
		if took := fastest(strings.Repeat(mark, size/len(mark))); took > 15*prose+20*time.Millisecond {
			t.Errorf("%q alone takes %v, prose %v", mark, took, prose)
		}
	}
}

// processorTime is what the thread of the caller has used of the processor, so that no other process adds to it.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
