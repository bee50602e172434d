package cloudevents

import (
	"sync"
	"time"
)

// An allowance lets a source send so many requests a minute, evenly: what was not
// used is kept for ten seconds, and one request is always kept.
type allowance struct {
	every time.Duration // between two requests; 0 is no limit
	kept  time.Duration

	mutex sync.Mutex
	next  time.Time // when all that was taken is paid for
}

const keptFor = 10 * time.Second

func newAllowance(perMinute int, now time.Time) *allowance {
	if perMinute <= 0 {
		return &allowance{}
	}
	every := time.Minute / time.Duration(perMinute)
	kept := max(keptFor, every)
	return &allowance{every: every, kept: kept, next: now.Add(-kept)}
}

// take uses up one request; else it returns how long to wait before the next try.
func (a *allowance) take(now time.Time) time.Duration {
	if a.every == 0 {
		return 0
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if earliest := now.Add(-a.kept); a.next.Before(earliest) {
		a.next = earliest
	}
	if wait := a.next.Add(a.every).Sub(now); wait > 0 {
		return wait
	}
	a.next = a.next.Add(a.every)
	return 0
}
