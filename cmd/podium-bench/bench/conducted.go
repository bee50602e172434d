package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/history"
	"podium/bus/intake"
	"podium/schemas"
	"podium/schemas/workflow"
)

// conducted is the real thing: an adapter's intake, what conducts, the agents, and
// readers that see the end of each run on the ledger.
type conducted struct {
	numbers
	work      workload
	core      bus.Core
	intake    *intake.Intake
	endings   *endings
	processes []*process

	stop    context.CancelFunc
	stopped chan error // of what works in this process
}

// begun is a side whose work in this process goes on until end: what is given,
// if anything, and the readers. Its processes are the caller's to stop, after end.
func begun(
	ctx context.Context, work workload, core bus.Core, given func(context.Context) error, processes ...*process,
) (*conducted, error) {
	c := &conducted{
		work: work, core: core, intake: intake.NewIntake(core), endings: newEndings(work.ends), processes: processes,
		stopped: make(chan error, 1),
	}
	working, stop := context.WithCancel(ctx)
	c.stop = stop
	group, running := errgroup.WithContext(working)
	if err := c.endings.watch(running, core, group); err != nil {
		stop()
		return nil, errors.Join(err, group.Wait())
	}
	if given != nil {
		group.Go(func() error { return given(running) })
	}
	for _, p := range processes {
		group.Go(func() error { return p.alive(running) })
	}
	go func() {
		c.stopped <- group.Wait()
	}()
	return c, nil
}

// inProcess is Podium as `podium up` runs it: ledger and conductor in one process.
type inProcess struct {
	*conducted
	ledger     *ledger
	agents     *process
	durability embedded.Durability
}

func startConducted(ctx context.Context, config Config, work workload) (*inProcess, error) {
	l, err := openLedger(ctx, config, "podium", work, config.Shards, config.External)
	if err != nil {
		return nil, err
	}
	conduct, err := prepareConductor(ctx, l.core, work, config.Log)
	if err == nil && config.External {
		err = l.openGate(ctx, work, config.Log)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	agents, err := start(ctx, config, assignment{
		Role: roleAgents, Workload: config.Workload, URL: l.url,
		Seeds: l.seeds(work.present()), Concurrency: work.pool(config.InFlight),
	})
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	c, err := begun(ctx, work, l.core, conduct, agents)
	if err != nil {
		return nil, errors.Join(err, agents.stop(), l.close())
	}
	return &inProcess{conducted: c, ledger: l, agents: agents, durability: config.Durability}, nil
}

func (c *inProcess) close() error {
	return errors.Join(c.end(), c.agents.stop(), c.ledger.close())
}

func (c *conducted) run(ctx context.Context, number uint64) error {
	ended := make(chan struct{})
	c.endings.expect(number, func() { close(ended) })
	if _, err := c.intake.Submit(ctx, c.work.adapter, c.work.event(number)); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-c.stopped:
		c.stopped <- err
		return errors.Join(errors.New("what conducts has stopped"), err)
	}
}

// hold begins a run that stays open.
func (c *conducted) hold(ctx context.Context, number uint64) error {
	_, err := c.intake.Submit(ctx, c.work.adapter, c.work.waiting(number))
	return err
}

func (c *conducted) held(ctx context.Context) (held, error) {
	return holds(ctx, c.core, streamsOf(c.core)...)
}

// processors is for a ledger in another process.
func (c *conducted) processors() int { return runtime.GOMAXPROCS(0) }

// processors is what `podium up` gives itself.
func (c *inProcess) processors() int {
	return embedded.Processors(c.durability, c.core.Shards())
}

func (c *conducted) processorTime() (time.Duration, error) { return busy(c.processes...) }

// end ends what works in this process. It may be called again.
func (c *conducted) end() error {
	c.stop()
	if c.stopped == nil {
		return nil
	}
	err := <-c.stopped
	c.stopped = nil
	return err
}

// check makes sure that what was measured was done: these runs have ended well,
// and nothing is in quarantine.
func (c *conducted) check(ctx context.Context, numbers ...uint64) error {
	for _, number := range numbers {
		var told workflow.SessionHistory
		for record, err := range history.LoadSession(ctx, c.core, sessionOf(number)) {
			if err == nil {
				err = told.Apply(record.Record)
			}
			if err != nil {
				return err
			}
		}
		if run := told.Run(1); run == nil || run.Status != schemas.RunCompleted {
			return fmt.Errorf("run %d was not completed", number)
		}
	}
	for shard := range c.core.Shards() {
		for message, err := range c.core.Scan(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.dead.*.%d", shard)) {
			if err != nil {
				return err
			}
			return fmt.Errorf("message %d of %s is in quarantine", message.Sequence, message.Stream)
		}
	}
	return nil
}
