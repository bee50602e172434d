package bench

import (
	"context"
	"errors"

	"podium/bus/embedded"
)

// A GrowthResult compares the diamond (w1) on a ledger with few ended runs to the
// same with ten times as many. The bare bus has a window right before each of
// Podium's: it tells what else the machine was doing.
type GrowthResult struct {
	Workload   string              `json:"workload"`
	Durability embedded.Durability `json:"durability"`
	InFlight   int                 `json:"in_flight"`
	Shards     int                 `json:"shards"`
	// Runs that had ended when a window began, runs per second in it, and the
	// processor time of all processes, in milliseconds.
	EndedRuns         uint64  `json:"ended_runs"`
	RunsPerSecond     float64 `json:"runs_per_s"`
	BareRunsPerSecond float64 `json:"bare_runs_per_s"`
	CPU               float64 `json:"cpu_ms_per_run"`

	GrownEndedRuns         uint64  `json:"grown_ended_runs"`
	GrownRunsPerSecond     float64 `json:"grown_runs_per_s"`
	GrownBareRunsPerSecond float64 `json:"grown_bare_runs_per_s"`
	GrownCPU               float64 `json:"grown_cpu_ms_per_run"`

	Ratio    float64 `json:"ratio"`     // of the grown rate to the first
	CPURatio float64 `json:"cpu_ratio"` // of the grown processor time to the first
}

// growthFactor is how many times the runs the second window has behind it.
const growthFactor = 10

// Grow measures whether the rate stays as the ledger grows. A window lasts half
// of Config.Round.
func Grow(ctx context.Context, config Config) (_ GrowthResult, err error) {
	config.Workload = "w1"
	work := workloads()[config.Workload]
	if config.InFlight == 0 {
		config.InFlight = work.inFlight
	}
	ctx, stop := limited(ctx)
	defer stop()
	podium, err := startConducted(ctx, config, work)
	if err != nil {
		return GrowthResult{}, err
	}
	defer func() { err = errors.Join(err, podium.close()) }()
	taken, err := podium.sample(ctx)
	if err != nil {
		return GrowthResult{}, err
	}
	bare, err := startBare(ctx, config, work, taken)
	if err != nil {
		return GrowthResult{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	config.Round /= 2
	result, err := grow(ctx, config, bare, podium)
	if err != nil {
		return GrowthResult{}, err
	}
	result.Shards = podium.core.Shards()
	return result, podium.check(ctx, podium.used.Load())
}

func grow(ctx context.Context, config Config, bare *bare, podium *inProcess) (GrowthResult, error) {
	result := GrowthResult{Workload: Growth, Durability: config.Durability, InFlight: config.InFlight}
	for _, s := range []side{bare, podium} { // warm
		if _, err := measure(ctx, s, config.InFlight, config.Round/2); err != nil {
			return result, err
		}
	}
	result.EndedRuns = podium.used.Load()
	theirs, ours, err := windows(ctx, config, bare, podium)
	if err != nil {
		return result, err
	}
	result.BareRunsPerSecond, result.RunsPerSecond, result.CPU = theirs.rate(), ours.rate(), ours.cpuPerRun()
	for podium.used.Load() < growthFactor*result.EndedRuns {
		if _, err = measure(ctx, podium, config.InFlight, config.Round/4); err != nil {
			return result, err
		}
	}
	result.GrownEndedRuns = podium.used.Load()
	if theirs, ours, err = windows(ctx, config, bare, podium); err != nil {
		return result, err
	}
	result.GrownBareRunsPerSecond, result.GrownRunsPerSecond, result.GrownCPU = theirs.rate(), ours.rate(), ours.cpuPerRun()
	result.Ratio = result.GrownRunsPerSecond / result.RunsPerSecond
	result.CPURatio = result.GrownCPU / result.CPU
	return result, nil
}

func windows(ctx context.Context, config Config, bare, podium side) (theirs, ours round, err error) {
	if theirs, err = measure(ctx, bare, config.InFlight, config.Round); err != nil {
		return theirs, ours, err
	}
	ours, err = measure(ctx, podium, config.InFlight, config.Round)
	return theirs, ours, err
}
