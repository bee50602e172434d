package gate_test

import (
	"testing"
	"time"
)

// limited is a gate before a store of 256 MiB, which is that full.
func limited(t *testing.T, percent *float64) *bench {
	t.Helper()
	b := open(t)
	b.LimitStore(func() (float64, int64) { return *percent, 256 << 20 })
	return b
}

// stored puts artifacts of a MiB for so many times, and returns how many passed.
func (b *bench) stored(times int) (passed int) {
	for range times {
		if b.Store("alpha", 1<<20) == nil {
			passed++
		}
	}
	return passed
}

// TestAnAgentHasAShareOfTheStore: an agent without a request puts no more than a tenth of the store in a day; each request allows as
// much again, until it is answered.
func TestAnAgentHasAShareOfTheStore(t *testing.T) {
	t.Parallel()
	percent := 0.0
	b := limited(t, &percent)
	if got := b.stored(400); got != 25 {
		t.Errorf("%d MiB without a request, want 25", got)
	}
	b.now = b.now.Add(12 * time.Hour)
	if got := b.stored(400); got < 12 || got > 13 {
		t.Errorf("%d MiB half a day later, want 12 or 13", got)
	}
	b.request()
	if got := b.stored(400); got != 25 {
		t.Errorf("%d MiB for a request, want 25", got)
	}
	request := b.request()
	if !b.publish(response(request)) {
		t.Fatal("the response was refused")
	}
	if got := b.stored(400); got != 0 {
		t.Errorf("%d MiB for a request that is answered", got)
	}
}

// TestANearlyFullStoreIsForWorkUnderWay: from 80 % on an agent needs a request, and from 88 % on the rest is for intake.
func TestANearlyFullStoreIsForWorkUnderWay(t *testing.T) {
	t.Parallel()
	percent := 80.0
	b := limited(t, &percent)
	if got := b.stored(10); got != 0 {
		t.Errorf("%d passed without a request", got)
	}
	b.request()
	if got := b.stored(10); got != 10 {
		t.Errorf("%d passed for a request, want 10", got)
	}
	percent = 88
	if got := b.stored(10); got != 0 {
		t.Errorf("%d passed into a store that is full but for intake", got)
	}
}

// TestAFloodOfArtifactsIsTold: an agent that goes on for a minute to put artifacts without a request is told of, as other floods are;
// one that puts too much for its request is not.
func TestAFloodOfArtifactsIsTold(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"without a request": false, "for a request": true} {
		percent := 0.0
		b := limited(t, &percent)
		percent = 90
		if asked {
			b.request()
		}
		for range 700 {
			b.now = b.now.Add(100 * time.Millisecond)
			if b.Store("alpha", 1) == nil {
				t.Fatal("it passed")
			}
		}
		told := false
		select {
		case agent := <-b.Floods():
			told = agent == "alpha"
		default:
		}
		if told == asked {
			t.Errorf("%s: told of: %t", name, told)
		}
		if listed := b.ListFloods(); (len(listed) == 1) == asked || !asked && (listed[0].Agent != "alpha" || listed[0].Refused < 20) {
			t.Errorf("%s: listed: %v", name, listed)
		}
		if b.now = b.now.Add(time.Hour); len(b.ListFloods()) != 0 {
			t.Errorf("%s: it is listed an hour later", name)
		}
	}
}
