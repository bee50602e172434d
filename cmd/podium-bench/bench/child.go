package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// A duty is what a process does after it has connected.
type duty struct {
	// work returns nil after its context has ended.
	work func(context.Context) error
	// ready is closed when the work has begun; nil means at once.
	ready <-chan struct{}
	url   string // of a ledger in the process
}

// Process is the life of a process that a measurement starts: agents, a ledger
// or a conductor, as the first line of its input says. It returns when its input
// or its work has ended; then the process has to end, too.
func Process(ctx context.Context, input io.Reader, output io.Writer, log zerolog.Logger) error {
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 64<<20)
	if !lines.Scan() {
		return errors.Join(errors.New("no assignment on standard input"), lines.Err())
	}
	var given assignment
	if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
		return fmt.Errorf("read the assignment: %w", err)
	}
	says := json.NewEncoder(output)
	taken, err := begin(ctx, given, log)
	if err != nil {
		return errors.Join(err, says.Encode(report{Error: err.Error()}))
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- taken.work(working) }()
	if taken.ready != nil {
		select {
		case <-taken.ready:
		case err = <-done:
			err = errors.Join(errors.New("it ended before it was ready"), err)
			return errors.Join(err, says.Encode(report{Error: err.Error()}))
		}
	}
	asked := make(chan question) // reading cannot be interrupted: its goroutine ends with the process
	go read(working, lines, asked)
	err = says.Encode(report{URL: taken.url})
	var watching witness
	for more := true; more && err == nil; {
		var next question
		select {
		case next, more = <-asked:
			if more {
				err = says.Encode(watching.answer(next))
			}
		case err = <-done:
			return errors.Join(errors.New("the work ended by itself"), err)
		}
	}
	stop()
	return errors.Join(err, <-done)
}

// read reads questions until the input ends.
func read(ctx context.Context, lines *bufio.Scanner, asked chan<- question) {
	defer close(asked)
	for lines.Scan() {
		var next question
		if json.Unmarshal(lines.Bytes(), &next) != nil {
			return
		}
		select {
		case asked <- next:
		case <-ctx.Done():
			return
		}
	}
}

func begin(ctx context.Context, given assignment, log zerolog.Logger) (duty, error) {
	switch given.Role {
	case roleBare:
		return connectBareAgents(ctx, given)
	case roleServer:
		return openServer(ctx, given, log)
	case roleAgents, roleConductor:
	}
	work, ok := workloads()[given.Workload]
	if !ok {
		return duty{}, fmt.Errorf("%w: %q", ErrUnknownWorkload, given.Workload)
	}
	if given.Role == roleConductor {
		return openConductor(ctx, given, work, log)
	}
	return connectAgents(ctx, given, work, log)
}

// openServer runs a ledger's server and nothing else.
func openServer(ctx context.Context, given assignment, log zerolog.Logger) (duty, error) {
	server, err := startServer(ctx, given, log)
	if err != nil {
		return duty{}, err
	}
	return duty{url: server.URL(), work: func(ctx context.Context) error {
		<-ctx.Done()
		return server.Close()
	}}, nil
}

func startServer(ctx context.Context, given assignment, log zerolog.Logger) (*embedded.Server, error) {
	work, ok := workloads()[given.Workload]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownWorkload, given.Workload)
	}
	runtime.GOMAXPROCS(embedded.Processors(given.Durability, cmp.Or(given.Shards, jetstream.DefaultShards())))
	return embedded.Start(ctx, embedded.Config{
		Dir: given.Dir, Durability: given.Durability, Agents: work.agentNames(), Logger: log,
	})
}

// A witness tells how a process is doing.
type witness struct{ profile *os.File }

func (w *witness) answer(asked question) report {
	var said report
	var err error
	switch {
	case asked.Profile != "":
		err = w.profileTo(asked.Profile)
	case asked.Rest:
		err = w.rest()
	case asked.Heap:
		said.Heap = heap()
	}
	if err == nil {
		said.CPU, err = processorTime()
	}
	if err != nil {
		said.Error = err.Error()
	}
	return said
}

// profileTo writes a profile of this process to a file until rest.
func (w *witness) profileTo(name string) (err error) {
	if w.profile, err = os.Create(name); err != nil {
		return fmt.Errorf("write a profile: %w", err)
	}
	if err = pprof.StartCPUProfile(w.profile); err != nil {
		return errors.Join(fmt.Errorf("write a profile: %w", err), w.profile.Close())
	}
	return nil
}

func (w *witness) rest() error {
	pprof.StopCPUProfile()
	return w.profile.Close()
}

// heap returns the bytes in use once garbage has been collected: the second
// collection takes what finalizers and pools had kept.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
