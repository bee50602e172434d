package supervisor

import (
	"container/heap"
	"time"
)

// alarms is a heap of things to do at a moment. Order is by time, then by the
// order in which they were set, so that a simulation repeats exactly.
type alarms struct {
	heap alarmHeap
	set  uint64
}

type alarm struct {
	at    time.Time
	order uint64
	index int // in the heap; -1 once it has rung or is cancelled
	ring  func(now time.Time)
}

func (a *alarms) add(at time.Time, ring func(now time.Time)) *alarm {
	a.set++
	added := &alarm{at: at, order: a.set, ring: ring}
	heap.Push(&a.heap, added)
	return added
}

// cancel takes an alarm back, so that it keeps nothing in memory until its time.
// Nil, and one that has rung, are no mistake.
func (a *alarms) cancel(set *alarm) {
	if set != nil && set.index >= 0 {
		heap.Remove(&a.heap, set.index)
	}
}

// ring runs what is due and reports whether anything was.
func (a *alarms) ring(now time.Time) bool {
	rang := false
	for len(a.heap) > 0 && !a.heap[0].at.After(now) {
		due, _ := heap.Pop(&a.heap).(*alarm)
		due.ring(now)
		rang = true
	}
	return rang
}

// next returns the next moment something is due.
func (a *alarms) next() (time.Time, bool) {
	if len(a.heap) == 0 {
		return time.Time{}, false
	}
	return a.heap[0].at, true
}

type alarmHeap []*alarm

func (h alarmHeap) Len() int { return len(h) }
func (h alarmHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *alarmHeap) Push(x any) {
	if a, ok := x.(*alarm); ok {
		a.index = len(*h)
		*h = append(*h, a)
	}
}

func (h *alarmHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	last.index = -1
	return last
}
