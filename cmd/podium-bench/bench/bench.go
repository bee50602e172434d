// Package bench measures how many runs per second Podium does and what one
// costs, beside what JetStream alone does with the messages that no conductor
// could leave out. The two alternate in the same minute on the same machine, so
// that their ratio says something on any machine.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
)

// Config says what to measure.
type Config struct {
	Workload   string // one of Workloads
	Durability embedded.Durability
	InFlight   int           // runs at a time; 0 is the workload's own
	Rounds     int           // of each side; the medians are reported
	Round      time.Duration // how long new runs begin in one round; a quarter more for one run at a time
	Shards     int           // of Podium's ledger; 0 is the default of a new one
	External   bool          // Podium's agents are external ones, behind the gate; of single, w1 and w2
	Open       int           // runs that stay open in w3
	// Profile is the directory of processor profiles of one more round of
	// Podium, which is not counted. Empty writes none.
	Profile string
	// Dir holds the two ledgers; the caller removes it.
	Dir string
	// Process is the command that runs Process.
	Process []string
	// Env is added to the environment of that command.
	Env    []string
	Stderr io.Writer
	Log    zerolog.Logger
}

// A Result is one measurement. Every rate and time is the median of the rounds.
type Result struct {
	Workload   string              `json:"workload"`
	Durability embedded.Durability `json:"durability"`
	InFlight   int                 `json:"in_flight"`
	Shards     int                 `json:"shards"`
	Runs       int                 `json:"runs"` // measured, over all rounds of Podium
	// Runs per second: of Podium, of the bare bus, and the former by the latter.
	RunsPerSecond     float64 `json:"runs_per_s"`
	BareRunsPerSecond float64 `json:"bare_runs_per_s"`
	Ratio             float64 `json:"ratio"`
	// From the input to the end of a run, in milliseconds, one run at a time.
	P50     float64 `json:"p50_ms"`
	BareP50 float64 `json:"bare_p50_ms"`
	P99     float64 `json:"p99_ms"`
	BareP99 float64 `json:"bare_p99_ms"`
	// The same with InFlight runs at a time.
	LoadedP50     float64 `json:"loaded_p50_ms"`
	BareLoadedP50 float64 `json:"bare_loaded_p50_ms"`
	LoadedP99     float64 `json:"loaded_p99_ms"`
	BareLoadedP99 float64 `json:"bare_loaded_p99_ms"`
	// Processor time of all processes, in milliseconds, with InFlight runs at a time.
	CPU     float64 `json:"cpu_ms_per_run"`
	BareCPU float64 `json:"bare_cpu_ms_per_run"`
	// What the streams hold more after a run; every message is one publish. What
	// Podium has more than the bare bus are records, the progress of runs that
	// last for 500 ms, and now and then a checkpoint.
	Bytes        float64 `json:"bytes_per_run"`
	BareBytes    float64 `json:"bare_bytes_per_run"`
	Messages     float64 `json:"messages_per_run"`
	BareMessages float64 `json:"bare_messages_per_run"`

	*OpenRunsResult // of w3
}

// ErrUnknownWorkload reports a workload that does not exist.
var ErrUnknownWorkload = errors.New("there is no such workload")

// What is measured besides runs.
const (
	Growth  = "growth" // see Grow
	Routing = "route"  // see Route
)

// Workloads lists all that can be measured, in lexical order.
func Workloads() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(workloads())), Growth, Routing)))
}

// Run measures one workload at one durability.
func Run(ctx context.Context, config Config) (Result, error) {
	work, ok := workloads()[config.Workload]
	if !ok {
		return Result{}, fmt.Errorf("%w: %q", ErrUnknownWorkload, config.Workload)
	}
	if config.InFlight == 0 {
		config.InFlight = work.inFlight
	}
	ctx, stop := limited(ctx)
	defer stop()
	if work.waiting != nil {
		return runWithOpenRuns(ctx, config, work)
	}
	return runAlone(ctx, config, work)
}

// A measurement that takes much longer than it should measures nothing: what it
// waits for may never come.
const measurementLimit = 5 * time.Minute

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, measurementLimit, fmt.Errorf("the measurement was broken off after %s", measurementLimit))
}

func runAlone(ctx context.Context, config Config, work workload) (_ Result, err error) {
	podium, err := startConducted(ctx, config, work)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, podium.close()) }()
	bare, err := startBare(ctx, config, podium.conducted)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	result, err := alternate(ctx, config, bare, podium)
	if err != nil {
		return Result{}, err
	}
	result.Shards = podium.core.Shards()
	if config.Profile != "" {
		if err = podium.profiled(ctx, config); err != nil {
			return Result{}, err
		}
	}
	return result, podium.check(ctx, podium.used.Load())
}

// alternate warms both sides, then gives each its rounds in turn.
func alternate(ctx context.Context, config Config, bare, podium side) (Result, error) {
	for _, s := range []side{bare, podium} {
		if _, err := measure(ctx, s, config.InFlight, config.Round/8); err != nil {
			return Result{}, err
		}
	}
	var ours, theirs rounds
	for range config.Rounds {
		for _, turn := range []struct {
			side   side
			rounds *rounds
		}{{bare, &theirs}, {podium, &ours}} {
			if err := turn.rounds.measure(ctx, turn.side, config); err != nil {
				return Result{}, err
			}
		}
	}
	return summarize(config, ours, theirs), nil
}

// rounds are those of one side.
type rounds struct{ loaded, serial []round }

func (r *rounds) measure(ctx context.Context, s side, config Config) error {
	loaded, err := measure(ctx, s, config.InFlight, config.Round)
	if err != nil {
		return err
	}
	serial, err := measure(ctx, s, 1, config.Round/4)
	if err != nil {
		return err
	}
	r.loaded, r.serial = append(r.loaded, loaded), append(r.serial, serial)
	return nil
}

func summarize(config Config, ours, theirs rounds) Result {
	result := Result{
		Workload: config.Workload, Durability: config.Durability, InFlight: config.InFlight,
		RunsPerSecond: median(ours.loaded, round.rate), BareRunsPerSecond: median(theirs.loaded, round.rate),
		P50: median(ours.serial, round.p50), BareP50: median(theirs.serial, round.p50),
		P99: median(ours.serial, round.p99), BareP99: median(theirs.serial, round.p99),
		LoadedP50: median(ours.loaded, round.p50), BareLoadedP50: median(theirs.loaded, round.p50),
		LoadedP99: median(ours.loaded, round.p99), BareLoadedP99: median(theirs.loaded, round.p99),
		CPU: median(ours.loaded, round.cpuPerRun), BareCPU: median(theirs.loaded, round.cpuPerRun),
		Bytes: median(ours.loaded, round.bytesPerRun), BareBytes: median(theirs.loaded, round.bytesPerRun),
		Messages: median(ours.loaded, round.messagesPerRun), BareMessages: median(theirs.loaded, round.messagesPerRun),
	}
	for _, r := range ours.loaded {
		result.Runs += len(r.took)
	}
	result.Ratio = result.RunsPerSecond / result.BareRunsPerSecond
	return result
}

// profiled does a round while the processor's time is profiled, here and in the
// other processes: each writes the file of its role.
func (c *conducted) profiled(ctx context.Context, config Config) error {
	var here witness
	if err := here.profileTo(filepath.Join(config.Profile, "driver.pprof")); err != nil {
		return err
	}
	for _, p := range c.processes {
		if _, err := p.ask(question{Profile: filepath.Join(config.Profile, string(p.assigned)+".pprof")}); err != nil {
			return errors.Join(err, here.rest())
		}
	}
	_, err := measure(ctx, c, config.InFlight, config.Round)
	for _, p := range c.processes {
		_, rested := p.ask(question{Rest: true})
		err = errors.Join(err, rested)
	}
	return errors.Join(err, here.rest())
}
