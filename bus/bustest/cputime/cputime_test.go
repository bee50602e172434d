package cputime_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
)

// failures counts what would fail the test.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Errorf(format string, values ...any) {
	f.said = append(f.said, fmt.Sprintf(format, values...))
}

func (f *failures) Helper() {}

// spin does count steps.
func spin(count int) func() {
	return func() {
		sum := 1
		for i := range count * 1000 {
			sum = sum*31 + i
		}
		if sum == 0 {
			panic("the steps have been left out")
		}
	}
}

func TestWaitingCostsNothing(t *testing.T) {
	t.Parallel()
	// Pauses of the thread are no processor time.
	cputime.Bound(t, "a pause", 40*time.Millisecond, func() { time.Sleep(50 * time.Millisecond) })
}

func TestWhatCostsMoreFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		measure func(testing.TB)
		want    string
	}{
		"proportion kept":     {func(tb testing.TB) { cputime.Proportion(tb, "work", 20, spin(100), spin(200)) }, ""},
		"out of proportion":   {func(tb testing.TB) { cputime.Proportion(tb, "work", 20, spin(10), spin(4000)) }, "work takes "},
		"below the limit":     {func(tb testing.TB) { cputime.Bound(tb, "work", time.Minute, spin(1)) }, ""},
		"more than the limit": {func(tb testing.TB) { cputime.Bound(tb, "work", time.Microsecond, spin(1000)) }, "work takes "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &failures{TB: t}
			test.measure(seen)
			if said := strings.Join(seen.said, "\n"); (said == "") != (test.want == "") || !strings.HasPrefix(said, test.want) {
				t.Errorf("it said %q, want %q", said, test.want)
			}
		})
	}
}
