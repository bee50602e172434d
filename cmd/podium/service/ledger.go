package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/cmd/podium/config"
)

// A Ledger is an open ledger.
type Ledger struct {
	Core *jetstream.Core
	// Data is the directory of the ledger's credentials and, when it is
	// embedded, of the ledger itself.
	Data   string
	url    string
	seed   string // file of the core account's seed
	keys   embedded.Keys
	server *embedded.Server
	log    zerolog.Logger
}

// ErrNoLedger reports a directory that holds no ledger.
var ErrNoLedger = errors.New("there is no ledger")

// OpenLedger opens the ledger of a configuration, and creates it if need be. The
// agents, of our own and external ones, are those that may connect.
func OpenLedger(ctx context.Context, settings config.Ledger, agents, external []string, log zerolog.Logger) (*Ledger, error) {
	if settings.NATS != nil {
		return joinLedger(ctx, settings, slices.Concat(agents, external), log)
	}
	return openEmbedded(ctx, settings, agents, external, int64(settings.MaxBytes), log)
}

func openEmbedded(ctx context.Context, settings config.Ledger, agents, external []string, maxBytes int64, log zerolog.Logger) (*Ledger, error) {
	server, err := embedded.Start(ctx, embedded.Config{
		Dir: settings.Data, Durability: embedded.Durability(settings.Durability), Agents: agents, External: external,
		Shards: shardsFor(settings), MaxBytes: maxBytes, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	ledger := &Ledger{Data: settings.Data, url: server.URL(), seed: server.Keys().Core.SeedFile, keys: server.Keys(), server: server, log: log}
	if ledger.Core, err = server.Core(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	runtime.GOMAXPROCS(embedded.Processors(embedded.Durability(settings.Durability), ledger.Core.Shards()))
	return ledger, nil
}

// shardsFor is the number of shards to create; 0 leaves an existing ledger its own.
func shardsFor(settings config.Ledger) int {
	if settings.Shards != 0 {
		return settings.Shards
	}
	if _, err := os.Stat(filepath.Join(settings.Data, "ledger")); err == nil {
		return 0
	}
	return jetstream.DefaultShards()
}

// CheckCredentials says what is wrong with the credentials file of a
// configuration, if it names one.
func CheckCredentials(settings config.Ledger) error {
	if settings.NATS == nil || settings.NATS.Credentials == "" {
		return nil
	}
	if _, err := namedKey(settings.NATS.Credentials); err != nil {
		return fmt.Errorf("ledger.nats.%w", err)
	}
	return nil
}

// OpenAtRest opens the ledger in a directory that no instance is running on, to
// read it.
func OpenAtRest(ctx context.Context, data string, log zerolog.Logger) (*Ledger, error) {
	if _, err := os.Stat(filepath.Join(data, "ledger")); err != nil {
		return nil, fmt.Errorf("%w in %s; --data names the directory that `podium demo` or `podium up` printed, "+
			"-c FILE or --nats URL a ledger on a server of its own", ErrNoLedger, data)
	}
	return openEmbedded(ctx, config.Ledger{Data: data, Durability: config.DurabilityFsync}, nil, nil, embedded.AsItIs, log)
}

// URL is where the ledger's clients connect.
func (l *Ledger) URL() string { return l.url }

// credentials is the directory of the keys that the installation has made.
func (l *Ledger) credentials() string { return CredentialsDir(l.Data) }

// Worker connects as one of the agents.
func (l *Ledger) Worker(ctx context.Context, agent string) (*jetstream.Worker, error) {
	key, ok := l.keys.Agents[agent]
	if !ok {
		return nil, fmt.Errorf("agent %q has no credentials: it is not in the configuration", agent)
	}
	return jetstream.ConnectWorker(ctx, jetstream.WorkerConfig{
		URL: l.url, SeedFile: key.SeedFile, Agent: agent, Logger: l.log,
	})
}

// Close closes the connection and, when the ledger is embedded, the server.
func (l *Ledger) Close() error {
	l.Core.Close()
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}

// CredentialsDir is where an installation keeps its keys.
func CredentialsDir(data string) string { return filepath.Join(data, "credentials") }
