package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus/embedded"
)

// A GrowthResult compares the rate of the diamond (w1) on a ledger with few ended
// runs to that with ten times as many.
type GrowthResult struct {
	Workload   string              `json:"workload"`
	Durability embedded.Durability `json:"durability"`
	InFlight   int                 `json:"in_flight"`
	Shards     int                 `json:"shards"`
	// Runs on the ledger when a window of measurement begins, and the rate in it.
	EndedRuns          uint64  `json:"ended_runs"`
	RunsPerSecond      float64 `json:"runs_per_s"`
	GrownEndedRuns     uint64  `json:"grown_ended_runs"`
	GrownRunsPerSecond float64 `json:"grown_runs_per_s"`
	Ratio              float64 `json:"ratio"` // of the grown rate to the first
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
	result := GrowthResult{
		Workload: Growth, Durability: config.Durability, InFlight: config.InFlight, Shards: podium.core.Shards(),
	}
	window := config.Round / 2
	if _, err = measure(ctx, podium, config.InFlight, window); err != nil { // warm
		return result, err
	}
	if result.EndedRuns, result.RunsPerSecond, err = rateNow(ctx, podium, config.InFlight, window); err != nil {
		return result, err
	}
	for podium.used.Load() < growthFactor*result.EndedRuns {
		if _, err = measure(ctx, podium, config.InFlight, window/4); err != nil {
			return result, err
		}
	}
	if result.GrownEndedRuns, result.GrownRunsPerSecond, err = rateNow(ctx, podium, config.InFlight, window); err != nil {
		return result, err
	}
	result.Ratio = result.GrownRunsPerSecond / result.RunsPerSecond
	return result, podium.check(ctx, podium.used.Load())
}

func rateNow(ctx context.Context, podium *inProcess, inFlight int, window time.Duration) (runs uint64, rate float64, err error) {
	runs = podium.used.Load()
	measured, err := measure(ctx, podium, inFlight, window)
	if err != nil {
		return runs, 0, fmt.Errorf("with %d ended runs: %w", runs, err)
	}
	return runs, measured.rate(), nil
}
