// Package bench measures how many runs per second Podium does and what one
// costs, beside what JetStream alone does with the messages that no conductor
// could leave out. The two alternate in the same process and minute on the same
// machine, so that their ratio says something on any machine.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
)

// Config says what to measure.
type Config struct {
	Workload   string // one of Workloads
	Durability embedded.Durability
	InFlight   int           // runs at a time
	Rounds     int           // of each side; the medians are reported
	Round      time.Duration // how long new runs begin in one round
	// Dir holds the two ledgers; the caller removes it.
	Dir string
	// Agent is the command that runs Agent in another process.
	Agent []string
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
	// From the input to the end of a run, in milliseconds.
	P50     float64 `json:"p50_ms"`
	BareP50 float64 `json:"bare_p50_ms"`
	P99     float64 `json:"p99_ms"`
	BareP99 float64 `json:"bare_p99_ms"`
	// Processor time of all processes, in milliseconds.
	CPU     float64 `json:"cpu_ms_per_run"`
	BareCPU float64 `json:"bare_cpu_ms_per_run"`
	// What the streams hold more after a run; every message is one publish.
	Bytes        float64 `json:"bytes_per_run"`
	BareBytes    float64 `json:"bare_bytes_per_run"`
	Messages     float64 `json:"messages_per_run"`
	BareMessages float64 `json:"bare_messages_per_run"`
}

// ErrUnknownWorkload reports a workload that does not exist.
var ErrUnknownWorkload = errors.New("there is no such workload")

// Workloads lists the names of the workloads, in lexical order.
func Workloads() []string { return slices.Sorted(maps.Keys(workloads())) }

// Run measures one workload at one durability.
func Run(ctx context.Context, config Config) (_ Result, err error) {
	work, ok := workloads()[config.Workload]
	if !ok {
		return Result{}, fmt.Errorf("%w: %q", ErrUnknownWorkload, config.Workload)
	}
	conducted, err := startConducted(ctx, config, work)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, conducted.close()) }()
	// The bare bus sends the very bytes that a first run has left on the ledger.
	sample, err := conducted.sample(ctx)
	if err != nil {
		return Result{}, err
	}
	bare, err := startBare(ctx, config, work, sample)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	for _, s := range []side{bare, conducted} { // warm
		if _, err = measure(ctx, s, config.InFlight, config.Round/8); err != nil {
			return Result{}, err
		}
	}
	var ours, theirs []round
	for range config.Rounds {
		for _, turn := range []struct {
			side   side
			rounds *[]round
		}{{bare, &theirs}, {conducted, &ours}} {
			measured, err := measure(ctx, turn.side, config.InFlight, config.Round)
			if err != nil {
				return Result{}, err
			}
			*turn.rounds = append(*turn.rounds, measured)
		}
	}
	return summarize(config, conducted.ledger.core.Shards(), ours, theirs), conducted.check(ctx)
}

func summarize(config Config, shards int, ours, theirs []round) Result {
	result := Result{
		Workload: config.Workload, Durability: config.Durability, InFlight: config.InFlight, Shards: shards,
		RunsPerSecond: median(ours, round.rate), BareRunsPerSecond: median(theirs, round.rate),
		P50: median(ours, round.p50), BareP50: median(theirs, round.p50),
		P99: median(ours, round.p99), BareP99: median(theirs, round.p99),
		CPU: median(ours, round.cpuPerRun), BareCPU: median(theirs, round.cpuPerRun),
		Bytes: median(ours, round.bytesPerRun), BareBytes: median(theirs, round.bytesPerRun),
		Messages: median(ours, round.messagesPerRun), BareMessages: median(theirs, round.messagesPerRun),
	}
	for i := range ours {
		result.Runs += len(ours[i].took)
	}
	result.Ratio = result.RunsPerSecond / result.BareRunsPerSecond
	return result
}
