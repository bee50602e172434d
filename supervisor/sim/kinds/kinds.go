// Package kinds says what there is in the worlds of a simulation: people who are asked, budgets, reviews and so on. A seed says it by itself, of some worlds in 128; or all
// worlds are of one kind.
package kinds

import "math/rand/v2"

// A Kind is what all worlds of a simulation are about.
type Kind string

// The kinds.
const (
	OfSeed   Kind = ""         // what the seed says
	People   Kind = "people"   // people are asked
	Judges   Kind = "judges"   // plans are judged
	Budgets  Kind = "budgets"  // runs have budgets, and people are asked in half of the worlds
	Days     Kind = "days"     // runs have budgets of their own and of days, and people are asked in half of the worlds
	Reviews  Kind = "reviews"  // what runs have made is reviewed, and plans are judged in half of the worlds
	Recovery Kind = "recovery" // something is done about failures, and plans are judged in half of the worlds
	Leave    Kind = "leave"    // answers wait for leave, and plans are judged in a quarter of the worlds
	Retries  Kind = "retries"  // runs are begun anew; people are asked in half of the worlds, plans judged in a quarter, and what was made is reviewed in another
	Threads  Kind = "threads"  // people are asked in the threads of a chat whether they agree or work, and in some worlds about failures, budgets and answers, too
	Upstream Kind = "upstream" // runs wait for a decision from upstream about their failures, and plans are judged in some worlds
	Tiers    Kind = "tiers"    // a supervisor below another one gives places back while it waits for people, and in half of the worlds for a decision from upstream, too
	Mixed    Kind = "mixed"    // the others meet, each of them drawn on its own
)

// All are the kinds but OfSeed.
func All() []Kind {
	return []Kind{People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream, Tiers, Mixed}
}

// Features are what a world has besides.
type Features struct {
	People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream, Tiers, Mixed bool
}

// aboutStream is a source of its own for what else a world is about.
const aboutStream = 0x61626f7574

// Features are what the world of a seed has, as one of a kind.
func (k Kind) Features(seed uint64) Features {
	people := hasPeople(seed) || Further(seed)
	about := rand.New(rand.NewPCG(seed, aboutStream)) //nolint:gosec // a simulation repeats
	once := func(n int) bool { return about.IntN(n) == 0 }
	switch k {
	case OfSeed:
		return ofSeed(seed, people)
	case People:
		return Features{People: true, Judges: hasJudges(seed)}
	case Judges:
		return Features{People: people, Judges: true}
	case Budgets:
		return Features{People: seed%2 == 0 || people, Judges: hasJudges(seed), Budgets: true}
	case Days:
		return Features{People: seed%2 == 0 || people, Judges: hasJudges(seed), Budgets: true, Days: true}
	case Reviews:
		return Features{People: people, Judges: seed%2 == 0, Reviews: true}
	case Recovery:
		return Features{People: true, Judges: seed%2 == 0, Recovery: true}
	case Leave:
		return Features{People: true, Judges: seed%4 == 0, Leave: true}
	case Retries:
		return Features{People: seed%2 == 0 || people, Judges: seed%4 == 0, Reviews: seed%4 == 1, Retries: true}
	case Threads:
		return Features{People: true, Threads: true, Recovery: once(2), Budgets: once(3), Leave: once(5)}
	case Upstream:
		return Features{People: true, Recovery: true, Upstream: true, Judges: once(4), Budgets: once(5)}
	case Tiers:
		return Features{People: true, Recovery: true, Upstream: once(2), Tiers: true}
	case Mixed:
		f := mixed(seed)
		f.People = f.People || people
		return f
	}
	return Features{}
}

// ofSeed are the features of a seed's own world. No world that is known to catch a bug without a feature has that (fault_table_test.go, testdata/seeds.txt).
func ofSeed(seed uint64, people bool) Features {
	switch {
	case seed%128 == 28 || seed%128 == 80:
		return Threads.Features(seed)
	case seed%128 == 19 || seed%128 == 99:
		return Upstream.Features(seed)
	case seed%128 == 43 || seed%128 == 107:
		return Mixed.Features(seed)
	case seed%64 == 13:
		return Tiers.Features(seed)
	}
	f := Features{
		Judges: hasJudges(seed), Budgets: seed%64 == 36 || seed%64 == 54, Reviews: seed%64 == 10 || seed%64 == 38, Recovery: seed%64 == 24 || seed%64 == 50,
		Leave: seed%64 == 33 || seed%64 == 58, Retries: seed%64 == 41 || seed%64 == 63,
	}
	f.People = people || f.Recovery || f.Leave
	return f
}

func hasPeople(seed uint64) bool { return seed%32 == 8 || seed%32 == 12 || Approvals(seed) }

func hasJudges(seed uint64) bool { return seed%64 == 37 || seed%64 == 59 }

// Further reports whether whoever is upstream asks again in the same words in the world of a seed, by the rule of ofSeed.
func Further(seed uint64) bool { return seed%32 == 17 }

// Approvals reports whether in the world of a seed somebody has to agree before some agents work, by the rule of ofSeed.
func Approvals(seed uint64) bool { return seed%64 == 52 }
