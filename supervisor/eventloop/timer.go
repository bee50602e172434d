package eventloop

import (
	"container/heap"
	"time"
)

// A Timer calls a function at a moment.
type Timer struct {
	at    time.Time
	order uint64
	index int // in the heap; -1 once it has expired or was stopped
	do    func(now time.Time)
}

// Due returns the moment of a timer, and whether that is still to come. Nil has none.
func (t *Timer) Due() (at time.Time, set bool) {
	if t == nil {
		return time.Time{}, false
	}
	return t.at, t.index >= 0
}

// timers are a heap by the moment, then by the order in which they were set.
type timers struct {
	heap timerHeap
	set  uint64
}

func (t *timers) add(at time.Time, do func(now time.Time)) *Timer {
	t.set++
	added := &Timer{at: at, order: t.set, do: do}
	heap.Push(&t.heap, added)
	return added
}

func (t *timers) stop(timer *Timer) {
	if timer != nil && timer.index >= 0 {
		heap.Remove(&t.heap, timer.index)
	}
}

// expire calls what is due and reports whether anything was.
func (t *timers) expire(now time.Time) bool {
	expired := false
	for len(t.heap) > 0 && !t.heap[0].at.After(now) {
		due, _ := heap.Pop(&t.heap).(*Timer)
		due.do(now)
		expired = true
	}
	return expired
}

func (t *timers) next() (time.Time, bool) {
	if len(t.heap) == 0 {
		return time.Time{}, false
	}
	return t.heap[0].at, true
}

type timerHeap []*Timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	if t, ok := x.(*Timer); ok {
		t.index = len(*h)
		*h = append(*h, t)
	}
}

func (h *timerHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	last.index = -1
	return last
}
