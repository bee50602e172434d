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
	ring  func(now time.Time)
}

func (a *alarms) add(at time.Time, ring func(now time.Time)) {
	a.set++
	heap.Push(&a.heap, alarm{at: at, order: a.set, ring: ring})
}

// ring runs what is due and reports whether anything was.
func (a *alarms) ring(now time.Time) bool {
	rang := false
	for len(a.heap) > 0 && !a.heap[0].at.After(now) {
		due, _ := heap.Pop(&a.heap).(alarm)
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

type alarmHeap []alarm

func (h alarmHeap) Len() int { return len(h) }
func (h alarmHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h alarmHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *alarmHeap) Push(x any) {
	if a, ok := x.(alarm); ok {
		*h = append(*h, a)
	}
}

func (h *alarmHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
