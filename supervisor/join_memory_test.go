package supervisor_test

import (
	"runtime"
	"strings"
	"testing"

	"podium/bus"
	"podium/supervisor"
)

// A request carries at most context_limit bytes of other tasks' results, and
// an owner keeps at most MaxBytes of bodies in memory: so a join of large results
// must not hold all of them at once.
//
//nolint:paralleltest // it measures the heap
func TestAJoinOfLargeResultsIsBounded(t *testing.T) {
	const width, size = 32, 4 << 20
	d, _, first := newFan(t, width)
	for _, request := range d.requests("worker")[:width-1] {
		d.answerWhole("worker", &request, strings.Repeat("x", size))
	}
	d.must(d.work(first))
	last := d.requests("worker")[width-1]
	baseline, peak := heap(), uint64(0)
	core := &strict{Core: d.ledger, refuse: func(m bus.Message) error {
		if m.Subject == bus.RequestSubject("worker") {
			peak = max(peak, heap())
		}
		return nil
	}}
	o := supervisor.NewOwner(d.owner("two", core, 0).Config)
	d.must(o.Open(t.Context(), d.now))
	peak = 0
	d.answer("worker", &last, "the last")
	d.must(d.work(o))
	runtime.KeepAlive(first)
	if peak == 0 {
		t.Fatal("the join was not asked for")
	}
	if held := int64(peak) - int64(baseline); held > 64<<20 {
		t.Errorf("%d MiB in memory for a request of at most 1 MiB of results", held>>20)
	}
}
