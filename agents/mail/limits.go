package mail

import (
	"context"
	"slices"
	"sync"
	"time"

	"podium/bus/backoff"
)

// Limits bound what an account sends, so that a loop ends.
type Limits struct {
	PeerPerHour int // answers to one mailbox, whatever is behind its plus; 0 means DefaultPeerPerHour
	PerMinute   int // letters of the account; 0 is no bound
}

// DefaultPeerPerHour bounds the answers to one address unless the account does:
// some programs answer without saying that they are programs.
const DefaultPeerPerHour = 10

const (
	sendReserve = 10 * time.Second // of a request's time, which waiting for a turn leaves to the sending
	peersLimit  = 4096             // addresses that are remembered
)

// A window is the turns of the last span, and those to come, for each key: at most
// limit of them in any span. It holds at most peersLimit keys; of too many, the one
// that was used longest ago is forgotten.
type window struct {
	span  time.Duration
	limit int

	mu       sync.Mutex
	taken    map[string][]time.Time          // in their order
	promised map[string]map[string]time.Time // turns to come, of each key by the email that has them
}

func newWindow(span time.Duration, limit int) *window {
	return &window{span: span, limit: limit, taken: map[string][]time.Time{}, promised: map[string]map[string]time.Time{}}
}

// longestPromise bounds how far ahead a turn is promised.
const longestPromise = 24 * time.Hour

// takeOrPromise gives an email a turn of a key, or promises it the next that is free, which it takes when it comes again then. So emails that
// wait go out in the order in which they came.
func (w *window) takeOrPromise(key, email string, now time.Time) (turn time.Time) {
	w.mu.Lock()
	promised, known := w.promised[key][email]
	if known && !promised.After(now) {
		delete(w.promised[key], email)
	}
	w.mu.Unlock()
	if known && now.Sub(promised) < w.span {
		return promised
	}
	turn, taken := w.take(key, now, now.Add(longestPromise))
	if taken && turn.After(now) {
		w.mu.Lock()
		w.promise(key, email, turn)
		w.mu.Unlock()
	}
	return turn
}

// keepOrGiveBack takes back a turn that an email has not used. While others wait for turns to come the email keeps it, so that they do not
// overtake it.
func (w *window) keepOrGiveBack(key, email string, turn, now time.Time) {
	w.mu.Lock()
	turns := w.taken[key]
	kept := len(turns) > 0 && turns[len(turns)-1].After(now)
	if kept {
		w.promise(key, email, turn)
	}
	w.mu.Unlock()
	if !kept {
		w.giveBack(key, turn)
	}
}

func (w *window) promise(key, email string, turn time.Time) {
	if w.promised[key] == nil {
		w.promised[key] = map[string]time.Time{}
	}
	w.promised[key][email] = turn
}

// take gives away the next turn of a key, now or later, or says when it would be if
// that is after latest. Whoever comes first has the earlier turn; latest zero is never
// too late.
func (w *window) take(key string, now, latest time.Time) (turn time.Time, taken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	turns := w.taken[key]
	for len(turns) > 0 && now.Sub(turns[0]) >= w.span {
		turns = turns[1:]
	}
	turn = now
	if full := len(turns) - w.limit; full >= 0 {
		turn = turns[full].Add(w.span)
	}
	if !latest.IsZero() && turn.After(latest) {
		w.keep(key, turns)
		return turn, false
	}
	if _, known := w.taken[key]; !known && len(w.taken) >= peersLimit {
		w.forget()
	}
	place := len(turns)
	for place > 0 && turns[place-1].After(turn) { // one of those before it was given back
		place--
	}
	w.keep(key, slices.Insert(turns, place, turn))
	return turn, true
}

// giveBack takes back a turn of a key: nothing was sent in it.
func (w *window) giveBack(key string, turn time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	turns := w.taken[key]
	if i := slices.IndexFunc(turns, turn.Equal); i >= 0 {
		w.keep(key, slices.Delete(turns, i, i+1))
	}
}

func (w *window) keep(key string, turns []time.Time) {
	if len(turns) == 0 {
		delete(w.taken, key)
		delete(w.promised, key)
		return
	}
	w.taken[key] = turns
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
	delete(w.promised, oldest)
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

// admit counts an email to the peers, or promises it their next turns, and waits for its turn of the account, for as
// long as ctx leaves the time to send it then. It calls waits before it waits. The
// function returned takes back what was counted.
func (s *sender) admit(ctx context.Context, now time.Time, email string, peers []string, waits func(time.Duration)) (giveBack func(), err error) {
	turns, latest := make([]time.Time, len(peers)), now
	for i, peer := range peers {
		if turns[i] = s.peers.takeOrPromise(peer, email, now); turns[i].After(latest) {
			latest = turns[i]
		}
	}
	if latest.After(now) {
		s.giveBack(email, peers, turns, now)
		return nil, &limitError{peer: true, wait: latest.Sub(now)}
	}
	if s.rate == nil {
		return func() { s.giveBack(email, peers, turns, now) }, nil
	}
	turn, err := s.awaitTurn(ctx, now, waits)
	if err != nil {
		s.giveBack(email, peers, turns, now)
		return nil, err
	}
	return func() { s.giveBack(email, peers, turns, now); s.rate.giveBack("", turn) }, nil
}

// awaitTurn waits until the account may send one letter more.
func (s *sender) awaitTurn(ctx context.Context, now time.Time, waits func(time.Duration)) (time.Time, error) {
	turn, taken := s.rate.take("", now, latestTurn(ctx, now))
	wait := turn.Sub(now)
	switch {
	case !taken:
		return turn, &limitError{wait: wait}
	case wait == 0:
		return turn, nil
	}
	waits(wait)
	err := backoff.Pause(ctx, wait)
	if err != nil {
		s.rate.giveBack("", turn)
	}
	return turn, err
}

// latestTurn leaves time to send. A turn that is there is used however little is left.
func latestTurn(ctx context.Context, now time.Time) time.Time {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return time.Time{}
	}
	return now.Add(max(time.Until(deadline)-sendReserve, 0))
}

// giveBack takes back the turns that an email has and does not use. It keeps those that are promised to it.
func (s *sender) giveBack(email string, peers []string, turns []time.Time, now time.Time) {
	for i, peer := range peers {
		if !turns[i].After(now) {
			s.peers.keepOrGiveBack(peer, email, turns[i], now)
		}
	}
}
