package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"podium/bus"
	"podium/bus/jetstream/barebus"
	"podium/schemas"
)

// A sample is what one run leaves on the ledger, but for its records. Steps
// alternate: the input or a response makes the core send the next request, until
// there is none.
type sample struct {
	Input     bus.Message            `json:"input"`
	Requests  []bus.Message          `json:"requests"`
	Responses map[string]bus.Message `json:"responses"` // by agent
}

// Headers that the bare bus reads: where a response goes and whose it is.
const (
	replyHeader = "ce-replyto"
	runHeader   = "run"
)

// addressed is a message under another subject and for another run.
func addressed(template bus.Message, subject, run string) bus.Message {
	header := make(bus.Header, len(template.Header)+1)
	maps.Copy(header, template.Header)
	header[runHeader] = []string{run}
	return bus.Message{Subject: subject, Header: header, Body: template.Body}
}

// sample does the first run and takes its messages from the ledger.
func (c *conducted) sample(ctx context.Context) (*sample, error) {
	if err := c.run(ctx, c.next()); err != nil {
		return nil, err
	}
	taken := &sample{Responses: map[string]bus.Message{}}
	for _, stream := range c.ledger.streams() {
		for message, err := range c.ledger.core.Scan(ctx, stream, 1) {
			if err != nil {
				return nil, err
			}
			subject, err := bus.ParseSubject(message.Subject)
			if err != nil {
				return nil, err
			}
			switch subject.Kind {
			case bus.KindIn:
				taken.Input = message
			case bus.KindRequest:
				taken.Requests = append(taken.Requests, message)
			case bus.KindResponse:
				taken.Responses[subject.Agent] = message
			case bus.KindProgress, bus.KindPermit, bus.KindControl, bus.KindSession, bus.KindShard, bus.KindDead:
			}
		}
	}
	if taken.Input.Subject == "" || len(taken.Requests) == 0 || len(taken.Requests) != len(taken.Responses) {
		return nil, errors.New("the first run did not leave the messages that it should")
	}
	return taken, nil
}

// bare is the bus alone: the publishes, pulls and acks of a run without anybody
// who decides or remembers.
type bare struct {
	numbers
	sample *sample
	ledger *ledger
	agents *agents
	client *barebus.Client

	mu   sync.Mutex
	runs map[string]*bareRun
}

type bareRun struct {
	shard     int
	step      int // requests sent
	published chan barebus.Publish
	failed    chan error
}

func startBare(ctx context.Context, config Config, work workload, taken *sample) (_ *bare, err error) {
	b := &bare{sample: taken, runs: map[string]*bareRun{}}
	if b.ledger, err = openLedger(ctx, config, "bare", work); err != nil {
		return nil, err
	}
	b.client, err = barebus.Connect(b.ledger.server.URL(), b.ledger.server.Keys().Core.SeedFile)
	if err != nil {
		return nil, errors.Join(err, b.ledger.close())
	}
	for shard := range b.ledger.core.Shards() {
		if err = b.client.Read(ctx, bus.ShardStream(shard), b.receive, bus.InputSubjects(shard)...); err != nil {
			return nil, errors.Join(err, b.client.Close(), b.ledger.close())
		}
	}
	b.agents, err = startAgents(ctx, config, assignment{
		URL: b.ledger.server.URL(), Seeds: b.ledger.seeds(), Concurrency: config.InFlight, Bare: taken,
	})
	if err != nil {
		return nil, errors.Join(err, b.client.Close(), b.ledger.close())
	}
	return b, nil
}

// receive sends what follows a message of a shard, or ends its run.
func (b *bare) receive(message bus.Message) {
	name := message.Header[runHeader][0]
	b.mu.Lock()
	run := b.runs[name]
	b.mu.Unlock()
	if run.step == len(b.sample.Requests) {
		close(run.published)
		return
	}
	template := b.sample.Requests[run.step]
	run.step++
	request := addressed(template, template.Subject, name)
	subject, err := bus.ParseSubject(template.Subject)
	if err == nil {
		request.Header[replyHeader] = []string{bus.ResponseSubject(subject.Agent, run.shard)}
		var published barebus.Publish
		if published, err = b.client.Publish(request); err == nil {
			run.published <- published
		}
	}
	if err != nil {
		run.failed <- err
	}
}

func (b *bare) run(ctx context.Context, number uint64) error {
	name := strconv.FormatUint(number, 10)
	shards := b.ledger.core.Shards()
	run := &bareRun{
		shard:     schemas.ShardOf(schemas.SessionID(profileName, conversation(number)), shards),
		published: make(chan barebus.Publish, len(b.sample.Requests)), failed: make(chan error, 1),
	}
	b.mu.Lock()
	b.runs[name] = run
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.runs, name)
		b.mu.Unlock()
	}()
	input, err := b.client.Publish(addressed(b.sample.Input, bus.InSubject(doorName, run.shard), name))
	if err != nil {
		return err
	}
	if err = input.Wait(ctx); err != nil {
		return err
	}
	for {
		select {
		case published, more := <-run.published:
			if !more {
				return nil
			}
			if err = published.Wait(ctx); err != nil {
				return err
			}
		case err = <-run.failed:
			return fmt.Errorf("the bare bus: %w", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (b *bare) held(ctx context.Context) (held, error) { return b.ledger.held(ctx) }

func (b *bare) processorTime() (time.Duration, error) { return b.agents.processorTime() }

func (b *bare) close() error {
	return errors.Join(b.client.Close(), b.agents.stop(), b.ledger.close())
}
