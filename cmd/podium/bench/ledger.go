package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// ackWait is that of the service's agents.
const ackWait = 15 * time.Second

// A ledger is a server of its own with the streams and durables of an installation.
type ledger struct {
	server *embedded.Server
	core   *jetstream.Core
}

func openLedger(ctx context.Context, config Config, name string, work workload) (*ledger, error) {
	agents := slices.Sorted(maps.Keys(work.agents))
	server, err := embedded.Start(ctx, embedded.Config{
		Dir: filepath.Join(config.Dir, name), Durability: config.Durability, Agents: agents, Logger: config.Log,
	})
	if err != nil {
		return nil, err
	}
	l := &ledger{server: server}
	if l.core, err = server.Core(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	for _, agent := range agents {
		if err = l.core.Declare(ctx, agent, bus.Pool{Size: config.InFlight, AckWait: ackWait}); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// streams are all that messages of runs go to.
func (l *ledger) streams() []string {
	streams := []string{bus.WorkStream}
	for shard := range l.core.Shards() {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

func (l *ledger) held(ctx context.Context) (held, error) {
	var sum held
	for _, stream := range l.streams() {
		state, err := l.core.State(ctx, stream)
		if err != nil {
			return sum, fmt.Errorf("measure %s: %w", stream, err)
		}
		sum.messages += state.Messages
		sum.bytes += state.Bytes
	}
	return sum, nil
}

func (l *ledger) close() error {
	l.core.Close()
	return l.server.Close()
}

// seeds are the key files of a workload's agents.
func (l *ledger) seeds() map[string]string {
	seeds := map[string]string{}
	for name, key := range l.server.Keys().Agents {
		seeds[name] = key.SeedFile
	}
	return seeds
}
