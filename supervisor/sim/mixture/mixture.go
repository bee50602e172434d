// Package mixture draws which kinds of knobs meet in a world that mixes them. Each kind is drawn from a source of its own, so that none says anything of another one, and
// what is drawn of one stays when another one is drawn more often.
package mixture

import "math/rand/v2"

// The streams are sources of their own for whether a world has a kind.
const (
	judgesStream   = 0x6d697861
	budgetsStream  = 0x6d697862
	daysStream     = 0x6d697863
	reviewsStream  = 0x6d697864
	recoveryStream = 0x6d697865
	leaveStream    = 0x6d697866
	retriesStream  = 0x6d697867
	threadsStream  = 0x6d697868
	upstreamStream = 0x6d697869
	peopleStream   = 0x6d69786a
)

// Kinds are those that a world has.
type Kinds struct {
	People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream bool
}

// Of are those of the world of a seed that mixes them.
func Of(seed uint64) Kinds {
	k := Kinds{
		Judges: drawn(seed, judgesStream, 3), Budgets: drawn(seed, budgetsStream, 2), Days: drawn(seed, daysStream, 2), Reviews: drawn(seed, reviewsStream, 3),
		Recovery: drawn(seed, recoveryStream, 2), Leave: drawn(seed, leaveStream, 4), Retries: drawn(seed, retriesStream, 4), Threads: drawn(seed, threadsStream, 4),
		Upstream: drawn(seed, upstreamStream, 4), People: drawn(seed, peopleStream, 2),
	}
	k.Days = k.Days && k.Budgets
	k.Recovery = k.Recovery || k.Upstream // what is decided upstream is a failure
	k.People = k.People || k.Recovery || k.Leave || k.Threads
	return k
}

// drawn is once in n.
func drawn(seed, stream uint64, n int) bool {
	return rand.New(rand.NewPCG(seed, stream)).IntN(n) == 0 //nolint:gosec // a simulation repeats
}
