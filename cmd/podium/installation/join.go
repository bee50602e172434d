package installation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/wholefile"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
)

// joinLedger opens the ledger on a server of its own, for the service.
func joinLedger(ctx context.Context, settings config.Ledger, agents []string, log zerolog.Logger) (*Ledger, error) {
	keys, err := Keys(settings, agents)
	if err != nil {
		return nil, err
	}
	core, err := jetstream.Connect(ctx, jetstream.Config{
		URL: settings.NATS.URL, SeedFile: keys.Core.SeedFile, Name: "core", Shards: settings.Shards,
		MaxBytes:   int64(settings.MaxBytes) / 2, // the shards' half
		AmendLater: true, Known: isThere(joinedFile(settings.Data)), Logger: log,
	})
	if errors.Is(err, jetstream.ErrGone) {
		return nil, fmt.Errorf("%w, and %s was used with one: a server that becomes a member of a cluster deletes the streams that it had alone. "+
			"Restore them from a backup (nats stream restore), or name the server that has them; to begin a new ledger, remove %s",
			err, settings.Data, joinedFile(settings.Data))
	}
	if err != nil {
		return nil, err
	}
	if err = refuseEmbedded(ctx, core, settings.NATS.Servers()); err != nil {
		core.Close()
		return nil, err
	}
	if err = wholefile.Replace(joinedFile(settings.Data), []byte(joinedNote)); err != nil {
		core.Close()
		return nil, fmt.Errorf("note that the ledger is there: %w", err)
	}
	return &Ledger{Core: core, Data: settings.Data, URL: settings.NATS.URL, Keys: keys, log: log}, nil
}

// joinedFile notes that a data directory was used with a ledger on a server of its own: when that holds none any more, it was
// lost, and a new one in its place would begin as if there had been none.
func joinedFile(data string) string { return filepath.Join(data, "joined") }

const joinedNote = "This data directory was used with a ledger on a NATS server.\n"

// embeddedSubject is where the process that a ledger is embedded in answers with its data directory.
const embeddedSubject = "podium.embedded"

// embeddedWait bounds the question for that process. Its server is the one that is asked, so that it
// answers at once, or the server does.
const embeddedWait = 2 * time.Second

// ErrEmbedded refuses a ledger that another process has embedded, and works on.
var ErrEmbedded = errors.New("the ledger there is embedded in another process, and only that one may work on it")

// serveEmbedded answers that a ledger is embedded, until its connection ends.
func serveEmbedded(core bus.Core, data string) error {
	_, err := core.Serve(embeddedSubject, func(context.Context, string, []byte) ([]byte, error) { return []byte(data), nil })
	return err
}

// refuseEmbedded returns ErrEmbedded for the server of an embedded ledger.
func refuseEmbedded(ctx context.Context, core *jetstream.Core, servers string) error {
	ctx, stop := context.WithTimeout(ctx, embeddedWait)
	defer stop()
	data, err := core.Ask(ctx, embeddedSubject, nil)
	if err != nil {
		return nil // no process answers: it is a server of its own
	}
	return fmt.Errorf("%w: %s is the server of the ledger in %s; stop that process and run podium up --data %s without --nats, or name another server",
		ErrEmbedded, servers, data, data)
}

// Join opens the ledger on a server of its own as it is, for a verb: no instance has
// to run. It makes no keys, and nothing on the server.
func Join(ctx context.Context, settings config.Ledger, log zerolog.Logger) (*Ledger, error) {
	seed := cmp.Or(settings.NATS.Credentials, embedded.CoreSeedFile(CredentialsDir(settings.Data)))
	key, err := namedKey(seed)
	if err != nil {
		return nil, err
	}
	core, err := jetstream.Connect(ctx, jetstream.Config{
		URL: settings.NATS.URL, SeedFile: key.SeedFile, Name: "command line", Existing: true, Logger: log,
	})
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return nil, fmt.Errorf("%w on %s, in the account of %s; `podium up` makes one", ErrNoLedger, settings.NATS.Servers(), seed)
	case bus.Temporary(err):
		return nil, fmt.Errorf("the ledger on %s cannot be read now: %w; does the server run, and has its cluster a leader?", settings.NATS.Servers(), err)
	case err != nil:
		return nil, err
	}
	return &Ledger{Core: core, Data: settings.Data, URL: settings.NATS.URL, log: log}, nil
}

// JoinWorker connects as an agent to the ledger on a server of its own, by the key
// that is named, else by the one that this installation has for it.
func JoinWorker(ctx context.Context, settings config.Ledger, seed, agent string, log zerolog.Logger) (*worker.Worker, error) {
	seed = cmp.Or(seed, agentSeed(settings.NATS.Credentials, CredentialsDir(settings.Data), agent))
	if !isThere(seed) {
		return nil, fmt.Errorf("%w %q: its key %s is not there; name the file with --credentials. `podium nats accounts` makes keys, of the agents in podium.yaml", ErrNoAgent, agent, seed)
	}
	return worker.Connect(ctx, worker.Config{URL: settings.NATS.URL, SeedFile: seed, Agent: agent, Logger: log})
}
