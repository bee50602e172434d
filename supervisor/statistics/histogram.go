package statistics

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

const (
	// window is how long a generation of a histogram is: its figures are of the last one to two of them.
	window = 24 * time.Hour
	// subBuckets divide each doubling, so that a figure is wrong by a tenth at most.
	subBuckets = 8
	// maxBucket is that of durations of more than three months.
	maxBucket = 33 * subBuckets
)

// A Histogram counts durations in buckets whose width grows with them. Its zero value has counted none.
type Histogram struct {
	Since  time.Time      `json:"since,omitzero"` // when the present generation began
	Now    map[int]uint64 `json:"now,omitzero"`   // by bucket
	Before map[int]uint64 `json:"before,omitzero"`
}

// Add counts a duration that has ended at a moment.
func (h *Histogram) Add(at time.Time, took time.Duration) {
	h.turn(at)
	if h.Now == nil {
		h.Now = map[int]uint64{}
	}
	h.Now[bucketOf(took)]++
}

// turn begins a generation when the present one has had its time.
func (h *Histogram) turn(at time.Time) {
	age := at.Sub(h.Since)
	if age < window {
		return
	}
	h.Before = h.Now
	if age >= 2*window {
		h.Before = nil
	}
	h.Now, h.Since = nil, at.UTC().Truncate(window)
}

// Count returns how many durations the figures at a moment are of.
func (h *Histogram) Count(at time.Time) (count uint64) {
	for _, n := range h.lately(at) {
		count += n
	}
	return count
}

// Quantile returns the duration that a share of the newest ones do not exceed, as of a moment; zero of none.
func (h *Histogram) Quantile(at time.Time, share float64) time.Duration {
	counts := h.lately(at)
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank, passed := uint64(math.Ceil(share*float64(total))), uint64(0)
	for _, bucket := range slices.Sorted(maps.Keys(counts)) {
		if passed += counts[bucket]; passed >= rank {
			return middleOf(bucket)
		}
	}
	return 0
}

// Sum returns how long all of them took together, as of a moment.
func (h *Histogram) Sum(at time.Time) (sum time.Duration) {
	for bucket, n := range h.lately(at) {
		sum += time.Duration(n) * middleOf(bucket) //nolint:gosec // a count
	}
	return sum
}

// lately returns the counts of both generations, as of a moment.
func (h *Histogram) lately(at time.Time) map[int]uint64 {
	aged := *h
	aged.turn(at)
	counts := maps.Clone(aged.Now)
	if counts == nil {
		counts = map[int]uint64{}
	}
	for bucket, n := range aged.Before {
		counts[bucket] += n
	}
	return counts
}

func (h *Histogram) clone() Histogram {
	return Histogram{Since: h.Since, Now: maps.Clone(h.Now), Before: maps.Clone(h.Before)}
}

// bucketOf returns the bucket of a duration: of less than subBuckets milliseconds, each millisecond has its own.
func bucketOf(took time.Duration) int {
	ms := uint64(max(took.Milliseconds(), 0)) //nolint:gosec // not negative
	if ms < subBuckets {
		return int(ms) //nolint:gosec // a few
	}
	doublings := bits.Len64(ms) - bits.Len64(subBuckets)
	return min((doublings+1)*subBuckets+int(ms>>doublings)-subBuckets, maxBucket) //nolint:gosec // less than 2·subBuckets
}

// middleOf returns the duration in the middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket) * time.Millisecond
	}
	doublings := bucket/subBuckets - 1
	least := time.Duration(bucket%subBuckets+subBuckets) << doublings * time.Millisecond
	return least + time.Duration(1)<<doublings*time.Millisecond/2
}
