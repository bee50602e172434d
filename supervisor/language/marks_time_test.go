package language_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/supervisor/language"
)

// TestMarksTakeTimeInProportion: quotations that are opened and never closed cost what as much prose does, by an order of magnitude.
func TestMarksTakeTimeInProportion(t *testing.T) { //nolint:paralleltest // the collector would work for other tests
	d := detector(t)
	const size = 32 << 10
	reading := func(text string) func() { return func() { d.Other(text, "de", language.Said{}) } }
	prose := reading(strings.Repeat("Der Termin am Montag ist abgesagt. ", size/35))
	for _, mark := range []string{"„", "“", "«", "»", "‚", "<", "`„", "« a "} {
		marks := reading(strings.Repeat(mark, size/len(mark)))
		if cputime.Of(t, marks) > 20*time.Millisecond {
			cputime.Proportion(t, fmt.Sprintf("%q alone", mark), 20, prose, marks)
		}
	}
}
