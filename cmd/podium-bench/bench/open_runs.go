package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/schemas"
)

// An OpenRunsResult is what w3 adds: diamonds that are open all at once, because the agent
// of their first task is not there. Their requests stand in the queue.
type OpenRunsResult struct {
	OpenRuns int `json:"open_runs"`
	// Bytes in use after a collection of garbage, less what was in use before
	// the runs began: of the process that conducts, of that of the ledger's
	// server, and of both.
	Heap           float64 `json:"heap_bytes_per_open_run"`
	ServerHeap     float64 `json:"server_heap_bytes_per_open_run"`
	HeapWithServer float64 `json:"heap_bytes_per_open_run_with_server"`
	// Seconds from the start of a process after kill -9 until an answer to any
	// of the open runs would be decided at once: each of them is loaded, and all
	// that its last record owes is published and acknowledged again. First when
	// the conductor and the ledger were killed and one process takes both over,
	// then when the conductor alone was killed.
	Recovery          float64 `json:"recovery_s"`
	ConductorRecovery float64 `json:"conductor_recovery_s"`
	// Runs begun per second at the beginning; at the end, when the agent
	// appears, the seconds until the first run ends, how many end within three
	// rounds' time, and their rate.
	BeginRate float64 `json:"open_runs_begun_per_s"`
	FirstEnd  float64 `json:"first_end_s"`
	EndedRuns int     `json:"open_runs_ended"`
	EndRate   float64 `json:"open_runs_ended_per_s"`
}

// beginAtOnce is how many inputs of runs that stay open are under way at a time.
const beginAtOnce = 256

// runWithOpenRuns measures the diamond while Config.Open others stay open, and what
// these cost. The conductor is killed as soon as they are open, so that its last
// checkpoint names none or some of them.
func runWithOpenRuns(ctx context.Context, config Config, work workload) (_ Result, err error) {
	podium, err := startMultiProcess(ctx, config, "podium", work, true)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, podium.close()) }()
	bare, err := startBare(ctx, config, podium.conducted)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	open := OpenRunsResult{OpenRuns: config.Open}
	if err = podium.fill(ctx, &open); err != nil {
		return Result{}, err
	}
	if _, err = holdAll(ctx, bare, config.Open); err != nil {
		return Result{}, err
	}
	if err = podium.crash(ctx, &open); err != nil {
		return Result{}, err
	}
	config.Round /= 4 // all of it in less than a minute
	result, err := alternate(ctx, config, bare, podium.conducted)
	if err != nil {
		return Result{}, err
	}
	result.Shards, result.OpenRunsResult = podium.core.Shards(), &open
	if config.Profile != "" {
		if err = podium.profiled(ctx, config); err != nil {
			return Result{}, err
		}
	}
	newest := podium.used.Load()
	released, err := podium.release(ctx, &open)
	if err != nil {
		return Result{}, err
	}
	return result, podium.check(ctx, newest, released)
}

// A holder begins runs that stay open.
type holder interface {
	next() uint64
	hold(ctx context.Context, number uint64) error
}

func holdAll(ctx context.Context, s holder, runs int) ([]uint64, error) {
	group, holding := errgroup.WithContext(ctx)
	group.SetLimit(beginAtOnce)
	open := make([]uint64, runs)
	for i := range open {
		open[i] = s.next()
		group.Go(func() error { return s.hold(holding, open[i]) })
	}
	return open, group.Wait()
}

// fill begins the runs that stay open, and weighs them.
func (m *multiProcess) fill(ctx context.Context, open *OpenRunsResult) error {
	// What the first runs allocate once is none of theirs.
	if _, err := measure(ctx, m.conducted, m.config.InFlight, m.config.Round/8); err != nil {
		return err
	}
	before, err := m.heaps()
	if err != nil {
		return err
	}
	began := time.Now()
	if m.open, err = holdAll(ctx, m.conducted, open.OpenRuns); err != nil {
		return err
	}
	if err = m.awaitRequests(ctx, open.OpenRuns); err != nil {
		return err
	}
	open.BeginRate = float64(open.OpenRuns) / time.Since(began).Seconds()
	after, err := m.heaps()
	if err != nil {
		return err
	}
	each := func(i int) float64 { return (float64(after[i]) - float64(before[i])) / float64(open.OpenRuns) }
	open.Heap, open.ServerHeap = each(0), each(1)
	open.HeapWithServer = open.Heap + open.ServerHeap
	return nil
}

// awaitRequests waits until so many requests stand in the queue of the agent
// that is not there.
func (m *multiProcess) awaitRequests(ctx context.Context, requests int) error {
	reader, err := m.core.Read(ctx, bus.WorkStream, 1, bus.RequestSubject(absentAgent))
	if err != nil {
		return err
	}
	defer reader.Close()
	for range requests {
		if _, err = bus.Next(ctx, reader); err != nil {
			return err
		}
	}
	return nil
}

// Of several readings the least counts: whatever is more was under way.
const (
	readings     = 5
	readingEvery = 50 * time.Millisecond
)

// heaps returns the bytes in use by the conductor and by the server.
func (m *multiProcess) heaps() (heaps [2]uint64, err error) {
	ticker := time.NewTicker(readingEvery)
	defer ticker.Stop()
	for reading := range readings {
		for i, p := range []*process{m.conductor, m.server} {
			said, err := p.ask(question{Heap: true})
			if err != nil {
				return heaps, err
			}
			if reading == 0 || said.Heap < heaps[i] {
				heaps[i] = said.Heap
			}
		}
		<-ticker.C
	}
	return heaps, nil
}

// crash kills the conductor, then its successor and the server, and times how
// long each next one takes until it is at work.
func (m *multiProcess) crash(ctx context.Context, open *OpenRunsResult) error {
	if err := m.leave(); err != nil {
		return err
	}
	expected := make([]int, m.shards)
	for _, number := range m.open {
		expected[schemas.ShardOf(sessionOf(number), m.shards)]++
	}
	if err := m.conductor.kill(); err != nil {
		return err
	}
	began := time.Now()
	if err := m.conduct(ctx, expected); err != nil {
		return err
	}
	open.ConductorRecovery = time.Since(began).Seconds()
	if err := errors.Join(m.conductor.kill(), m.server.kill()); err != nil {
		return err
	}
	m.server = nil
	began = time.Now()
	if err := m.conduct(ctx, expected); err != nil {
		return err
	}
	open.Recovery = time.Since(began).Seconds()
	return m.join(ctx)
}

// release lets the agent appear that the open runs wait for, and waits for their
// end, but not for ever. It returns one that has ended.
func (m *multiProcess) release(ctx context.Context, open *OpenRunsResult) (uint64, error) {
	type ending struct {
		number uint64
		after  time.Duration
	}
	began := time.Now()
	ended := make(chan ending, len(m.open))
	for _, number := range m.open {
		m.endings.expect(number, func() { ended <- ending{number, time.Since(began)} })
	}
	if err := m.employ(ctx, absentAgent); err != nil {
		return 0, err
	}
	limit := time.NewTimer(3 * m.config.Round)
	defer limit.Stop()
	var last ending
	for over := false; open.EndedRuns < len(m.open) && !(over && open.EndedRuns > 0); {
		select {
		case last = <-ended:
			if open.EndedRuns++; open.EndedRuns == 1 {
				open.FirstEnd = last.after.Seconds()
			}
		case <-limit.C:
			over = true
		case err := <-m.stopped:
			m.stopped <- err
			return 0, errors.Join(fmt.Errorf("%d of %d open runs have ended", open.EndedRuns, len(m.open)), err)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	open.EndRate = float64(open.EndedRuns) / last.after.Seconds()
	return last.number, nil
}
