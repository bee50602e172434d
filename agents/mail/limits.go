package mail

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"podium/bus/backoff"
)

// Limits bound what an account sends, so that a loop ends.
type Limits struct {
	// PeerPerHour bounds the answers to one mailbox, with anything behind its plus, and the questions of one
	// requester to it; 0 means DefaultPeerPerHour. The questions of all requesters to a mailbox are bounded by
	// askedFactor times that.
	PeerPerHour int
	PerMinute   int // letters of the account; 0 is no bound
}

// DefaultPeerPerHour bounds the answers to one address unless the account does:
// some programs answer without saying that they are programs.
const DefaultPeerPerHour = 10

// askedFactor is how many requesters can use up their questions to one mailbox in an hour before the questions of
// others to it wait.
const askedFactor = 6

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
		w.promise(key, email, turn, now)
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
		w.promise(key, email, turn, now)
	}
	w.mu.Unlock()
	if !kept {
		w.giveBack(key, turn)
	}
}

// promise keeps a turn for an email, and forgets the turns of emails that have not come for theirs.
func (w *window) promise(key, email string, turn, now time.Time) {
	if w.promised[key] == nil {
		w.promised[key] = map[string]time.Time{}
	}
	maps.DeleteFunc(w.promised[key], func(_ string, kept time.Time) bool { return now.Sub(kept) >= w.span })
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
		return "the recipient's budget of emails is used up"
	}
	return "the account's rate is used up"
}

// turns are those of an email in a window, one for each of its keys.
type turns struct {
	window *window
	email  string
	keys   []string
	at     []time.Time
}

// takeTurns gives an email its turn of each key, or promises it.
func (w *window) takeTurns(keys []string, email string, now time.Time) turns {
	taken := turns{window: w, email: email, keys: keys, at: make([]time.Time, len(keys))}
	for i, key := range keys {
		taken.at[i] = w.takeOrPromise(key, email, now)
	}
	return taken
}

// wait returns how long it is until the last of the turns.
func (t turns) wait(now time.Time) time.Duration {
	latest := now
	for _, turn := range t.at {
		if turn.After(latest) {
			latest = turn
		}
	}
	return latest.Sub(now)
}

// giveBack takes back the turns that an email has and does not use. It keeps those that are promised to it.
func (t turns) giveBack(now time.Time) {
	for i, key := range t.keys {
		if !t.at[i].After(now) {
			t.window.keepOrGiveBack(key, t.email, t.at[i], now)
		}
	}
}

// turnsOf gives a letter its turns of the peers, or promises them and returns how long it waits.
//
// A question to people of the configuration needs a turn of its requester first, and one of each person after that.
// Without a turn of its requester it has none of a person, so that the questions of one requester leave those of
// others their turns. The turn of the requester is used as soon as a turn of a person is promised: it bounds how
// many questions of one requester wait for a person.
func (s *sender) turnsOf(letter *letter, now time.Time) (taken []turns, wait time.Duration) {
	email, peers := letter.messageID, letter.peers()
	window := s.peers
	if letter.requester != "" {
		window = s.people
		if !window.hasPromised(peers, email, now) {
			keys := make([]string, len(peers))
			for i, peer := range peers {
				keys[i] = peer + " " + letter.requester
			}
			asked := s.requesters.takeTurns(keys, email, now)
			if wait = asked.wait(now); wait > 0 {
				asked.giveBack(now)
				return nil, wait
			}
			taken = append(taken, asked)
		}
	}
	reached := window.takeTurns(peers, email, now)
	if wait = reached.wait(now); wait > 0 {
		reached.giveBack(now)
		return nil, wait
	}
	return append(taken, reached), 0
}

// hasPromised reports whether an email has a promised turn of one of the keys.
func (w *window) hasPromised(keys []string, email string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(keys, func(key string) bool {
		turn, promised := w.promised[key][email]
		return promised && now.Sub(turn) < w.span
	})
}

// admit counts a letter to its peers, or promises it their next turns, and waits for its turn of the account, for as
// long as ctx leaves the time to send it then. It calls waits before it waits. The
// function returned takes back what was counted.
func (s *sender) admit(
	ctx context.Context, now time.Time, letter *letter, waits func(time.Duration),
) (giveBack func(), err error) {
	taken, wait := s.turnsOf(letter, now)
	if wait > 0 {
		return nil, &limitError{peer: true, wait: wait}
	}
	giveBack = func() {
		for _, turns := range taken {
			turns.giveBack(now)
		}
	}
	if s.rate == nil {
		return giveBack, nil
	}
	turn, err := s.awaitTurn(ctx, now, waits)
	if err != nil {
		giveBack()
		return nil, err
	}
	return func() { giveBack(); s.rate.giveBack("", turn) }, nil
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
