package bench

import (
	"context"
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
)

func TestDevAgent(t *testing.T) {
	if os.Getenv("DEV_AGENT") == "" {
		t.Skip()
	}
	f, _ := os.Create("/tmp/helperk/agent.out")
	_ = pprof.StartCPUProfile(f)
	err := Agent(context.Background(), os.Stdin, os.Stdout, zerolog.Nop())
	pprof.StopCPUProfile()
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	os.Exit(0)
}

func TestDev(t *testing.T) {
	d := embedded.Durability(os.Getenv("DEV"))
	config := Config{
		Workload: "single", Durability: d, InFlight: 64, Rounds: 1, Round: 8 * time.Second,
		Dir: t.TempDir(), Agent: []string{os.Args[0], "-test.run=TestDevAgent$"}, Env: []string{"DEV_AGENT=1"},
		Stderr: os.Stderr, Log: zerolog.Nop(),
	}
	c, err := startConducted(t.Context(), config, workloads()["single"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure(t.Context(), c, 64, time.Second); err != nil {
		t.Fatal(err)
	}
	a0, _ := c.processorTime()
	s0, _ := processorTime()
	f, _ := os.Create("/tmp/helperk/cpu.out")
	_ = pprof.StartCPUProfile(f)
	r, err := measure(t.Context(), c, 64, config.Round)
	pprof.StopCPUProfile()
	f.Close()
	a1, _ := c.processorTime()
	s1, _ := processorTime()
	n := float64(len(r.took))
	t.Logf("%.0f runs/s p50 %.1f cpu %.3f ms/run, of it driver %.3f; messages %.2f bytes %.0f; %v", r.rate(), r.p50(), r.cpuPerRun(), milliseconds(s1-s0)/n, r.messagesPerRun(), r.bytesPerRun(), err)
	_ = a0
	_ = a1
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}
