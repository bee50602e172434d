package score

import (
	"cmp"
	"math"
	"slices"
	"time"

	"podium/schemas/workflow"
)

// A Profile is how well the runs of a profile went whose outcome is fixed.
type Profile struct {
	Name     string    `json:"profile"`
	Runs     int       `json:"runs"`
	Measures []Measure `json:"measures"`
}

// A Measure is one figure of a profile beside its goal.
type Measure struct {
	Item string `json:"item"` // of the requirements
	Name string `json:"name"`
	// Part and Whole are what the Value is made of: a share of the whole, but for a deviation, where the whole is what was
	// estimated and the part what was used. Of a time the Value is the part, in seconds.
	Part  float64 `json:"part"`
	Whole float64 `json:"whole"`
	// Value is nil when there was nothing to measure; then the goal is neither met nor missed.
	Value *float64 `json:"value"`
	Unit  Unit     `json:"unit"`
	Goal  float64  `json:"goal"`
	Most  bool     `json:"at_most"` // the goal is a bound from above, else from below
	Met   *bool    `json:"met"`
}

// A Unit is what a value is counted in.
type Unit string

// The units.
const (
	UnitShare     Unit = "share"     // of 1
	UnitDeviation Unit = "deviation" // in shares of what was estimated, without its sign
	UnitSeconds   Unit = "seconds"
)

// The goals of the requirements.
const (
	leastCompleted   = 0.9
	mostCoordination = 0.05
	leastMended      = 0.8
	leastFound       = 0.95
	mostDeviation    = 0.15
	mostGap          = 10 // seconds
)

// counts are sums over the runs of a profile.
type counts struct {
	name                                  string
	runs                                  int
	completed, ended                      int
	idle, total, gap                      time.Duration
	mended, failed                        int
	found, quality                        int
	tokensUsed, tokens, seconds, estimate float64
}

// Profiles are the figures of all profiles of the sessions, by name.
func Profiles(sessions []*Session) []Profile {
	var all []*counts
	for _, session := range sessions {
		for i := range session.history.Runs {
			run := &session.history.Runs[i]
			if !run.Run.Settled() {
				continue
			}
			at := slices.IndexFunc(all, func(c *counts) bool { return c.name == run.Profile })
			if at < 0 {
				at, all = len(all), append(all, &counts{name: run.Profile})
			}
			all[at].add(run, session.runs[i])
		}
	}
	slices.SortFunc(all, func(a, b *counts) int { return cmp.Compare(a.name, b.name) })
	profiles := make([]Profile, len(all))
	for i, c := range all {
		profiles[i] = Profile{Name: c.name, Runs: c.runs, Measures: c.measures()}
	}
	return profiles
}

func (c *counts) add(run *workflow.RunHistory, went *course) {
	c.runs++
	c.idle, c.total, c.gap = c.idle+went.idle, c.total+went.total, max(c.gap, went.gap)
	c.found, c.quality = c.found+went.found, c.quality+went.found+went.missed
	for _, task := range run.Tasks {
		if task.State == workflow.TaskCancelled {
			continue // nobody wanted it any more
		}
		completed := task.State == workflow.TaskCompleted
		if !task.Replaced { // else others count in its place
			c.ended++
		}
		if completed {
			c.completed++
			c.resources(task, went.spent(task.ID))
		}
		if slices.Contains(went.failed, task.ID) {
			c.failed++
			if went.mends(task) {
				c.mended++
			}
		}
	}
	c.reviews(run, went)
}

// resources adds what a completed task has used to what was estimated, each where both are known.
func (c *counts) resources(task *workflow.Task, spent time.Duration) {
	if task.Plan.Tokens > 0 && task.Tokens > 0 {
		c.tokens, c.tokensUsed = c.tokens+float64(task.Plan.Tokens), c.tokensUsed+float64(task.Tokens)
	}
	if task.Plan.Seconds > 0 && spent > 0 {
		c.estimate, c.seconds = c.estimate+float64(task.Plan.Seconds), c.seconds+spent.Seconds()
	}
}

func (c *counts) measures() []Measure {
	gap := Measure{Item: "M-54", Name: "longest time without progress", Part: c.gap.Seconds(), Unit: UnitSeconds, Goal: mostGap, Most: true}
	longest := gap.Part
	return []Measure{
		share("M-49", "tasks completed", float64(c.completed), float64(c.ended), leastCompleted, false),
		share("M-50", "time of coordination", c.idle.Seconds(), c.total.Seconds(), mostCoordination, true),
		share("M-51", "errors mended without a person", float64(c.mended), float64(c.failed), leastMended, false),
		share("M-52", "errors found by checks, of all that were found", float64(c.found), float64(c.quality), leastFound, false),
		deviation("tokens used, of those estimated", c.tokensUsed, c.tokens),
		deviation("seconds worked, of those estimated", c.seconds, c.estimate),
		gap.of(longest),
	}
}

func share(item, name string, part, whole, goal float64, most bool) Measure {
	m := Measure{Item: item, Name: name, Part: part, Whole: whole, Unit: UnitShare, Goal: goal, Most: most}
	if whole == 0 {
		return m
	}
	return m.of(part / whole)
}

func deviation(name string, used, estimated float64) Measure {
	m := Measure{Item: "M-53", Name: name, Part: used, Whole: estimated, Unit: UnitDeviation, Goal: mostDeviation, Most: true}
	if estimated == 0 {
		return m
	}
	return m.of(math.Abs(used-estimated) / estimated)
}

// of returns the measure with its value.
func (m Measure) of(value float64) Measure {
	met := value >= m.Goal
	if m.Most {
		met = value <= m.Goal
	}
	m.Value, m.Met = &value, &met
	return m
}
