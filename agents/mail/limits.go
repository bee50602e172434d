package mail

import (
	"context"
	"sync"
	"time"
)

// Limits bound what an account sends, so that a loop ends.
type Limits struct {
	PeerPerHour int // answers to one address; 0 means DefaultPeerPerHour
	PerMinute   int // letters of the account; 0 is no bound
}

// DefaultPeerPerHour bounds the answers to one address unless the account does:
// some programs answer without saying that they are programs.
const DefaultPeerPerHour = 10

const (
	rateWait   = 10 * time.Second // that a letter waits for its turn; beyond it fails for now
	peersLimit = 4096             // addresses that are remembered
)

// A window is the moments of the last span, for each key. It holds at most limit
// of them and keys of at most peersLimit; of too many, the key that was used
// longest ago is forgotten.
type window struct {
	span  time.Duration
	limit int

	mu    sync.Mutex
	taken map[string][]time.Time
}

func newWindow(span time.Duration, limit int) *window {
	return &window{span: span, limit: limit, taken: map[string][]time.Time{}}
}

// take counts one more, or returns how long it is until there is room for it.
func (w *window) take(key string, now time.Time) (wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	moments := w.taken[key]
	for len(moments) > 0 && now.Sub(moments[0]) >= w.span {
		moments = moments[1:]
	}
	if len(moments) >= w.limit {
		w.taken[key] = moments
		return w.span - now.Sub(moments[0])
	}
	if _, known := w.taken[key]; !known && len(w.taken) >= peersLimit {
		w.forget()
	}
	w.taken[key] = append(moments, now)
	return 0
}

// giveBack takes back the newest of a key: nothing was sent.
func (w *window) giveBack(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if moments := w.taken[key]; len(moments) > 1 {
		w.taken[key] = moments[:len(moments)-1]
	} else {
		delete(w.taken, key)
	}
}

func (w *window) forget() {
	var oldest string
	var last time.Time
	for key, moments := range w.taken {
		if newest := moments[len(moments)-1]; last.IsZero() || newest.Before(last) {
			oldest, last = key, newest
		}
	}
	delete(w.taken, oldest)
}

// A limitError says that a letter is not sent now, or at all.
type limitError struct {
	peer bool          // its recipient has had too many
	wait time.Duration // until there is room
}

// Error implements error.
func (e *limitError) Error() string {
	if e.peer {
		return "the recipient's budget of answers is used up"
	}
	return "the account's rate is used up"
}

// admit counts a letter to the peers, and waits for its turn when that is near.
// The function returned takes it back.
func (s *sender) admit(ctx context.Context, now func() time.Time, peers []string) (func(), error) {
	for i, peer := range peers {
		if wait := s.peers.take(peer, now()); wait > 0 {
			s.giveBack(peers[:i])
			return nil, &limitError{peer: true, wait: wait}
		}
	}
	for waited := time.Duration(0); s.rate != nil; {
		wait := s.rate.take("", now())
		if wait == 0 {
			return func() { s.giveBack(peers); s.rate.giveBack("") }, nil
		}
		if waited += wait; waited > rateWait {
			s.giveBack(peers)
			return nil, &limitError{wait: wait}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			s.giveBack(peers)
			return nil, context.Cause(ctx)
		}
	}
	return func() { s.giveBack(peers) }, nil
}

func (s *sender) giveBack(peers []string) {
	for _, peer := range peers {
		s.peers.giveBack(peer)
	}
}
