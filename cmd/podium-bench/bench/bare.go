package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"podium/bus"
	"podium/bus/jetstream/barebus"
)

// bare is the bus alone: the publishes, pulls and acks of a run, on one stream,
// without anybody who decides or remembers. It honors the order of the work: a
// request is sent when the last response that it waits for is in.
type bare struct {
	numbers
	sample *sample
	behind [][]int // by exchange, those that wait for its response
	ledger *ledger
	agents *process
	client *barebus.Client

	mu   sync.Mutex
	runs map[string]*bareRun
}

// A bareRun is touched by the reader of the stream only, but for its channels.
type bareRun struct {
	open      []int // by exchange, the responses that its request waits for
	left      int   // responses to come
	absent    bool  // it is to stay open
	published chan barebus.Publish
	failed    chan error
	ended     chan struct{}
}

func startBare(ctx context.Context, config Config, podium *conducted) (_ *bare, err error) {
	// The bare bus sends the very bytes that a first run has left on the ledger.
	taken, err := podium.sample(ctx)
	if err != nil {
		return nil, err
	}
	b := &bare{sample: taken, behind: make([][]int, len(taken.tasks)), runs: map[string]*bareRun{}}
	for i := range taken.tasks {
		for _, before := range taken.tasks[i].after {
			b.behind[before] = append(b.behind[before], i)
		}
	}
	if b.ledger, err = openLedger(ctx, config, "bare", podium.work, 1, false); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.client, err = barebus.Connect(b.ledger.url, b.ledger.keys.Core.SeedFile); err != nil {
		return nil, err
	}
	if err = b.client.Merge(ctx, bus.WorkStream, bus.ShardStream(0)); err != nil {
		return nil, err
	}
	if err = b.client.Read(ctx, bus.WorkStream, b.receive, bus.InputSubjects(0)...); err != nil {
		return nil, err
	}
	if taken.final.Subject != "" {
		if err = b.client.Read(ctx, bus.WorkStream, b.receiveFinal, taken.final.Subject); err != nil {
			return nil, err
		}
	}
	names, err := taken.agents()
	if err != nil {
		return nil, err
	}
	b.agents, err = start(ctx, config, assignment{
		Role: roleBare, URL: b.ledger.url, Seeds: b.ledger.seeds(names), Concurrency: podium.work.pool(config.InFlight), Responses: taken.responses(),
	})
	return b, err
}

func (b *bare) find(number string) *bareRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[number]
}

// receive sends what follows a message of a shard, or ends its run.
func (b *bare) receive(message bus.Message) {
	number, task := about(message)
	run := b.find(number)
	if run == nil {
		return // the measurement was broken off
	}
	if err := b.follow(run, number, task); err != nil {
		select {
		case run.failed <- err:
		default: // one is enough
		}
	}
}

func (b *bare) follow(run *bareRun, number, task string) error {
	if task == "" { // the input
		for i := range b.sample.tasks {
			if run.open[i] == 0 {
				if err := b.request(run, number, i); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, i := range b.behind[b.sample.index(task)] {
		if run.open[i]--; run.open[i] > 0 {
			continue
		}
		if err := b.request(run, number, i); err != nil {
			return err
		}
	}
	if run.left--; run.left > 0 {
		return nil
	}
	if b.sample.final.Subject == "" {
		close(run.ended)
		return nil
	}
	return b.publish(run, addressed(b.sample.final, b.sample.final.Subject, number, ""))
}

func (b *bare) request(run *bareRun, number string, i int) error {
	asked := &b.sample.tasks[i]
	request := addressed(asked.request, asked.request.Subject, number, asked.task)
	subject, err := bus.ParseSubject(request.Subject)
	if err != nil {
		return err
	}
	if run.absent {
		request.Subject = bus.RequestSubject(absentAgent)
	}
	request.Header[replyHeader] = []string{bus.ResponseSubject(subject.Agent, 0)}
	return b.publish(run, request)
}

func (b *bare) publish(run *bareRun, message bus.Message) error {
	published, err := b.client.Publish(message)
	if err == nil {
		run.published <- published
	}
	return err
}

// receiveFinal ends the run of a last message.
func (b *bare) receiveFinal(message bus.Message) {
	number, _ := about(message)
	if run := b.find(number); run != nil {
		close(run.ended)
	}
}

// begin publishes the input of a run.
func (b *bare) begin(ctx context.Context, number uint64, absent bool) (*bareRun, error) {
	name := strconv.FormatUint(number, 10)
	run := &bareRun{
		open: make([]int, len(b.sample.tasks)), left: len(b.sample.tasks), absent: absent,
		published: make(chan barebus.Publish, len(b.sample.tasks)+1), failed: make(chan error, 1), ended: make(chan struct{}),
	}
	for i := range b.sample.tasks {
		run.open[i] = len(b.sample.tasks[i].after)
	}
	b.mu.Lock()
	b.runs[name] = run
	b.mu.Unlock()
	subject, err := bus.ParseSubject(b.sample.input.Subject)
	if err != nil {
		return nil, err
	}
	input, err := b.client.Publish(addressed(b.sample.input, bus.InSubject(subject.Adapter, 0), name, ""))
	if err != nil {
		return nil, err
	}
	return run, input.Wait(ctx)
}

func (b *bare) forget(number uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.runs, strconv.FormatUint(number, 10))
}

// run awaits the ack of every publish, as Podium does.
func (b *bare) run(ctx context.Context, number uint64) error {
	defer b.forget(number)
	run, err := b.begin(ctx, number, false)
	if err != nil {
		return err
	}
	messages := len(b.sample.tasks)
	if b.sample.final.Subject != "" {
		messages++
	}
	for range messages {
		if err = b.await(ctx, run); err != nil {
			return err
		}
	}
	select {
	case <-run.ended:
		return nil
	case err = <-run.failed:
		return fmt.Errorf("the bare bus: %w", err)
	case <-b.agents.exited:
		return b.agents.alive(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await waits for the next publish of a run and for its ack.
func (b *bare) await(ctx context.Context, run *bareRun) error {
	select {
	case published := <-run.published:
		return published.Wait(ctx)
	case err := <-run.failed:
		return fmt.Errorf("the bare bus: %w", err)
	case <-b.agents.exited:
		return b.agents.alive(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hold begins a run whose first agent is not there.
func (b *bare) hold(ctx context.Context, number uint64) error {
	defer b.forget(number)
	run, err := b.begin(ctx, number, true)
	if err != nil {
		return err
	}
	return b.await(ctx, run)
}

func (b *bare) held(ctx context.Context) (held, error) {
	return holds(ctx, b.ledger.core, bus.WorkStream)
}

// processors: more than there are do the bare bus no good.
func (b *bare) processors() int { return runtime.GOMAXPROCS(0) }

func (b *bare) processorTime() (time.Duration, error) { return busy(b.agents) }

func (b *bare) close() error {
	var err error
	if b.client != nil {
		err = b.client.Close()
	}
	if b.agents != nil {
		err = errors.Join(err, b.agents.stop())
	}
	return errors.Join(err, b.ledger.close())
}
