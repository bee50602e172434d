package eventloop

import (
	"context"
	"slices"
	"sync"
)

// ShortestFirst lets one operation at a time work, and of those that wait the smallest first. The zero value is ready. Its
// methods may be called by any goroutine.
type ShortestFirst struct {
	mu      sync.Mutex
	taken   bool
	waiting []waiter // the smallest first, of one size in the order in which they came
}

type waiter struct {
	size int64
	turn chan struct{}
}

// Enter returns once it is the turn of an operation of a size, which has to call Leave then. It fails with the error of the
// context when that ends before.
func (s *ShortestFirst) Enter(ctx context.Context, size int64) error {
	turn := s.line(size)
	if turn == nil {
		return nil
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	at := slices.IndexFunc(s.waiting, func(w waiter) bool { return w.turn == turn })
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	s.mu.Unlock()
	if at < 0 { // its turn has come meanwhile
		s.Leave()
	}
	return ctx.Err()
}

// line takes the place, or waits in the line for it.
func (s *ShortestFirst) line(size int64) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken {
		s.taken = true
		return nil
	}
	added := waiter{size: size, turn: make(chan struct{})}
	at, _ := slices.BinarySearchFunc(s.waiting, size, func(w waiter, size int64) int {
		if w.size <= size {
			return -1
		}
		return 1
	})
	s.waiting = slices.Insert(s.waiting, at, added)
	return added.turn
}

// Leave ends the turn of an operation.
func (s *ShortestFirst) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.taken = false
		return
	}
	close(s.waiting[0].turn)
	s.waiting = slices.Delete(s.waiting, 0, 1)
}
