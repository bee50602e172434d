package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/gate"
	"podium/bus/jetstream"
)

// ackWait is that of the service's agents.
const ackWait = 15 * time.Second

// A ledger is a server in this process with the streams and durables of an
// installation.
type ledger struct {
	server *embedded.Server
	core   *jetstream.Core
	url    string
	keys   embedded.Keys
}

func openLedger(ctx context.Context, config Config, name string, work workload, shards int, external bool) (*ledger, error) {
	settings := embedded.Config{
		Dir: filepath.Join(config.Dir, name), Durability: config.Durability, Shards: shards, Logger: config.Log,
	}
	if external {
		settings.External = work.agentNames()
	} else {
		settings.Agents = work.agentNames()
	}
	server, err := embedded.Start(ctx, settings)
	if err != nil {
		return nil, err
	}
	l := &ledger{server: server, url: server.URL(), keys: server.Keys()}
	if l.core, err = server.Core(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	if err = declare(ctx, l.core, work, config.InFlight); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// declare makes the durables of a workload's agents.
func declare(ctx context.Context, core bus.Core, work workload, inFlight int) error {
	for _, agent := range work.agentNames() {
		if err := core.Declare(ctx, agent, bus.Pool{Size: work.pool(inFlight), AckWait: ackWait}); err != nil {
			return err
		}
	}
	return nil
}

// openGate lets external agents publish, until the ledger is closed.
func (l *ledger) openGate(ctx context.Context, work workload, log zerolog.Logger) error {
	keeper := gate.New(time.Now, func(int) bool { return false }, log)
	l.server.CountRequests(keeper.Requests)
	_, err := l.core.OpenGate(ctx, keeper, work.agentNames())
	return err
}

func (l *ledger) close() error {
	l.core.Close()
	return l.server.Close()
}

// seeds are the key files of agents.
func (l *ledger) seeds(names []string) map[string]string { return seedsOf(l.keys, names) }

func seedsOf(keys embedded.Keys, names []string) map[string]string {
	seeds := make(map[string]string, len(names))
	for _, name := range names {
		seeds[name] = keys.Agents[name].SeedFile
	}
	return seeds
}

// streamsOf are all that messages of runs go to.
func streamsOf(core bus.Core) []string {
	streams := []string{bus.WorkStream}
	for shard := range core.Shards() {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

func holds(ctx context.Context, core bus.Core, streams ...string) (held, error) {
	var sum held
	for _, stream := range streams {
		state, err := core.State(ctx, stream)
		if err != nil {
			return sum, fmt.Errorf("measure %s: %w", stream, err)
		}
		sum.messages += state.Messages
		sum.bytes += state.Bytes
	}
	return sum, nil
}
