package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"podium/bus/embedded"
	"podium/cmd/podium/bench"
)

// benchCommand measures, beside the bare bus.
type benchCommand struct {
	Workload   string        `arg:"" help:"What is measured: ${workloads}." enum:"${workloads}" default:"single"`
	Durability string        `help:"fsync: an acknowledged message survives a power failure; interval: the end of the process." enum:"fsync,interval" default:"fsync"`
	InFlight   int           `help:"Runs at a time; 64 when none are named, 8 for w2." placeholder:"N"`
	Rounds     int           `help:"Rounds of Podium and of the bare bus, in turn; the medians count." default:"3" placeholder:"N"`
	Round      time.Duration `help:"Length of a round." default:"4s" placeholder:"TIME"`
	Shards     int           `help:"Shards of Podium's ledger; as many as podium up makes when none are named." placeholder:"N"`
	Open       int           `help:"Runs that stay open in w3." default:"10000" placeholder:"N"`
	External   bool          `help:"Podium's agents are external ones, which publish by way of the gate (single, w1, w2)."`
	Profile    string        `help:"Do one more round and write where the processors' time goes, a file for each process." type:"existingdir" placeholder:"DIR"`
	Keep       bool          `help:"Keep the ledgers and print where they are."`
}

// Help is shown by --help.
func (benchCommand) Help() string {
	return `Does as many runs as it can, then does the publishes, pulls and acks of the same number of runs
with the NATS client library alone: one stream for all messages, the same ones but for the
session's records, agents in a process of their own on both sides. The ratio of the two holds on
any machine.

  single  a chat message, one task, the delivery of its answer
  w1      a plan of four tasks: A, then B and C, then D
  w2      a plan of 100 tasks, and one that waits for them all
  w3      w1 while 10,000 more of its runs are open, and what is killed comes back
  growth  w1 on a ledger with ten times as many ended runs as another, in turn
  route   a decision by 1,000 and by 10,000 keywords

p50_ms and p99_ms are of one run at a time; loaded_p50_ms and loaded_p99_ms of --in-flight.

  podium bench w1 --durability interval -o json`
}

// Run implements the verb.
func (c *benchCommand) Run(env *environment) (err error) {
	if c.InFlight < 0 || c.Shards < 0 || c.Rounds < 1 || c.Round <= 0 || c.Open < 1 {
		return &exitError{code: exitUsage, err: errors.New("--in-flight and --shards are not negative; --rounds, --round and --open are greater than 0")}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "podium-bench-")
	if err != nil {
		return err
	}
	if c.Keep {
		_, _ = fmt.Fprintf(env.stderr, "The ledgers are in %s.\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	result, err := c.measure(env.ctx, bench.Config{
		Workload: c.Workload, Durability: embedded.Durability(c.Durability), InFlight: c.InFlight,
		Rounds: c.Rounds, Round: c.Round, Shards: c.Shards, Open: c.Open, External: c.External, Profile: c.Profile,
		Dir: dir, Process: []string{program, "bench-child"}, Stderr: env.stderr, Log: env.log,
	})
	if err != nil {
		return err
	}
	if env.json {
		return json.NewEncoder(env.stdout).Encode(result)
	}
	return result.print(env.stdout)
}

// measured is what a measurement tells a person, and as JSON a program.
type measured interface{ print(w io.Writer) error }

func (c *benchCommand) measure(ctx context.Context, config bench.Config) (measured, error) {
	switch c.Workload {
	case bench.Growth:
		result, err := bench.Grow(ctx, config)
		return benchedGrowth{result}, err
	case bench.Routing:
		result, err := bench.Route(config)
		return benchedRoute{result}, err
	}
	result, err := bench.Run(ctx, config)
	return benchedRuns{result}, err
}

type (
	benchedRuns   struct{ bench.Result }
	benchedGrowth struct{ bench.GrowthResult }
	benchedRoute  struct{ bench.RouteResult }
)

func (r benchedRuns) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%s at durability %s: %d runs in flight, %d shards, %d runs measured\n\n",
		r.Workload, r.Durability, r.InFlight, r.Shards, r.Runs)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tPodium\tbare bus\tratio\t")
	for _, line := range []struct {
		name       string
		ours, bare float64
		digits     int
	}{
		{"runs/s", r.RunsPerSecond, r.BareRunsPerSecond, 0},
		{"one at a time: median, ms", r.P50, r.BareP50, 2},
		{"one at a time: 99 %, ms", r.P99, r.BareP99, 2},
		{"in flight: median, ms", r.LoadedP50, r.BareLoadedP50, 2},
		{"in flight: 99 %, ms", r.LoadedP99, r.BareLoadedP99, 2},
		{"CPU per run, ms", r.CPU, r.BareCPU, 3},
		{"messages per run", r.Messages, r.BareMessages, 1},
		{"bytes per run", r.Bytes, r.BareBytes, 0},
	} {
		_, _ = fmt.Fprintf(table, "%s\t%.*f\t%.*f\t%.2f\t\n", line.name, line.digits, line.ours, line.digits, line.bare, line.ours/line.bare)
	}
	if err := table.Flush(); err != nil || r.Crowd == nil {
		return err
	}
	return printLines(w, []benchLine{
		{"runs open", float64(r.OpenRuns), 0},
		{"heap of the conductor per open run, bytes", r.Heap, 0},
		{"heap of the server per open run, bytes", r.ServerHeap, 0},
		{"kill -9 of both until all are at work again, s", r.Recovery, 2},
		{"kill -9 of the conductor until all are at work again, s", r.ConductorRecovery, 2},
		{"begun per second", r.BeginRate, 0},
		{"until the first one ends once its agent appears, s", r.FirstEnd, 2},
		{"ended then", float64(r.EndedRuns), 0},
		{"ended per second", r.EndRate, 0},
	})
}

func (r benchedGrowth) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "w1 at durability %s: %d runs in flight, %d shards, %d windows of two ledgers in turn\n\n",
		r.Durability, r.InFlight, r.Shards, r.Windows)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "ended runs\truns/s\tCPU per run, ms\t")
	_, _ = fmt.Fprintf(table, "%.0f\t%.0f\t%.3f\t\n", r.EndedRuns, r.RunsPerSecond, r.CPU)
	_, _ = fmt.Fprintf(table, "%.0f\t%.0f\t%.3f\t\n", r.GrownEndedRuns, r.GrownRunsPerSecond, r.GrownCPU)
	_, _ = fmt.Fprintf(table, "ratio of pairs\t%.2f\t%.2f\t\n", r.Ratio, r.CPURatio)
	return table.Flush()
}

func (r benchedRoute) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "route: %d bytes of text, %d groups of keywords\n", r.Text, r.Groups)
	return printLines(w, []benchLine{
		{fmt.Sprintf("a decision by %d keywords, µs", r.Keywords), r.Decision, 1},
		{fmt.Sprintf("a decision by %d keywords, µs", r.MoreKeywords), r.MoreDecision, 1},
		{"ratio", r.Ratio, 2},
		{fmt.Sprintf("building a router of %d keywords, µs", r.Keywords), r.Build, 0},
		{fmt.Sprintf("building a router of %d keywords, µs", r.MoreKeywords), r.MoreBuild, 0},
	})
}

type benchLine struct {
	name   string
	value  float64
	digits int
}

// printLines prints a table of one column below what was printed before.
func printLines(w io.Writer, lines []benchLine) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table)
	for _, line := range lines {
		_, _ = fmt.Fprintf(table, "%s\t%.*f\t\n", line.name, line.digits, line.value)
	}
	return table.Flush()
}

// benchChildCommand is another process of a measurement.
type benchChildCommand struct{}

// Run implements the verb. It ends with its input, not with a signal to the group.
func (benchChildCommand) Run(env *environment) error {
	return bench.Process(context.WithoutCancel(env.ctx), env.stdin, env.stdout, env.log)
}
