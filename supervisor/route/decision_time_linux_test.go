package route_test

import (
	"slices"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/supervisor/route"
)

// TestDecisionTakesLessThanHalfASecond_G31: without a model, 99 of 100 decisions take less than 500 ms, among 10,000 keywords of every mode and for
// long texts too. A decision waits for nothing, so that it takes the time of the processor that it uses: that is measured, and no other process adds to it.
func TestDecisionTakesLessThanHalfASecond_G31(t *testing.T) { //nolint:paralleltest // the collector would work for other tests
	const limit = 500 * time.Millisecond
	for _, c := range []struct{ keywords, size, decisions int }{{1000, 4 << 10, 300}, {10000, 4 << 10, 300}, {10000, 64 << 10, 100}} {
		router, err := route.Compile(benchProfile(c.keywords, benchModes()...))
		if err != nil {
			t.Fatal(err)
		}
		text := benchText(c.size)
		took := make([]time.Duration, c.decisions)
		for i := range took {
			took[i] = cputime.Of(t, func() {
				if _, decided := router.Decide(text, ""); !decided {
					t.Error("no router decided")
				}
			})
		}
		slices.Sort(took)
		at99 := took[len(took)*99/100]
		t.Logf("%d keywords, %d bytes: half of %d decisions take up to %s, 99 of 100 up to %s", c.keywords, c.size, c.decisions, took[len(took)/2], at99)
		if at99 >= limit || took[len(took)-1] == 0 {
			t.Errorf("%d keywords, %d bytes: 99 of 100 decisions take up to %s", c.keywords, c.size, at99)
		}
	}
}
