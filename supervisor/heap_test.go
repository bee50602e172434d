package supervisor_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"podium/supervisor"
)

// heap returns the bytes that live on the heap.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestHeapOfOpenSessions: an owner keeps at most 3,600 bytes for each session that waits
// for an agent, whether it was there all the time or has taken the shard over.
//
//nolint:paralleltest // it measures the heap
func TestHeapOfOpenSessions(t *testing.T) {
	const sessions, limit = 10_000, 3_600
	d := newDesk(t, 1)
	for i := range sessions {
		d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it, please, and tell me how it went")
	}
	measure := func(name string, o *supervisor.Owner) {
		t.Helper()
		if open := o.OpenSessions(); open != sessions {
			t.Fatalf("%s: %d sessions are open", name, open)
		}
		with := heap()
		runtime.KeepAlive(o)
		o = nil
		_ = o
		each := (int64(with) - int64(heap())) / sessions
		t.Logf("%s: %d bytes of heap for each open session", name, each)
		if each > limit {
			t.Errorf("%s: %d bytes of heap for each open session, want at most %d", name, each, limit)
		}
	}
	first := d.open("first", d.ledger, 0)
	d.spin(first, 3*time.Second) // until a checkpoint names them
	measure("the owner that began them", first)
	second := d.open("second", d.ledger, 0)
	d.spin(second, 3*time.Second)
	measure("the owner that took over", second)
	runtime.KeepAlive(d) // the ledger is not counted
}
