package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/bus/registry"
	"podium/cmd/podium/installation"
)

const (
	// ackWait is shorter than that of an installation, so that who keeps no request is found soon. It is longer than the
	// 5 s after which agents are told to keep one.
	ackWait = 8 * time.Second
	// poolSize is how many requests an agent has at a time when nothing says it.
	poolSize = 3
	// connectWithin bounds the wait for a program to ask for requests, and byHandWithin for one that somebody starts.
	connectWithin = time.Minute
	byHandWithin  = 10 * time.Minute

	shards   = 2
	maxBytes = 1 << 30
)

// A place is a ledger of its own, with one agent on it. It implements conformance.Process.
type place struct {
	config Config
	pool   int
	folder string
	server *embedded.Server
	core   *jetstream.Core
	keeper *keeper
	log    *serverLog
	link   *link
	stops  []func() // of what runs on it, in order

	environment []string
	program     *program // nil when somebody else runs it
}

// openPlace makes a ledger with the files by which an agent finds it.
func openPlace(ctx context.Context, config Config) (_ *place, err error) {
	p := &place{config: config, pool: cmp.Or(config.Concurrency, poolSize), log: &serverLog{agent: config.Agent}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.folder, err = os.MkdirTemp("", "podium-check-"); err != nil {
		return nil, err
	}
	log := zerolog.New(p.log).Level(zerolog.ErrorLevel)
	p.server, err = embedded.Start(ctx, embedded.Config{
		Dir: p.folder, Durability: embedded.Interval, External: []string{config.Agent}, Shards: shards, MaxBytes: maxBytes, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	if p.core, err = p.server.Core(ctx); err != nil {
		return nil, err
	}
	if err := p.core.Declare(ctx, config.Agent, bus.Pool{Size: p.pool, AckWait: ackWait}); err != nil {
		return nil, err
	}
	p.keeper = newKeeper()
	p.server.CountRequests(p.keeper.Requests)
	stop, err := registry.ServeAgents(ctx, p.core, registry.AgentServices{Clock: time.Now})
	if err != nil {
		return nil, err
	}
	p.stops = append(p.stops, stop)
	opened, err := p.core.OpenGate(ctx, p.keeper, []string{config.Agent})
	if err != nil {
		return nil, err
	}
	p.stops = append(p.stops, opened.Close)
	if p.link, err = newLink(ctx, strings.TrimPrefix(p.server.URL(), "nats://")); err != nil {
		return nil, err
	}
	return p, p.describe()
}

// describe writes what an agent reads of a running instance, and says the same in the environment.
func (p *place) describe() error {
	seed := p.server.Keys().Agents[p.config.Agent].SeedFile
	key, err := os.ReadFile(seed)
	if err != nil {
		return err
	}
	address := "nats://" + p.link.address()
	p.environment = []string{
		"PODIUM_DATA=" + p.folder, "PODIUM_NATS=" + address, "PODIUM_SEED=" + strings.TrimSpace(string(key)), "PODIUM_AGENT=" + p.config.Agent,
	}
	return installation.Instance{
		PID: os.Getpid(), Data: p.folder, Started: time.Now(), NATS: address,
		Credentials: filepath.Dir(seed), Core: p.server.Keys().Core.SeedFile, Profiles: []string{}, Agents: []string{p.config.Agent},
		External: map[string]installation.ExternalAgent{p.config.Agent: {Seed: seed}},
	}.Write()
}

// begin has the agent started, and waits until it takes requests.
func (p *place) begin(ctx context.Context) error {
	if len(p.config.Command) > 0 {
		return p.Start(ctx)
	}
	p.config.Waiting(p.environment)
	return p.takes(ctx, byHandWithin)
}

// takes waits until somebody asks for requests.
func (p *place) takes(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		state, err := p.core.PoolState(ctx, p.config.Agent)
		if err != nil || state.Waiting > 0 {
			return err
		}
		select {
		case <-p.Ended():
			return fmt.Errorf("it has ended before it asked for a request: %s", p.program.how())
		default:
		}
		if time.Now().After(end) {
			if tried := p.Violations(); len(tried) > 0 {
				return fmt.Errorf("nobody has asked for a request within %s; %s", limit, tried[0])
			}
			if p.link.accepted() == 0 {
				return fmt.Errorf("nobody has connected within %s", limit)
			}
			return fmt.Errorf("it has connected, and within %s nobody has asked for a request", limit)
		}
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// close ends the agent and the ledger, and removes that.
func (p *place) close() {
	if p.program != nil {
		p.program.kill()
	}
	if p.link != nil {
		p.link.close()
	}
	for _, stop := range slices.Backward(p.stops) {
		stop()
	}
	if p.core != nil {
		p.core.Close()
	}
	if p.server != nil {
		_ = p.server.Close() // it is removed
	}
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
}

// Cut implements conformance.Process.
func (p *place) Cut() { p.link.cut() }

// RefuseNext implements conformance.Process.
func (p *place) RefuseNext() func() bool { return p.keeper.refuseNext() }

// Violations implements conformance.Process.
func (p *place) Violations() []string { return append(p.log.violations(), p.keeper.excesses()...) }

var errTemporary = errors.New("a check refuses it once, for now")
