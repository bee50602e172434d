package installation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
)

// A Ledger is an open ledger.
type Ledger struct {
	Core *jetstream.Core
	// Data is the directory of the ledger's credentials and, when it is
	// embedded, of the ledger itself.
	Data   string
	URL    string // where its clients connect
	Keys   embedded.Keys
	Server *embedded.Server // nil when the ledger is on a server of its own
	// MaxBytes is what an embedded ledger may hold; 0 is as much as its server's
	// configuration and its streams say.
	MaxBytes int64
	log      zerolog.Logger
	Losses   Losses // where somebody looked for them
}

// ErrNoLedger reports a directory that holds no ledger.
var ErrNoLedger = errors.New("there is no ledger")

// OpenLedger opens the ledger of a configuration, and creates it if need be. The
// agents, of our own and external ones, are those that may connect.
func OpenLedger(ctx context.Context, settings config.Ledger, agents, external []string, log zerolog.Logger) (*Ledger, error) {
	if settings.NATS != nil {
		return joinLedger(ctx, settings, slices.Concat(agents, external), log)
	}
	about := embedded.Config{
		Dir: settings.Data, Durability: embedded.Durability(settings.Durability), Agents: agents, External: external,
		Shards: shardsFor(settings), MaxBytes: cmp.Or(int64(settings.MaxBytes), embedded.DefaultMaxBytes), Logger: log,
	}
	server, err := embedded.Start(ctx, about)
	if err != nil {
		return nil, err
	}
	return connectEmbedded(ctx, server, about)
}

// connectEmbedded opens the ledger of a server, or closes that.
func connectEmbedded(ctx context.Context, server *embedded.Server, about embedded.Config) (*Ledger, error) {
	ledger := &Ledger{
		Data: about.Dir, URL: server.URL(), Keys: server.Keys(), Server: server, MaxBytes: max(about.MaxBytes, 0), log: about.Logger,
	}
	var err error
	if ledger.Core, err = server.Core(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	if err = serveEmbedded(ledger.Core, Absolute(about.Dir)); err != nil {
		return nil, errors.Join(err, ledger.Close())
	}
	runtime.GOMAXPROCS(embedded.Processors(about.Durability, ledger.Core.Shards()))
	return ledger, nil
}

// shardsFor is the number of shards to create; 0 leaves an existing ledger its own.
func shardsFor(settings config.Ledger) int {
	if settings.Shards != 0 || isThere(filepath.Join(settings.Data, "ledger")) {
		return settings.Shards
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
// add something to it.
func OpenAtRest(ctx context.Context, data string, log zerolog.Logger) (*Ledger, error) {
	if err := isLedger(data); err != nil {
		return nil, err
	}
	about := embedded.Config{Dir: data, MaxBytes: embedded.AsItIs, AtRest: true, Logger: log}
	server, err := embedded.Start(ctx, about)
	if err != nil {
		return nil, err
	}
	return connectEmbedded(ctx, server, about)
}

// LookAtRest opens the ledger in a directory that no instance is running on, to read it.
// It changes nothing there.
func LookAtRest(ctx context.Context, data string, log zerolog.Logger) (*Ledger, error) {
	if err := isLedger(data); err != nil {
		return nil, err
	}
	about := embedded.Config{Dir: data, MaxBytes: embedded.AsItIs, Logger: log}
	server, lost, err := embedded.Look(ctx, about)
	if err != nil {
		return nil, err
	}
	ledger, err := connectEmbedded(ctx, server, about)
	if err == nil {
		ledger.Losses = SortLosses(server.Losses(), lost)
	}
	return ledger, err
}

func isLedger(data string) error {
	if !isThere(filepath.Join(data, "ledger")) && !recovery.Marked(data) {
		return fmt.Errorf("%w in %s; --data names the directory that `podium demo` or `podium up` printed, "+
			"-c FILE or --nats URL a ledger on a server of its own", ErrNoLedger, data)
	}
	return nil
}

// Losses are what a ledger has lost.
type Losses struct {
	Open []recovery.Loss // nobody has decided on it
	// Accepted is what somebody has decided to go on without, or the ledger's durability
	// leaves to a loss of power.
	Accepted []recovery.Loss
}

// SortLosses tells the losses that were found from those that were known, of which nothing
// is lost any more where a bit was flipped back.
func SortLosses(known, found []recovery.Loss) (losses Losses) {
	for i := range known {
		switch loss := &known[i]; {
		case loss.Restored:
		case loss.Accepted, loss.Promised:
			losses.Accepted = append(losses.Accepted, *loss)
		default:
			losses.Open = append(losses.Open, *loss)
		}
	}
	losses.Open = append(losses.Open, found...)
	return losses
}

// Lost returns what the ledger has lost over its life; nil where only its server knows.
func (l *Ledger) Lost() []recovery.Loss {
	if l.Server == nil {
		return nil
	}
	return l.Server.Losses()
}

// Worker connects as one of the agents.
func (l *Ledger) Worker(ctx context.Context, agent string) (*worker.Worker, error) {
	key, ok := l.Keys.Agents[agent]
	if !ok {
		return nil, fmt.Errorf("agent %q has no credentials: it is not in the configuration", agent)
	}
	return worker.Connect(ctx, worker.Config{
		URL: l.URL, SeedFile: key.SeedFile, Agent: agent, Core: l.Core, Logger: l.log,
	})
}

// Close closes the connection and, when the ledger is embedded, the server.
func (l *Ledger) Close() error {
	l.Core.Close()
	if l.Server == nil {
		return nil
	}
	return l.Server.Close()
}

// CredentialsDir is where an installation keeps its keys.
func CredentialsDir(data string) string { return filepath.Join(data, "credentials") }

// CheckLedger says what the ledger in a directory has lost, and changes nothing.
func CheckLedger(ctx context.Context, data string, log zerolog.Logger) (Losses, error) {
	if err := isLedger(data); err != nil {
		return Losses{}, err
	}
	found, known, err := embedded.Check(ctx, embedded.Config{Dir: data, Logger: log})
	return SortLosses(known, found), err
}

// RepairLedger makes the ledger in a directory go on without what it has lost, and
// returns what that is.
func RepairLedger(ctx context.Context, data string, log zerolog.Logger) ([]recovery.Loss, error) {
	if err := isLedger(data); err != nil {
		return nil, err
	}
	return embedded.Repair(ctx, embedded.Config{Dir: data, Logger: log})
}

// Absolute is a path from the root, or the path itself where that cannot be found.
func Absolute(path string) string {
	if made, err := filepath.Abs(path); err == nil {
		return made
	}
	return path
}

// CrashLogDirectory is where the processes that work on a data directory note which requests they work on.
func CrashLogDirectory(data string) string { return filepath.Join(data, "at-work") }
