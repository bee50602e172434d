package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/plan"
)

// conducted is the real thing: a door's intake, the owner of every shard and the
// agents, and readers that see the end of each run on the ledger.
type conducted struct {
	numbers
	config Config
	work   workload
	ledger *ledger
	agents *agents
	intake *bus.Intake

	stop    context.CancelFunc
	stopped chan error

	mu    sync.Mutex
	ended map[string]chan struct{} // by session
}

func startConducted(ctx context.Context, config Config, work workload) (_ *conducted, err error) {
	c := &conducted{config: config, work: work, ended: map[string]chan struct{}{}}
	if c.ledger, err = openLedger(ctx, config, "podium", work); err != nil {
		return nil, err
	}
	c.intake = bus.NewIntake(c.ledger.core)
	profiles, err := supervisor.NewProfiles(ctx, c.ledger.core.Artifacts(), []schemas.Profile{work.profile})
	if err != nil {
		return nil, errors.Join(err, c.ledger.close())
	}
	services, err := bus.ServeAgents(c.ledger.core, time.Now)
	if err != nil {
		return nil, errors.Join(err, c.ledger.close())
	}
	c.agents, err = startAgents(ctx, config, assignment{
		Workload: config.Workload, URL: c.ledger.server.URL(), Seeds: c.ledger.seeds(), Concurrency: config.InFlight,
	})
	if err != nil {
		services()
		return nil, errors.Join(err, c.ledger.close())
	}
	working, stop := context.WithCancel(ctx)
	c.stop, c.stopped = stop, make(chan error, 1)
	go func() {
		defer services()
		c.stopped <- c.conduct(working, profiles)
	}()
	return c, nil
}

// conduct runs what a service runs, and the readers.
func (c *conducted) conduct(ctx context.Context, profiles *supervisor.Profiles) error {
	group, running := errgroup.WithContext(ctx)
	core := c.ledger.core
	forwarder := supervisor.Forwarder{Core: core, Log: c.config.Log}
	group.Go(func() error { return forwarder.Run(running) })
	for shard := range core.Shards() {
		owner := supervisor.NewOwner(supervisor.Config{Shard: shard, Name: "bench", Core: core, Profiles: profiles, Log: c.config.Log})
		group.Go(func() error { return owner.Run(running) })
		group.Go(func() error { return c.watch(running, shard) })
	}
	return group.Wait()
}

// watch sees the records of one shard, by their headers alone.
func (c *conducted) watch(ctx context.Context, shard int) error {
	reader, err := c.ledger.core.Read(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.session.%d.*", shard))
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		message, err := bus.Next(ctx, reader)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		phase := message.Header["ce-phase"]
		if len(phase) == 0 || phase[0] != string(plan.PhaseComplete) {
			continue
		}
		subject, err := bus.ParseSubject(message.Subject)
		if err != nil {
			return err
		}
		c.mu.Lock()
		ended := c.ended[subject.Session]
		delete(c.ended, subject.Session)
		c.mu.Unlock()
		if ended != nil {
			close(ended)
		}
	}
}

func (c *conducted) run(ctx context.Context, number uint64) error {
	ended := make(chan struct{})
	session := schemas.SessionID(profileName, conversation(number))
	c.mu.Lock()
	c.ended[session] = ended
	c.mu.Unlock()
	if _, err := c.intake.Submit(ctx, doorName, c.work.event(number)); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-c.stopped:
		c.stopped <- err
		return errors.Join(errors.New("a shard's owner has stopped"), err)
	}
}

func (c *conducted) held(ctx context.Context) (held, error) { return c.ledger.held(ctx) }

func (c *conducted) processorTime() (time.Duration, error) { return c.agents.processorTime() }

// check makes sure that what was measured was done: the newest run has ended
// well, and nothing is in quarantine.
func (c *conducted) check(ctx context.Context) error {
	var told schemas.Conversation
	session := schemas.SessionID(profileName, conversation(c.used.Load()))
	for record, err := range bus.LoadSession(ctx, c.ledger.core, session) {
		if err == nil {
			err = told.Apply(record.Record)
		}
		if err != nil {
			return err
		}
	}
	if run := told.Run(1); run == nil || run.Status != schemas.RunCompleted {
		return errors.New("the newest run was not completed")
	}
	for shard := range c.ledger.core.Shards() {
		for message, err := range c.ledger.core.Scan(ctx, bus.ShardStream(shard), 1, fmt.Sprintf("podium.dead.*.%d", shard)) {
			if err != nil {
				return err
			}
			return fmt.Errorf("message %d of %s is in quarantine", message.Sequence, message.Stream)
		}
	}
	return nil
}

func (c *conducted) close() error {
	c.stop()
	err := <-c.stopped
	c.stopped <- err
	return errors.Join(err, c.agents.stop(), c.ledger.close())
}
