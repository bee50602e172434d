package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/cmd/podium/bench"
)

const agentVariable = "PODIUM_BENCH_AGENT"

// TestMain is the agents' process when a benchmark starts this binary as one.
func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) == "" {
		os.Exit(m.Run())
	}
	if err := bench.Agent(context.Background(), os.Stdin, os.Stdout, zerolog.Nop()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config(tb testing.TB, durability embedded.Durability) bench.Config {
	tb.Helper()
	return bench.Config{
		Workload: "single", Durability: durability, InFlight: 64, Rounds: 1, Round: 250 * time.Millisecond,
		Dir: tb.TempDir(), Agent: []string{os.Args[0]}, Env: []string{agentVariable + "=1"},
		Stderr: os.Stderr, Log: zerolog.Nop(),
	}
}

// The counts of messages are exact: a run that costs more is seen at once.
func TestSingle(t *testing.T) {
	t.Parallel()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			result, err := bench.Run(t.Context(), config(t, durability))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", result)
			const (
				bare    = 5 // input, request, response, delivery, its response
				records = 3
			)
			if result.BareMessages != bare {
				t.Errorf("the bare bus stores %g messages a run, want %d", result.BareMessages, bare)
			}
			// A checkpoint may fall into a round.
			if result.Messages < bare+records || result.Messages > bare+records+0.2 {
				t.Errorf("a run stores %g messages, want %d", result.Messages, bare+records)
			}
			for name, value := range map[string]float64{
				"runs_per_s": result.RunsPerSecond, "bare_runs_per_s": result.BareRunsPerSecond, "ratio": result.Ratio,
				"p50_ms": result.P50, "bare_p50_ms": result.BareP50, "cpu_ms_per_run": result.CPU, "bare_cpu_ms_per_run": result.BareCPU,
				"bytes_per_run": result.Bytes - result.BareBytes,
			} {
				if value <= 0 {
					t.Errorf("%s is %g", name, value)
				}
			}
			if result.Runs < result.InFlight || result.P99 < result.P50 {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestUnknownWorkload(t *testing.T) {
	t.Parallel()
	if _, err := bench.Run(t.Context(), bench.Config{Workload: "nonsense"}); !errors.Is(err, bench.ErrUnknownWorkload) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkSingle reports the metrics of `podium bench single`; its time per
// operation is that of a whole measurement.
func BenchmarkSingle(b *testing.B) {
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		b.Run(string(durability), func(b *testing.B) {
			settings := config(b, durability)
			settings.Rounds, settings.Round = 3, 3*time.Second
			for b.Loop() {
				settings.Dir = b.TempDir()
				result, err := bench.Run(b.Context(), settings)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(result.RunsPerSecond, "runs/s")
				b.ReportMetric(result.BareRunsPerSecond, "bare-runs/s")
				b.ReportMetric(result.Ratio, "ratio")
				b.ReportMetric(result.P50, "p50-ms")
				b.ReportMetric(result.CPU, "cpu-ms/run")
				b.ReportMetric(result.BareCPU, "bare-cpu-ms/run")
				b.ReportMetric(result.Messages, "messages/run")
				b.ReportMetric(result.Bytes, "bytes/run")
			}
		})
	}
}
