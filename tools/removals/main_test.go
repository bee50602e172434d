package main

import (
	"os"
	"testing"
)

// TestEveryRemovalFits: what "make removals" draws is known, and what it takes out stands in its file once. Whether a test misses it takes minutes to see.
func TestEveryRemovalFits(t *testing.T) {
	t.Chdir("../..")
	removals, err := known()
	if err != nil {
		t.Fatal(err)
	}
	for item, one := range removals {
		if _, err := one.edited(); err != nil {
			t.Errorf("%s: %v", item, err)
		}
	}
	coverage, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range drawn(string(coverage), 18, 20) {
		if _, has := removals[item]; !has {
			t.Errorf("%s: %s does not say how it is taken out", item, removalsFile)
		}
	}
}
