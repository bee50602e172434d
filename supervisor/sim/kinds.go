package sim

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

// Kinds are the kinds but OfSeed.
func Kinds() []Kind {
	return []Kind{People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream, Tiers, Mixed}
}

// features are what a world has besides.
type features struct {
	People, Judges, Budgets, Days, Reviews, Recovery, Leave, Retries, Threads, Upstream, Tiers, Mixed bool
}

// features are what the world of a seed has, as one of a kind.
func (k Kind) features(seed uint64) features {
	people := hasPeople(seed) || asksFurther(seed)
	about := source(seed, aboutStream)
	once := func(n int) bool { return about.IntN(n) == 0 }
	switch k {
	case OfSeed:
		return ofSeed(seed, people)
	case People:
		return features{People: true, Judges: hasJudges(seed)}
	case Judges:
		return features{People: people, Judges: true}
	case Budgets:
		return features{People: seed%2 == 0 || people, Judges: hasJudges(seed), Budgets: true}
	case Days:
		return features{People: seed%2 == 0 || people, Judges: hasJudges(seed), Budgets: true, Days: true}
	case Reviews:
		return features{People: people, Judges: seed%2 == 0, Reviews: true}
	case Recovery:
		return features{People: true, Judges: seed%2 == 0, Recovery: true}
	case Leave:
		return features{People: true, Judges: seed%4 == 0, Leave: true}
	case Retries:
		return features{People: seed%2 == 0 || people, Judges: seed%4 == 0, Reviews: seed%4 == 1, Retries: true}
	case Threads:
		return features{People: true, Threads: true, Recovery: once(2), Budgets: once(3), Leave: once(5)}
	case Upstream:
		return features{People: true, Recovery: true, Upstream: true, Judges: once(4), Budgets: once(5)}
	case Tiers:
		return features{People: true, Recovery: true, Upstream: once(2), Tiers: true}
	case Mixed:
		f := mixed(seed)
		f.People = f.People || people
		return f
	}
	return features{}
}

// ofSeed are the features of a seed's own world. No world that is known to catch a bug without a feature has that
// (fault_table_test.go, testdata/seeds.txt).
func ofSeed(seed uint64, people bool) features {
	switch {
	case seed%128 == 28 || seed%128 == 80:
		return Threads.features(seed)
	case seed%128 == 19 || seed%128 == 99:
		return Upstream.features(seed)
	case seed%128 == 43 || seed%128 == 107:
		return Mixed.features(seed)
	case seed%64 == 13:
		return Tiers.features(seed)
	}
	f := features{
		Judges: hasJudges(seed), Budgets: seed%64 == 36 || seed%64 == 54, Reviews: seed%64 == 10 || seed%64 == 38, Recovery: seed%64 == 24 || seed%64 == 50,
		Leave: seed%64 == 33 || seed%64 == 58, Retries: seed%64 == 41 || seed%64 == 63,
	}
	f.People = people || f.Recovery || f.Leave
	return f
}

func hasPeople(seed uint64) bool { return seed%32 == 8 || seed%32 == 12 || hasApprovals(seed) }

func hasJudges(seed uint64) bool { return seed%64 == 37 || seed%64 == 59 }

// asksFurther reports whether whoever is upstream asks again in the same words in the world of a seed, by the rule of
// ofSeed.
func asksFurther(seed uint64) bool { return seed%32 == 17 }

// hasApprovals reports whether in the world of a seed somebody has to agree before some agents work, by the rule of
// ofSeed.
func hasApprovals(seed uint64) bool { return seed%64 == 52 }

// mixed are the features of the world of a seed that mixes them.
func mixed(seed uint64) features {
	f := features{
		Judges: drawn(seed, mixedJudgesStream, 3), Budgets: drawn(seed, mixedBudgetsStream, 2), Days: drawn(seed, mixedDaysStream, 2), Reviews: drawn(seed, mixedReviewsStream, 3),
		Recovery: drawn(seed, mixedRecoveryStream, 2), Leave: drawn(seed, mixedLeaveStream, 4), Retries: drawn(seed, mixedRetriesStream, 4), Threads: drawn(seed, mixedThreadsStream, 4),
		Upstream: drawn(seed, mixedUpstreamStream, 4), People: drawn(seed, mixedPeopleStream, 2), Mixed: true,
	}
	f.Days = f.Days && f.Budgets
	f.Recovery = f.Recovery || f.Upstream // what is decided upstream is a failure
	f.People = f.People || f.Recovery || f.Leave || f.Threads
	return f
}

// drawn is once in n.
func drawn(seed, stream uint64, n int) bool {
	return source(seed, stream).IntN(n) == 0
}

// source is what a world draws something from, by its seed. What is drawn from one source stays when more is drawn from
// another one: worlds without something are as they were, and the seeds that catch rare bugs (fault_table_test.go)
// still do.
func source(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // a simulation repeats
}

// The streams of sources. Whether a mixed world has a feature is drawn from one for each.
const (
	furtherStream       = 0x66757274686572
	adviserStream       = 0x7265636f76657279
	callbackStream      = 0x63616c6c6261636b
	budgetStream        = 0x627564676574
	dayStream           = 0x646179
	couplingsStream     = 0x6d697870
	judgeStream         = 0x6a7564676573
	aboutStream         = 0x61626f7574
	mixedJudgesStream   = 0x6d697861
	mixedBudgetsStream  = 0x6d697862
	mixedDaysStream     = 0x6d697863
	mixedReviewsStream  = 0x6d697864
	mixedRecoveryStream = 0x6d697865
	mixedLeaveStream    = 0x6d697866
	mixedRetriesStream  = 0x6d697867
	mixedThreadsStream  = 0x6d697868
	mixedUpstreamStream = 0x6d697869
	mixedPeopleStream   = 0x6d69786a
	peopleStream        = 0x70656f706c65
	taintStream         = 0x7461696e74
	formerStream        = 0x666f726d65753e
	crashStream         = 0x6372617a6d
	kindsStream         = 1
	contextStream       = 4
	lateTraits          = 0x6c6174c9fe
	retrierStream       = 0x7265747279
	mendedStream        = 0x6d656e64
	reviewStream        = 0x726576696577
	signatoryStream     = 0x7369676e61746f72
	staffStream         = 0x7374616666
	approvalStream      = 0x617070726f7665
	togetherStream      = 0x746f676574686572
	threadStream        = 0x74687265616473
	tierStream          = 0x7469657273
	upstreamerStream    = 0x757073747265616d
	originStream        = 0x6f726967696e
	worldStream         = 0x706f6469756d
	traitStream         = 0x747261697473
	libraryStream       = 0x6c696272617279
)
