package gate

import (
	"slices"
	"time"

	"podium/bus"
)

const (
	// storeShare is the part of the store of artifacts that an agent may fill in a day without a request under way, and for
	// each request.
	storeShare = 10
	// storeFull is the percentage of the store from which on only agents with a request under way may put artifacts, and
	// storeStop the one from which on no external agent may: intake needs the rest.
	storeFull, storeStop = 80, 88
)

// LimitStore has the gate ask how full the store of artifacts is, in percent, and what its limit is, in bytes; 0 is none. It is
// called before the gate is used.
func (g *Gate) LimitStore(store func() (percent float64, limit int64)) { g.store = store }

// Store decides about bytes that an agent wants to keep in the object store. One that goes on without a request under way is
// a flood.
func (g *Gate) Store(agent string, size int64) error {
	percent, limit := g.store()
	a, now, amount := g.account(agent), g.clock(), float64(max(size, artifactLeast))
	a.mu.Lock()
	defer a.mu.Unlock()
	share := float64(artifactBurst)
	if limit > 0 {
		share = min(share, float64(limit)/storeShare)
	}
	asked := a.putFor(now, amount, share)
	a.unasked.most, a.unasked.rate = share, share/(24*time.Hour).Seconds()
	a.unasked.left = min(a.unasked.left, share)
	reason := ""
	switch {
	case percent >= storeStop, percent >= storeFull && asked == nil:
		reason = "the store of artifacts is nearly full"
	case !a.artifacts.has(now, amount):
		reason = "too many artifacts in an hour"
	case asked != nil:
		asked.put += amount
	case limit > 0 && !a.unasked.take(now, amount):
		reason = "more artifacts than the agent's share of the store, without a request that needs them"
	}
	if reason == "" {
		a.artifacts.take(now, amount)
		return nil
	}
	if asked == nil {
		g.noteFlood(a, now, agent)
	}
	return a.refuse(now, g, bus.Subject{Agent: agent}, reason)
}

// putFor returns a request under way for which so many bytes may be put; nil is none.
func (a *account) putFor(now time.Time, amount, share float64) *request {
	a.open = a.openRequests(now)
	at := slices.IndexFunc(a.open, func(r *request) bool { return r.put+amount <= share })
	if at < 0 {
		return nil
	}
	return a.open[at]
}

// openRequests returns the requests that are neither answered nor expired.
func (a *account) openRequests(now time.Time) []*request {
	return slices.DeleteFunc(a.open, func(r *request) bool {
		return !now.Before(r.until) || slices.ContainsFunc(r.responses, func(passed passedResponse) bool { return passed.stored })
	})
}

// noteOpen notes a request under way. Of more than maxWaiting the older half is forgotten: artifacts for them count as unasked.
func (a *account) noteOpen(now time.Time, opened *request) {
	if len(a.open) >= maxWaiting {
		if a.open = a.openRequests(now); len(a.open) > maxWaiting/2 {
			a.open = slices.Delete(a.open, 0, len(a.open)-maxWaiting/2)
		}
	}
	a.open = append(a.open, opened)
}

// waiting notes requests under way that the gate has not seen go out.
func (a *account) waiting(now time.Time, count uint64) {
	for range min(count, maxWaiting) {
		a.noteOpen(now, &request{until: now.Add(waitingFor)})
	}
}

const (
	maxWaiting = 1024      // requests under way that are remembered of an agent
	waitingFor = time.Hour // that it believes so
)

// noteFlood counts a refusal of what no request has asked for, and hands out the agent when it goes on for too long.
func (g *Gate) noteFlood(a *account, now time.Time, agent string) {
	goesOn := a.flood.goesOn(now)
	if a.flood.count >= floodShown {
		a.worst = a.flood
	}
	if !goesOn {
		return
	}
	g.log.Error().Str("agent", agent).Msg("an agent floods the ledger with what no request has asked for, or what cannot be read")
	select {
	case g.floods <- agent:
	default: // no reader is waiting
	}
}
