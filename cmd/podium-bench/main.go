// Podium-bench measures Podium beside the bare bus. It is no part of what runs:
// `make bench` builds it and measures every workload.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/cmd/podium-bench/bench"
	"podium/cmd/podium/heap"
)

// The exit codes, as those of podium.
const (
	exitOK     = 0
	exitFailed = 1 // it was tried and did not work
	exitUsage  = 2 // the command line is wrong
)

func main() {
	heap.Raise() // as in podium
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the whole command line.
type command struct {
	Output  string `help:"text for people, json for programs." short:"o" enum:"text,json" default:"text"`
	Verbose int    `help:"Log what happens, as JSON lines on standard error; -vv also the NATS server's notices." short:"v" type:"counter"`

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

	Child bool `help:"Be another process of a measurement." hidden:""`
}

// Help is shown by --help.
func (command) Help() string {
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

  podium-bench w1 --durability interval -o json`
}

// errUsage reports flags that each can be read, and make no sense.
var errUsage = errors.New("--in-flight and --shards are not negative; --rounds, --round and --open are greater than 0")

// run parses the arguments, measures and returns the exit code.
func run(ctx context.Context, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var parsed command
	exited := -1
	parser, err := kong.New(&parsed,
		kong.Name("podium-bench"),
		kong.Description("Measure runs per second and CPU per run, beside bare JetStream."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.Vars{"workloads": strings.Join(bench.Workloads(), ",")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "podium-bench: %v\n", err)
		return exitFailed
	}
	_, err = parser.Parse(arguments)
	switch {
	case exited >= 0:
		return exited
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "podium-bench: %v\nSee `podium-bench --help`.\n", err)
		return exitUsage
	}
	log := logger(stderr, parsed.Verbose)
	if parsed.Child {
		// It ends with its input, not with a signal to the group.
		err = bench.Process(context.WithoutCancel(ctx), stdin, stdout, log)
	} else {
		err = parsed.run(ctx, stdout, stderr, log)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(stderr, "podium-bench: %v\n", err)
		return exitUsage
	}
	_, _ = fmt.Fprintf(stderr, "podium-bench: %v\n", err)
	return exitFailed
}

func logger(stderr io.Writer, verbose int) zerolog.Logger {
	level := zerolog.ErrorLevel
	switch {
	case verbose > 1:
		level = zerolog.TraceLevel
	case verbose == 1:
		level = zerolog.DebugLevel
	}
	return zerolog.New(stderr).Level(level).With().Timestamp().Logger()
}

func (c *command) run(ctx context.Context, stdout, stderr io.Writer, log zerolog.Logger) (err error) {
	if c.InFlight < 0 || c.Shards < 0 || c.Rounds < 1 || c.Round <= 0 || c.Open < 1 {
		return errUsage
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
		_, _ = fmt.Fprintf(stderr, "The ledgers are in %s.\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	result, err := c.measure(ctx, bench.Config{
		Workload: c.Workload, Durability: embedded.Durability(c.Durability), InFlight: c.InFlight,
		Rounds: c.Rounds, Round: c.Round, Shards: c.Shards, Open: c.Open, External: c.External, Profile: c.Profile,
		Dir: dir, Process: []string{program, "--child"}, Stderr: stderr, Log: log,
	})
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return json.NewEncoder(stdout).Encode(result)
	}
	return result.print(stdout)
}

// measured is what a measurement tells a person, and as JSON a program.
type measured interface{ print(w io.Writer) error }

func (c *command) measure(ctx context.Context, config bench.Config) (measured, error) {
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
