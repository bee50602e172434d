package bench

import (
	"context"
	"errors"

	"podium/bus/embedded"
)

// A GrowthResult compares the diamond (w1) on two ledgers, one of which has about
// ten times as many ended runs. Their windows take turns, so that both have
// the same of what else the machine does. Every value is the median of a side's
// windows, and a ratio that of the pairs of windows next to each other.
type GrowthResult struct {
	Workload   string              `json:"workload"`
	Durability embedded.Durability `json:"durability"`
	InFlight   int                 `json:"in_flight"`
	Shards     int                 `json:"shards"`
	Windows    int                 `json:"windows"` // of each side
	// Runs that had ended when a window began, runs per second in it, and the
	// processor time of all processes, in milliseconds.
	EndedRuns     float64 `json:"ended_runs"`
	RunsPerSecond float64 `json:"runs_per_s"`
	CPU           float64 `json:"cpu_ms_per_run"`

	GrownEndedRuns     float64 `json:"grown_ended_runs"`
	GrownRunsPerSecond float64 `json:"grown_runs_per_s"`
	GrownCPU           float64 `json:"grown_cpu_ms_per_run"`

	Ratio    float64 `json:"ratio"`     // of the grown rate to the other
	CPURatio float64 `json:"cpu_ratio"` // of the grown processor time to the other
}

const (
	// growthFactor is how many times the runs the grown ledger has.
	growthFactor = 10
	// growthWindows are those of each side, and windowsPerRound how many a round
	// is as long as: the more of them, the less it matters when a disk pauses.
	growthWindows   = 8
	windowsPerRound = 10
	// fillFactor is how many times the runs in flight are under way while the
	// grown ledger is filled.
	fillFactor = 4
)

// Grow measures whether the rate stays as the ledger grows.
func Grow(ctx context.Context, config Config) (_ GrowthResult, err error) {
	config.Workload = "w1"
	work := workloads()[config.Workload]
	if config.InFlight == 0 {
		config.InFlight = work.inFlight
	}
	ctx, stop := limited(ctx)
	defer stop()
	var sides [2]*multiProcess // the grown one is the second
	for i, name := range []string{"podium", "grown"} {
		if sides[i], err = startMultiProcess(ctx, config, name, work, false); err != nil {
			return GrowthResult{}, err
		}
		defer func() { err = errors.Join(err, sides[i].close()) }()
	}
	result, err := grow(ctx, config, sides[0], sides[1])
	if err != nil {
		return GrowthResult{}, err
	}
	for _, side := range sides {
		err = errors.Join(err, side.check(ctx, side.used.Load()))
	}
	return result, err
}

func grow(ctx context.Context, config Config, small, grown *multiProcess) (GrowthResult, error) {
	config.Round /= windowsPerRound
	expected, err := measure(ctx, small, config.InFlight, config.Round)
	if err != nil {
		return GrowthResult{}, err
	}
	if err = fill(ctx, config, small, grown, expected); err != nil {
		return GrowthResult{}, err
	}
	// A process that has run for a while has its memory: both begin anew, so that
	// nothing but their ledgers differs.
	for _, side := range []*multiProcess{small, grown} {
		if err = side.restart(ctx); err != nil {
			return GrowthResult{}, err
		}
		if expected, err = measure(ctx, side, config.InFlight, config.Round); err != nil {
			return GrowthResult{}, err
		}
		if err = fill(ctx, config, small, grown, expected); err != nil {
			return GrowthResult{}, err
		}
	}
	var few, many grownRounds
	for i := range growthWindows {
		turns := [2]func() error{
			func() error { return few.measure(ctx, config, small) },
			func() error { return many.measure(ctx, config, grown) },
		}
		for turn := range turns { // neither is always the first
			if err = turns[(turn+i)%2](); err != nil {
				return GrowthResult{}, err
			}
		}
	}
	return GrowthResult{
		Workload: Growth, Durability: config.Durability, InFlight: config.InFlight,
		Shards: small.core.Shards(), Windows: growthWindows,
		EndedRuns: middle(few.ended), RunsPerSecond: median(few.rounds, round.rate), CPU: median(few.rounds, round.cpuPerRun),
		GrownEndedRuns: middle(many.ended), GrownRunsPerSecond: median(many.rounds, round.rate), GrownCPU: median(many.rounds, round.cpuPerRun),
		Ratio: pairRatio(many.rounds, few.rounds, round.rate), CPURatio: pairRatio(many.rounds, few.rounds, round.cpuPerRun),
	}, nil
}

// fill lets one ledger grow until it has ten times what the other will have in
// the middle of its windows, if these are as the given one.
func fill(ctx context.Context, config Config, small, grown *multiProcess, expected round) error {
	half := uint64(len(expected.took) * growthWindows / 2)
	for enough := growthFactor * (small.used.Load() + half); grown.used.Load()+half < enough; {
		if _, err := measure(ctx, grown, fillFactor*config.InFlight, config.Round); err != nil {
			return err
		}
	}
	return nil
}

// grownRounds are the windows of one side, and how many of its runs had ended
// before each.
type grownRounds struct {
	rounds []round
	ended  []float64
}

func (r *grownRounds) measure(ctx context.Context, config Config, side *multiProcess) error {
	r.ended = append(r.ended, float64(side.used.Load()))
	measured, err := measure(ctx, side, config.InFlight, config.Round)
	r.rounds = append(r.rounds, measured)
	return err
}

// pairRatio is the median of the ratios of rounds next to each other.
func pairRatio(of, by []round, value func(round) float64) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = value(of[i]) / value(by[i])
	}
	return middle(ratios)
}
