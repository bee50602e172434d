package bench_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/cmd/podium-bench/bench"
	"podium/cmd/podium/heap"
)

const processVariable = "PODIUM_BENCH_PROCESS"

// TestMain is another process when a measurement starts this binary as one.
func TestMain(m *testing.M) {
	heap.Raise() // as in the program
	if os.Getenv(processVariable) == "" {
		os.Exit(m.Run())
	}
	if err := bench.Process(context.Background(), os.Stdin, os.Stdout, zerolog.Nop()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config(tb testing.TB, workload string, durability embedded.Durability) bench.Config {
	tb.Helper()
	return bench.Config{
		Workload: workload, Durability: durability, Rounds: 1, Round: 200 * time.Millisecond, Open: 500, InFlight: 16,
		Dir: tb.TempDir(), Process: []string{os.Args[0]}, Env: []string{processVariable + "=1"},
		Stderr: os.Stderr, Log: zerolog.Nop(),
	}
}

// The counts of messages are exact: a run that costs more is seen at once.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workload   string
		durability embedded.Durability
		bare       float64
		records    float64
	}{
		{"single", embedded.Fsync, 5, 3}, // input, request, response, delivery, its response
		{"single", embedded.Interval, 5, 3},
		{"w1", embedded.Fsync, 10, 5}, // input, four requests, four responses, the last one
		{"w1", embedded.Interval, 10, 5},
		{"w2", embedded.Interval, 204, 102}, // the same with 101 tasks
		{"w3", embedded.Interval, 10, 5},
	} {
		t.Run(c.workload+"/"+string(c.durability), func(t *testing.T) {
			t.Parallel()
			result, err := bench.Run(t.Context(), config(t, c.workload, c.durability))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", result)
			if result.BareMessages != c.bare {
				t.Errorf("the bare bus stores %g messages a run, want %g", result.BareMessages, c.bare)
			}
			// A run has at least one record, and tells its progress when it lasts for
			// 500 ms, then each second; one that a slow machine keeps waiting has as many
			// records of agents that have begun. Each shard may write a checkpoint each second.
			checkpoints := 4 * float64(result.Shards) / float64(result.Runs)
			progress := 2 * (1 + result.LoadedP99/1000)
			if result.LoadedP99 > 100 { // milliseconds, after which an agent says that it has begun
				progress += 2 * (c.records - 1)
			}
			if least, most := c.bare+1, c.bare+c.records+progress+checkpoints; result.Messages < least || result.Messages > most {
				t.Errorf("a run stores %g messages, want %g to %g", result.Messages, least, most)
			}
			positive(t, &result)
		})
	}
}

func positive(t *testing.T, result *bench.Result) {
	t.Helper()
	values := map[string]float64{
		"runs_per_s": result.RunsPerSecond, "bare_runs_per_s": result.BareRunsPerSecond, "ratio": result.Ratio,
		"p50_ms": result.P50, "bare_p50_ms": result.BareP50, "loaded_p50_ms": result.LoadedP50, "bare_loaded_p50_ms": result.BareLoadedP50,
		"cpu_ms_per_run": result.CPU, "bare_cpu_ms_per_run": result.BareCPU, "bytes_per_run": result.Bytes - result.BareBytes,
	}
	if open := result.OpenRunsResult; open != nil {
		values["heap_bytes_per_open_run"] = open.Heap
		values["server_heap_bytes_per_open_run"] = open.ServerHeap
		values["recovery_s"], values["conductor_recovery_s"] = open.Recovery, open.ConductorRecovery
		values["open_runs_begun_per_s"], values["open_runs_ended_per_s"] = open.BeginRate, open.EndRate
		values["first_end_s"] = open.FirstEnd
	}
	for name, value := range values {
		if value <= 0 {
			t.Errorf("%s is %g", name, value)
		}
	}
	if result.Runs < result.InFlight || result.P99 < result.P50 || result.LoadedP99 < result.LoadedP50 {
		t.Errorf("%+v", result)
	}
}

func TestGrow(t *testing.T) {
	t.Parallel()
	given := config(t, "", embedded.Interval)
	given.Round = 10 * time.Millisecond // a window is one run of each slot then
	result, err := bench.Grow(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", result)
	if result.EndedRuns == 0 || result.GrownEndedRuns < 10*result.EndedRuns {
		t.Errorf("the ledger grew from %g ended runs to %g", result.EndedRuns, result.GrownEndedRuns)
	}
	if result.RunsPerSecond <= 0 || result.GrownRunsPerSecond <= 0 || result.Ratio <= 0 || result.CPURatio <= 0 {
		t.Errorf("%+v", result)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	result, err := bench.Route(bench.Config{Rounds: 3, Round: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", result)
	if result.Decision <= 0 || result.MoreDecision <= 0 || result.Build <= 0 {
		t.Errorf("%+v", result)
	}
	// A scan for each keyword would take ten times as long.
	if result.Ratio > 5 {
		t.Errorf("a decision over ten times the keywords takes %.1f times as long", result.Ratio)
	}
}

func TestUnknownWorkload(t *testing.T) {
	t.Parallel()
	if _, err := bench.Run(t.Context(), bench.Config{Workload: "nonsense"}); !errors.Is(err, bench.ErrUnknownWorkload) {
		t.Errorf("got %v", err)
	}
}

// TestProcessNeedsAnAssignment shows what a process says that was told nothing,
// or nonsense.
func TestProcessNeedsAnAssignment(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"nothing":          "",
		"no JSON":          "agents\n",
		"unknown workload": `{"role":"agents","workload":"nonsense"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := bench.Process(t.Context(), strings.NewReader(input), io.Discard, zerolog.Nop()); err == nil {
				t.Error("it went on")
			}
		})
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	given := config(t, "w1", embedded.Interval)
	given.Profile = t.TempDir()
	if _, err := bench.Run(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"driver.pprof", "agents.pprof"} {
		if info, err := os.Stat(filepath.Join(given.Profile, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The benchmarks report the metrics of podium-bench; their time per operation
// is that of a whole measurement.

func BenchmarkSingle(b *testing.B) { benchmark(b, "single") }
func BenchmarkW1(b *testing.B)     { benchmark(b, "w1") }
func BenchmarkW2(b *testing.B)     { benchmark(b, "w2") }
func BenchmarkW3(b *testing.B)     { benchmark(b, "w3") }

func benchmark(b *testing.B, workload string) {
	b.Helper()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		b.Run(string(durability), func(b *testing.B) {
			for b.Loop() {
				given := config(b, workload, durability)
				given.Rounds, given.Round, given.Open, given.InFlight = 3, 4*time.Second, 10_000, 0
				result, err := bench.Run(b.Context(), given)
				if err != nil {
					b.Fatal(err)
				}
				report(b, &result)
			}
		})
	}
}

func report(b *testing.B, result *bench.Result) {
	b.Helper()
	b.ReportMetric(result.RunsPerSecond, "runs/s")
	b.ReportMetric(result.BareRunsPerSecond, "bare-runs/s")
	b.ReportMetric(result.Ratio, "ratio")
	b.ReportMetric(result.P50, "p50-ms")
	b.ReportMetric(result.BareP50, "bare-p50-ms")
	b.ReportMetric(result.CPU, "cpu-ms/run")
	b.ReportMetric(result.BareCPU, "bare-cpu-ms/run")
	b.ReportMetric(result.Messages, "messages/run")
	b.ReportMetric(result.Bytes, "bytes/run")
	if open := result.OpenRunsResult; open != nil {
		b.ReportMetric(open.Heap, "heap-B/open-run")
		b.ReportMetric(open.ServerHeap, "server-heap-B/open-run")
		b.ReportMetric(open.Recovery, "recovery-s")
	}
}

func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		given := config(b, "", embedded.Interval)
		given.Round, given.InFlight = 4*time.Second, 0
		result, err := bench.Grow(b.Context(), given)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(result.RunsPerSecond, "runs/s")
		b.ReportMetric(result.GrownRunsPerSecond, "grown-runs/s")
		b.ReportMetric(result.Ratio, "ratio")
	}
}

func BenchmarkRoute(b *testing.B) {
	for b.Loop() {
		result, err := bench.Route(bench.Config{Rounds: 3, Round: 4 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(result.Decision, "µs/decision")
		b.ReportMetric(result.MoreDecision, "µs/decision-of-10000")
	}
}
