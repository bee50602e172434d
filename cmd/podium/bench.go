package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"podium/bus/embedded"
	"podium/cmd/podium/bench"
)

// benchCommand measures, beside the bare bus.
type benchCommand struct {
	Workload   string        `arg:"" help:"What every run does: ${workloads}." enum:"${workloads}" default:"single"`
	Durability string        `help:"fsync: an acknowledged message survives a power failure; interval: the end of the process." enum:"fsync,interval" default:"fsync"`
	InFlight   int           `help:"Runs at a time." default:"64" placeholder:"N"`
	Rounds     int           `help:"Rounds of Podium and of the bare bus, in turn; the medians count." default:"3" placeholder:"N"`
	Round      time.Duration `help:"Length of a round." default:"4s" placeholder:"TIME"`
	Keep       bool          `help:"Keep the ledgers and print where they are."`
}

// Help is shown by --help.
func (benchCommand) Help() string {
	return `Does as many runs as it can, then does the publishes, pulls and acks of the same number of runs
with the NATS client library alone: the same streams, the same messages but for the session's
records, agents in a process of their own on both sides. The ratio of the two holds on any machine.

  podium bench single --durability interval -o json`
}

// Run implements the verb.
func (c *benchCommand) Run(env *environment) (err error) {
	if c.InFlight < 1 || c.Rounds < 1 || c.Round <= 0 {
		return &exitError{code: exitUsage, err: errors.New("--in-flight, --rounds and --round are greater than 0")}
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
		_, _ = fmt.Fprintf(env.stderr, "The ledgers are %s and %s.\n", filepath.Join(dir, "podium"), filepath.Join(dir, "bare"))
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	result, err := bench.Run(env.ctx, bench.Config{
		Workload: c.Workload, Durability: embedded.Durability(c.Durability), InFlight: c.InFlight,
		Rounds: c.Rounds, Round: c.Round, Dir: dir, Agent: []string{program, "bench-agent"},
		Stderr: env.stderr, Log: env.log,
	})
	if err != nil {
		return err
	}
	if env.json {
		return json.NewEncoder(env.stdout).Encode(result)
	}
	return printBench(env.stdout, result)
}

func printBench(w io.Writer, r bench.Result) error {
	if _, err := fmt.Fprintf(w, "%s at durability %s: %d runs in flight, %d shards, %d runs measured\n\n",
		r.Workload, r.Durability, r.InFlight, r.Shards, r.Runs); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tPodium\tbare bus\tratio\t")
	for _, line := range []struct {
		name       string
		ours, bare float64
		digits     int
	}{
		{"runs/s", r.RunsPerSecond, r.BareRunsPerSecond, 0},
		{"median run, ms", r.P50, r.BareP50, 2},
		{"99 % of runs, ms", r.P99, r.BareP99, 2},
		{"CPU per run, ms", r.CPU, r.BareCPU, 3},
		{"messages per run", r.Messages, r.BareMessages, 1},
		{"bytes per run", r.Bytes, r.BareBytes, 0},
	} {
		_, _ = fmt.Fprintf(table, "%s\t%.*f\t%.*f\t%.2f\t\n", line.name, line.digits, line.ours, line.digits, line.bare, line.ours/line.bare)
	}
	return table.Flush()
}

// benchAgentCommand is the agents' process of a measurement.
type benchAgentCommand struct{}

// Run implements the verb. It ends with its input, not with a signal to the group.
func (benchAgentCommand) Run(env *environment) error {
	return bench.Agent(context.WithoutCancel(env.ctx), env.stdin, env.stdout, env.log)
}
