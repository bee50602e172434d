package statistics

import (
	"testing"
	"time"
)

// TestBucketsAreNarrow: what a figure says differs from what was by a tenth at most, and buckets grow with durations.
func TestBucketsAreNarrow(t *testing.T) {
	t.Parallel()
	before := -1
	for ms := int64(0); ms < 1<<33; ms += 1 + ms/50 {
		took := time.Duration(ms) * time.Millisecond
		bucket := bucketOf(took)
		if bucket < before {
			t.Fatalf("%s is in bucket %d, less in %d", took, bucket, before)
		}
		before = bucket
		if off := (middleOf(bucket) - took).Abs(); float64(off) > 0.1*float64(took)+float64(time.Millisecond)/2 {
			t.Fatalf("%s is told as %s", took, middleOf(bucket))
		}
	}
	if bucketOf(-time.Second) != 0 || bucketOf(1<<62) != maxBucket {
		t.Errorf("beyond both ends: %d, %d", bucketOf(-time.Second), bucketOf(1<<62))
	}
}

// TestFiguresAreOfLately: half and 99 of 100, of the last one to two days.
func TestFiguresAreOfLately(t *testing.T) {
	t.Parallel()
	var h Histogram
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	if h.Quantile(at, 0.5) != 0 || h.Count(at) != 0 {
		t.Error("nothing was counted, and it has figures")
	}
	for n := range 100 {
		took := time.Second
		if n >= 98 {
			took = time.Minute
		}
		h.Add(at, took)
	}
	near := func(got, want time.Duration) bool { return (got - want).Abs() <= want/10 }
	for _, later := range []time.Duration{0, 20 * time.Hour, 38 * time.Hour} {
		now := at.Add(later)
		if h.Count(now) != 100 || !near(h.Quantile(now, 0.5), time.Second) || !near(h.Quantile(now, 0.99), time.Minute) {
			t.Errorf("after %s: %d, %s, %s", later, h.Count(now), h.Quantile(now, 0.5), h.Quantile(now, 0.99))
		}
	}
	h.Add(at.Add(30*time.Hour), time.Hour)
	if n := h.Count(at.Add(30 * time.Hour)); n != 101 {
		t.Errorf("of both days there are %d", n)
	}
	if n := h.Count(at.Add(80 * time.Hour)); n != 0 {
		t.Errorf("of three days ago there are %d", n)
	}
}
