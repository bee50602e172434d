package runs

import (
	"net/netip"
	"sync"
)

// The shares of the places of a shard: one key has a 25th of them (16 of 400), one address a quarter (100).
const (
	keyShare     = 25
	addressShare = 4
)

// A holder is the reader that a place is for. Its zero value has no share: all places are open to it.
type holder struct {
	session string       // the conversation whose key the reader has shown, or that it reads by a token
	address netip.Prefix // of a reader without a token; else the zero prefix
}

// places are those for readers that stay with a session of one shard. It is safe for use by several goroutines at once.
type places struct {
	most int

	mu        sync.Mutex
	taken     int
	sessions  map[string]int
	addresses map[netip.Prefix]int
}

func newPlaces(most int) *places {
	return &places{most: most, sessions: map[string]int{}, addresses: map[netip.Prefix]int{}}
}

// take takes a place; leave gives it back. It is false when all are taken, or all in a share of the holder.
func (p *places) take(by holder) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken >= p.most,
		by.session != "" && p.sessions[by.session] >= max(1, p.most/keyShare),
		by.address.IsValid() && p.addresses[by.address] >= max(1, p.most/addressShare):
		return nil, false
	}
	p.count(by, 1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(by, -1)
	}, true
}

// count adds to what a holder has. The lock is held.
func (p *places) count(by holder, more int) {
	p.taken += more
	if by.session != "" {
		if p.sessions[by.session] += more; p.sessions[by.session] == 0 {
			delete(p.sessions, by.session)
		}
	}
	if by.address.IsValid() {
		if p.addresses[by.address] += more; p.addresses[by.address] == 0 {
			delete(p.addresses, by.address)
		}
	}
}
