package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"podium/cmd/podium-bench/bench"
)

// Each of these is a measurement that prints itself as a table.
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
	if err := table.Flush(); err != nil || r.OpenRunsResult == nil {
		return err
	}
	return printLines(w, []line{
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
	return printLines(w, []line{
		{fmt.Sprintf("a decision by %d keywords, µs", r.Keywords), r.Decision, 1},
		{fmt.Sprintf("a decision by %d keywords, µs", r.MoreKeywords), r.MoreDecision, 1},
		{fmt.Sprintf("99 of 100 by %d keywords take at most, µs", r.Keywords), r.P99, 1},
		{fmt.Sprintf("99 of 100 by %d keywords take at most, µs", r.MoreKeywords), r.MoreP99, 1},
		{"ratio", r.Ratio, 2},
		{fmt.Sprintf("building a router of %d keywords, µs", r.Keywords), r.Build, 0},
		{fmt.Sprintf("building a router of %d keywords, µs", r.MoreKeywords), r.MoreBuild, 0},
	})
}

type line struct {
	name   string
	value  float64
	digits int
}

// printLines prints a table of one column below what was printed before.
func printLines(w io.Writer, lines []line) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table)
	for _, line := range lines {
		_, _ = fmt.Fprintf(table, "%s\t%.*f\t\n", line.name, line.digits, line.value)
	}
	return table.Flush()
}
