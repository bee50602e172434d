package cloudevents

import (
	"sync"
	"time"
)

// An allowance lets a source send so many requests a minute, evenly: what was not
// used is kept for ten seconds, and one request is always kept. The zero value has
// kept all that it can.
type allowance struct {
	mutex sync.Mutex
	next  time.Time // when all that was taken is paid for
}

const keptFor = 10 * time.Second

// take uses up one request; else it returns how long to wait before the next try. Without
// a number of requests a minute there is no limit.
func (a *allowance) take(now time.Time, perMinute int) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	every := time.Minute / time.Duration(perMinute)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if earliest := now.Add(-max(keptFor, every)); a.next.Before(earliest) {
		a.next = earliest
	}
	if wait := a.next.Add(every).Sub(now); wait > 0 {
		return wait
	}
	a.next = a.next.Add(every)
	return 0
}
