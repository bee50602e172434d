package kinds

import "math/rand/v2"

// The streams are sources of their own for whether a mixed world has a feature: none says anything of another one, and what is drawn of one stays when another one is drawn
// more often.
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

// mixed are the features of the world of a seed that mixes them.
func mixed(seed uint64) Features {
	f := Features{
		Judges: drawn(seed, judgesStream, 3), Budgets: drawn(seed, budgetsStream, 2), Days: drawn(seed, daysStream, 2), Reviews: drawn(seed, reviewsStream, 3),
		Recovery: drawn(seed, recoveryStream, 2), Leave: drawn(seed, leaveStream, 4), Retries: drawn(seed, retriesStream, 4), Threads: drawn(seed, threadsStream, 4),
		Upstream: drawn(seed, upstreamStream, 4), People: drawn(seed, peopleStream, 2), Mixed: true,
	}
	f.Days = f.Days && f.Budgets
	f.Recovery = f.Recovery || f.Upstream // what is decided upstream is a failure
	f.People = f.People || f.Recovery || f.Leave || f.Threads
	return f
}

// drawn is once in n.
func drawn(seed, stream uint64, n int) bool {
	return rand.New(rand.NewPCG(seed, stream)).IntN(n) == 0 //nolint:gosec // a simulation repeats
}
