package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// Others are profiles to decide by instead of those of the same names that are on record. Each takes the place of every
// version of its name.
type Others struct {
	Profiles map[string]schemas.Profile // by name
	// All has every transition told that differs; else it is the first of each run.
	All bool
}

// A WhatIf says of which runs other profiles would decide something else. Each transition is decided on the state that is on
// record: what would have followed from another decision is not known. Nobody is asked anything.
type WhatIf struct {
	Runs        int          `json:"runs"`   // that have begun
	Differ      int          `json:"differ"` // of them, and of those that were still waiting
	Differences []Difference `json:"differences"`
	Undecided   []Undecided  `json:"undecided"`
}

// A Difference is something that other profiles would decide otherwise.
type Difference struct {
	Run      string    `json:"run,omitzero"` // empty: it is about no run, as a message that begins none
	Session  string    `json:"session"`
	Profile  string    `json:"profile"`
	Record   uint64    `json:"record"`
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	// Kind is the name of the first fact about the run that differs: of the one that is decided by what is on record, or, where
	// that says nothing more, of the one that the others add.
	Kind  string        `json:"kind"`
	Was   schemas.Facts `json:"was,omitzero"`   // that fact, by the profiles on record
	Would schemas.Facts `json:"would,omitzero"` // in its place, by the others
}

// An Undecided is a run of which it is not known what other profiles would decide. It is told once.
type Undecided struct {
	Run      string        `json:"run,omitzero"` // empty: a record that is lost does not say
	Session  string        `json:"session"`
	Profile  string        `json:"profile,omitzero"`
	Sequence uint64        `json:"sequence"`
	Kind     UndecidedKind `json:"kind"`
	Why      string        `json:"why"`
}

// UndecidedKind says why something was not decided.
type UndecidedKind string

// Why it was not.
const (
	NotConfigured  UndecidedKind = "not_configured"  // the others have no profile of its name
	InvalidProfile UndecidedKind = "invalid_profile" // theirs cannot be used
	LedgerDamaged  UndecidedKind = "damaged"         // what it stands on is lost, or cannot be read
)

// errNotConfigured reports a profile that the others do not have.
var errNotConfigured = errors.New("there is no profile of that name")

// A place is where on the ledger a transition stands.
type place struct {
	session          string
	record, sequence uint64
	hole             string // why the state before it is not what it was; empty when it is
}

// A comparison gathers what other profiles would decide. Of nil, nothing is asked.
type comparison struct {
	others   *Others
	profiles *restore.Profiles // theirs, under the hashes of those on record
	result   WhatIf
	differ   map[string]bool // runs
	open     map[string]bool // runs, and sessions, that are undecided
}

func newComparison(others *Others, recorded *restore.Profiles) *comparison {
	c := &comparison{
		others: others, differ: map[string]bool{}, open: map[string]bool{},
		result: WhatIf{Differences: []Difference{}, Undecided: []Undecided{}},
	}
	c.profiles = recorded.Replaced(c.replace)
	return c
}

func (c *comparison) replace(recorded *plan.Profile) (*plan.Profile, error) {
	source, known := c.others.Profiles[recorded.Name]
	if !known {
		return nil, errNotConfigured
	}
	return plan.Compile(source)
}

// count counts the runs that a transition on record begins.
func (c *comparison) count(stored *schemas.Transition) {
	if c == nil {
		return
	}
	for _, fact := range stored.Facts {
		if started := schemas.As[*schemas.RunStarted](fact); started != nil {
			c.result.Runs++
		}
	}
}

// decideInstead decides a transition by the other profiles, and notes where that differs from what this build decides by those
// that are on record.
func (v *verifier) decideInstead(state session.State, epoch uint64, stored *schemas.Transition, input session.Input, at place, was schemas.Facts) error {
	c := v.instead
	if c == nil {
		return nil
	}
	if at.hole != "" {
		c.undecided(at, &state, stored, errors.New(at.hole))
		return nil
	}
	would, err := v.decide(c.profiles, state, epoch, stored, input)
	if bus.Temporary(err) {
		return err
	}
	if err != nil {
		c.undecided(at, &state, stored, err)
		return nil
	}
	found, err := changes(was, would)
	if err != nil {
		return err
	}
	profile := state.Profile
	if current := v.profiles.Pinned(stored.Cause.Profile); current != nil {
		profile = current.Name
	}
	for i := range found {
		found[i].Profile, found[i].Time = profile, stored.Cause.Time
		c.differs(at, &found[i])
	}
	return nil
}

// differs notes a difference, unless it is a later one of its run and not all are to be told.
func (c *comparison) differs(at place, found *Difference) {
	found.Session, found.Record, found.Sequence = at.session, at.record, at.sequence
	run := runID(at.session, found.run())
	known := c.differ[run]
	if found.run() > 0 {
		found.Run = run
		if !known {
			c.result.Differ++
		}
	}
	c.differ[run] = true
	if c.others.All || !known {
		c.result.Differences = append(c.result.Differences, *found)
	}
}

// undecided notes the runs of a transition that was not decided.
func (c *comparison) undecided(at place, state *session.State, stored *schemas.Transition, why error) {
	if c == nil {
		return
	}
	var runs []int
	for _, fact := range stored.Facts {
		if run := schemas.RunOf(fact); !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	kind, profile := LedgerDamaged, profileIn(state, stored)
	switch {
	case errors.Is(why, errNotConfigured):
		kind, why = NotConfigured, fmt.Errorf("%w: %q", errNotConfigured, profile)
	case errors.Is(why, plan.ErrInvalidProfile):
		kind = InvalidProfile
	}
	for _, run := range runs {
		id := runID(at.session, run)
		if c.open[id] {
			continue
		}
		c.open[id] = true
		noted := Undecided{Session: at.session, Profile: profile, Sequence: at.sequence, Kind: kind, Why: why.Error()}
		if run > 0 {
			noted.Run = id
		}
		c.result.Undecided = append(c.result.Undecided, noted)
	}
}

// lost notes a record that nobody can read: of which runs it spoke is not known.
func (c *comparison) lost(id string, sequence uint64) {
	if c == nil || c.open[id] {
		return
	}
	c.open[id] = true
	c.result.Undecided = append(c.result.Undecided, Undecided{
		Session: id, Sequence: sequence, Kind: LedgerDamaged, Why: "the record cannot be read, and so it is not known which runs it is about",
	})
}

// profileIn is the name of the profile that a transition is about, as far as its session says.
func profileIn(state *session.State, stored *schemas.Transition) string {
	for _, fact := range stored.Facts {
		if started := schemas.As[*schemas.RunStarted](fact); started != nil {
			return started.Profile
		}
	}
	return state.Profile
}

// runID is the id of a run; the session's where it is none.
func runID(session string, run int) string {
	if run == 0 {
		return session
	}
	return schemas.RunID(session, run)
}

func (d *Difference) run() int {
	for _, facts := range [...]schemas.Facts{d.Was, d.Would} {
		if len(facts) > 0 {
			return schemas.RunOf(facts[0])
		}
	}
	return 0
}

// changes are the first facts about each run that differ: one transition may end a run and begin those that wait. That they begin
// now, or do not, because another run ends otherwise follows from that, and is no difference of theirs. What stands in another
// order alone differs too.
func changes(was, would schemas.Facts) ([]Difference, error) {
	if same, err := equal(was, would); same || err != nil {
		return nil, err
	}
	var found []Difference
	var runs []int
	for _, fact := range slices.Concat(was, would) {
		run := schemas.RunOf(fact)
		if slices.Contains(runs, run) {
			continue
		}
		runs = append(runs, run)
		difference, err := firstDifference(about(was, run), about(would, run))
		if err != nil {
			return nil, err
		}
		if difference != nil {
			found = append(found, *difference)
		}
	}
	if len(found) == 0 {
		difference, err := firstDifference(was, would)
		return []Difference{*difference}, err
	}
	if of := slices.DeleteFunc(slices.Clone(found), func(d Difference) bool { return d.follows() }); len(of) > 0 {
		return of, nil
	}
	return found, nil
}

// follows reports whether a run begins, or does not, where another one has ended otherwise, if any has.
func (d *Difference) follows() bool {
	return len(d.Was)+len(d.Would) == 1 && schemas.As[*schemas.RunStarted](slices.Concat(d.Was, d.Would)[0]) != nil
}

func about(facts schemas.Facts, run int) (chosen schemas.Facts) {
	for _, fact := range facts {
		if schemas.RunOf(fact) == run {
			chosen = append(chosen, fact)
		}
	}
	return chosen
}

// firstDifference is nil when two lists say the same.
func firstDifference(was, would schemas.Facts) (*Difference, error) {
	for i := range max(len(was), len(would)) {
		one, other := was[min(i, len(was)):min(i+1, len(was))], would[min(i, len(would)):min(i+1, len(would))]
		same, err := equal(one, other)
		if err != nil {
			return nil, err
		}
		if !same {
			first := slices.Concat(one, other)[0]
			return &Difference{Kind: first.Name(), Was: slices.Clone(one), Would: slices.Clone(other)}, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// Together is what other profiles would decide of all shards; nil when that was not asked.
func Together(shards []Result) *WhatIf {
	var all *WhatIf
	for i := range shards {
		of := shards[i].WhatIf
		if of == nil {
			continue
		}
		if all == nil {
			all = &WhatIf{}
		}
		all.Runs, all.Differ = all.Runs+of.Runs, all.Differ+of.Differ
		all.Differences, all.Undecided = append(all.Differences, of.Differences...), append(all.Undecided, of.Undecided...)
	}
	return all
}

// Kinds counts what differs by kind, the most frequent first.
func Kinds(differences []Difference) []KindCount {
	var kinds []KindCount
	for i := range differences {
		at := slices.IndexFunc(kinds, func(known KindCount) bool { return known.Kind == differences[i].Kind })
		if at < 0 {
			at, kinds = len(kinds), append(kinds, KindCount{Kind: differences[i].Kind})
		}
		kinds[at].Count++
	}
	slices.SortStableFunc(kinds, func(a, b KindCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}

// A KindCount is how often something of a kind differs.
type KindCount struct {
	Kind  string
	Count int
}
