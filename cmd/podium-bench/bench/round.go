package bench

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// A side does runs: Podium, or the bare bus.
type side interface {
	// run does one run, from its input to its end. Numbers are never used twice.
	run(ctx context.Context, number uint64) error
	// next returns a number that was not used yet.
	next() uint64
	// held returns what all streams hold.
	held(ctx context.Context) (held, error)
	// processorTime returns that of all processes.
	processorTime() (time.Duration, error)
	// processors returns how many this process is best given.
	processors() int
}

type held struct{ messages, bytes uint64 }

// numbers counts runs.
type numbers struct{ used atomic.Uint64 }

func (n *numbers) next() uint64 { return n.used.Add(1) }

// A round is what was seen in one stretch of time.
type round struct {
	took    []time.Duration // each run, in ascending order
	elapsed time.Duration   // until the last run had ended
	cpu     time.Duration
	held    held // more than before
}

// measure begins runs for a while, so many at a time, and waits for their end.
func measure(ctx context.Context, s side, inFlight int, length time.Duration) (round, error) {
	var measured round
	before, err := s.held(ctx)
	if err != nil {
		return measured, err
	}
	busyBefore, err := s.processorTime()
	if err != nil {
		return measured, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.processors()))
	began := time.Now()
	took := make([][]time.Duration, inFlight)
	group, running := errgroup.WithContext(ctx)
	for slot := range inFlight {
		group.Go(func() error {
			for {
				start := time.Now()
				if start.Sub(began) >= length && len(took[slot]) > 0 {
					return nil
				}
				if err := s.run(running, s.next()); err != nil {
					return err
				}
				took[slot] = append(took[slot], time.Since(start))
			}
		})
	}
	if err = group.Wait(); err != nil {
		return measured, err
	}
	measured.elapsed = time.Since(began)
	busyAfter, err := s.processorTime()
	if err != nil {
		return measured, err
	}
	after, err := s.held(ctx)
	if err != nil {
		return measured, err
	}
	measured.cpu = busyAfter - busyBefore
	measured.held = held{messages: after.messages - before.messages, bytes: after.bytes - before.bytes}
	measured.took = slices.Concat(took...)
	slices.Sort(measured.took)
	return measured, nil
}

func (r round) rate() float64           { return float64(len(r.took)) / r.elapsed.Seconds() }
func (r round) p50() float64            { return milliseconds(r.took[len(r.took)/2]) }
func (r round) p99() float64            { return milliseconds(r.took[len(r.took)*99/100]) }
func (r round) cpuPerRun() float64      { return milliseconds(r.cpu) / float64(len(r.took)) }
func (r round) bytesPerRun() float64    { return float64(r.held.bytes) / float64(len(r.took)) }
func (r round) messagesPerRun() float64 { return float64(r.held.messages) / float64(len(r.took)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(rounds []round, of func(round) float64) float64 {
	values := make([]float64, len(rounds))
	for i := range rounds {
		values[i] = of(rounds[i])
	}
	return middle(values)
}

func middle(values []float64) float64 {
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}
