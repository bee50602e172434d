package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
	"podium/bus/embedded/wholefile"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
)

const (
	readyWait = 30 * time.Second // a large ledger after a crash is scanned once
	// authTimeout is how long a connection may take to log in. The 2 s of nats-server are too short for agents that start on a busy machine.
	authTimeout = 10 * time.Second
	loopback    = "127.0.0.1"
)

// Config says how to run a server.
type Config struct {
	// Dir is the data directory: the ledger stands in Dir/ledger, the keys in
	// Dir/credentials.
	Dir        string
	Durability Durability // empty is Fsync
	// Agents may connect, each with a key of its own: those that this process runs, and
	// external ones, which somebody else runs and which publish by way of the gate.
	Agents   []string
	External []string
	// Listen is host:port. Empty is the loopback interface with the port of the
	// last time if it is free, else any.
	Listen string
	// MaxBytes bounds the store; 0 is DefaultMaxBytes. Half of it is the shards',
	// the other half is for requests in work and artifacts. AsItIs leaves a store the
	// bounds that it has.
	MaxBytes int64
	// AtRest says that no service runs on the ledger while the server does.
	AtRest bool
	// Shards is the number of shards at creation; 0 is the default of
	// jetstream.Config. An existing ledger keeps its number.
	Shards int
	Logger zerolog.Logger
}

// A Server is a running nats-server in this process.
type Server struct {
	config     Config
	store      string         // the server's directory
	held       []func() error // let go of when it has ended, the last first
	storeBytes int64          // bound of the store
	shardBytes int64          // of all shards; 0 leaves them theirs
	maxStore   int64          // as the server was told
	server     *server.Server
	recovery   *recovery.Recovery // nil for who only looks
	lost       []recovery.Loss    // of a ledger that is only looked at
	close      sync.Once
	failing    sync.Once

	members sync.Mutex // of keys and config.External; held while they change
	keys    Keys

	reached atomic.Pointer[server.Server] // by connections; nil while there is none

	unwatch  context.CancelFunc
	watching sync.WaitGroup
	requests atomic.Pointer[func(agent string) int64]
}

// CountRequests tells how many requests external agents were made since the server
// started: each lets its agent exchange more messages.
func (s *Server) CountRequests(made func(agent string) int64) { s.requests.Store(&made) }

// Start runs a server and returns when it is ready. It fails when another server
// has the directory, with bus.ErrFormat on a ledger that this version does not read, and with a *recovery.LossError, having changed nothing, when the
// ledger has lost something that no loss of power explains. Close it when every
// connection to it is closed.
func Start(ctx context.Context, config Config) (_ *Server, err error) {
	if config.Dir == "" {
		return nil, errors.New("the ledger needs a directory")
	}
	config.Durability, config.MaxBytes = cmp.Or(config.Durability, Fsync), cmp.Or(config.MaxBytes, DefaultMaxBytes)
	storeBytes, shardBytes := config.MaxBytes, config.MaxBytes/2
	if config.MaxBytes == AsItIs {
		storeBytes, shardBytes = math.MaxInt64, 0
	}
	store, err := filepath.Abs(filepath.Join(config.Dir, ledgerDir))
	if err != nil {
		return nil, fmt.Errorf("the ledger's directory: %w", err)
	}
	lock, err := lockStore(ctx, store, config.Logger)
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, store: store, held: []func() error{lock.release}, storeBytes: storeBytes, shardBytes: shardBytes}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.letGo())
		}
	}()
	if err = checkFormat(store); err != nil {
		return nil, err
	}
	s.keys, err = Credentials(filepath.Join(config.Dir, credentialDir), slices.Concat(config.Agents, config.External))
	if err != nil {
		return nil, err
	}
	s.config.External = slices.DeleteFunc(slices.Clone(config.External), func(agent string) bool { // who is retired has no key
		_, has := s.keys.Agents[agent]
		return !has
	})
	s.recovery, err = recovery.Begin(ctx, recovery.Config{
		Data: config.Dir, Store: store, Flushed: config.Durability == Fsync, AtRest: config.AtRest, Logger: config.Logger,
	})
	if err != nil {
		return nil, err
	}
	if err = s.start(ctx); err != nil {
		return nil, errors.Join(err, s.recovery.NotStarted())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	portFile := filepath.Join(s.store, "port")
	listen, err := listenAddress(ctx, s.config.Listen, portFile)
	if err != nil {
		return err
	}
	reserved, err := reservedIn(s.store)
	if err != nil {
		return err
	}
	s.maxStore = max(s.storeBytes, reserved)
	options, err := s.options(listen, s.keys, s.config.External)
	if err != nil {
		return err
	}
	if s.server, err = server.NewServer(options); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	log := &serverLog{logger: s.config.Logger.With().Str("part", "nats-server").Logger(), names: s.keys.names()}
	s.server.SetLoggerV2(log, false, false, false)
	s.server.Start() // returns once everything is started, or has failed
	if err := s.ready(ctx, log); err != nil {
		s.stop()
		return err
	}
	if address, ok := s.server.Addr().(*net.TCPAddr); ok && s.config.Listen == "" {
		if err := wholefile.Replace(portFile, []byte(strconv.Itoa(address.Port))); err != nil {
			s.stop()
			return fmt.Errorf("remember the server's port: %w", err)
		}
	}
	s.reached.Store(s.server)
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	s.unwatch = unwatch
	s.watching.Go(func() { s.watch(watched) })
	if s.recovery != nil {
		s.watching.Go(func() { s.keepMarks(watched) })
	}
	return nil
}

// options are what the server is told, for the agents that may connect.
func (s *Server) options(listen string, keys Keys, external []string) (*server.Options, error) {
	text, err := Settings{
		Listen: listen, StoreDir: s.store, Durability: s.config.Durability, MaxBytes: s.maxStore, Accounts: keys.Accounts(external...),
	}.Config()
	if err != nil {
		return nil, err
	}
	options := &server.Options{}
	if err := options.ProcessConfigString(text); err != nil {
		return nil, fmt.Errorf("the server's configuration: %w", err)
	}
	options.NoSigs = true // or the library ends the process on SIGTERM
	options.AuthTimeout = authTimeout.Seconds()
	return options, nil
}

// reservedIn is what the streams of a store reserve together, in bytes. A server that may
// hold less than that changes no stream, not even to a smaller one.
func reservedIn(store string) (bytes int64, err error) {
	streams, err := filestore.ReadMeta(store)
	for i := range streams {
		bytes += max(streams[i].MaxBytes, 0)
	}
	return bytes, err
}

// ready waits until the server takes connections. The server reports what kept
// it from starting to its log only.
func (s *Server) ready(ctx context.Context, log *serverLog) error {
	deadline := time.Now().Add(readyWait)
	for !s.server.ReadyForConnections(100 * time.Millisecond) {
		switch {
		case log.fatal() != "":
			return fmt.Errorf("start the server: %s", log.fatal())
		case ctx.Err() != nil:
			return fmt.Errorf("start the server: %w", context.Cause(ctx))
		case time.Now().After(deadline):
			return fmt.Errorf("the server is not ready after %s", readyWait)
		}
	}
	if !s.server.JetStreamEnabled() {
		return fmt.Errorf("start the server: JetStream is off: %s", log.fatal())
	}
	return nil
}

// listenAddress settles the address before the server starts, because the server
// says no more than "fatal" about one that is taken.
func listenAddress(ctx context.Context, listen, portFile string) (string, error) {
	if listen != "" {
		return listen, probe(ctx, listen)
	}
	if port := rememberedPort(portFile); port != "" {
		address := net.JoinHostPort(loopback, port)
		if probe(ctx, address) == nil {
			return address, nil
		}
	}
	return net.JoinHostPort(loopback, "-1"), nil // -1 is any free port
}

// rememberedPort returns the port of the last start. What a file holds that was not
// written to its end counts as none: it is no more than a convenience.
func rememberedPort(file string) string {
	held, _ := os.ReadFile(file)
	port, err := strconv.ParseUint(strings.TrimSpace(string(held)), 10, 16)
	if err != nil || port == 0 {
		return ""
	}
	return strconv.FormatUint(port, 10)
}

func probe(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("the ledger cannot listen: %w", err)
	}
	return listener.Close()
}

// URL is where clients in other processes connect.
func (s *Server) URL() string { return s.server.ClientURL() }

// InProcessConn opens a connection without a socket. It needs a key like any other.
func (s *Server) InProcessConn() (net.Conn, error) {
	if running := s.reached.Load(); running != nil {
		return running.InProcessConn()
	}
	return nil, errRestarting
}

// Keys returns the keys of everybody who may connect.
func (s *Server) Keys() Keys {
	s.members.Lock()
	defer s.members.Unlock()
	return Keys{Core: s.keys.Core, Agents: maps.Clone(s.keys.Agents)}
}

// Core connects to the core account by a pipe inside the process, which gives a
// third more compare-and-append than the loopback interface and the same of
// everything else (see the benchmarks). It does not outlive the server.
func (s *Server) Core(ctx context.Context) (*jetstream.Core, error) {
	core, err := jetstream.Connect(ctx, jetstream.Config{
		InProcess: s, URL: s.URL(), SeedFile: s.keys.Core.SeedFile, Name: "core",
		Shards: s.config.Shards, MaxBytes: s.shardBytes, GroupCommit: s.config.Durability == Fsync, Flush: s.flush(), Free: Free(s.config.Dir), Logger: s.config.Logger,
	})
	if err != nil || s.recovery == nil {
		return core, err
	}
	if err = s.recovery.Settle(); err != nil {
		core.Close()
		return nil, err
	}
	return core, nil
}

// flush is how what was acknowledged gets to the disk; nil when it is there before.
func (s *Server) flush() func(context.Context) error {
	if s.recovery == nil || s.config.Durability == Fsync {
		return nil
	}
	return s.recovery.Flusher().Flush
}

// Worker connects as one of the agents named in the configuration, by a pipe, too.
func (s *Server) Worker(ctx context.Context, agent string) (*worker.Worker, error) {
	key, ok := s.Keys().Agents[agent]
	if !ok {
		return nil, fmt.Errorf("agent %q has no key: it is not in the configuration", agent)
	}
	return worker.Connect(ctx, worker.Config{
		InProcess: s, URL: s.URL(), SeedFile: key.SeedFile, Agent: agent, Logger: s.config.Logger,
	})
}

// Close stops the server, writes what it holds back, flushes everything, and frees the
// directory. Close the connections first; those still open are cut. It may be called again.
func (s *Server) Close() error {
	var err error
	s.close.Do(func() {
		s.unwatch()
		s.watching.Wait()
		orderly := s.server != nil && s.CheckWrites() == nil // else a write may be torn, as by a crash
		last, _ := s.lastSequences()                         // what it does not know is not compared
		s.stop()
		if s.recovery != nil && orderly {
			err = s.recovery.Stopped(last)
		}
		err = errors.Join(err, s.letGo())
	})
	return err
}

// letGo lets go of the ledger, or of what was looked at.
func (s *Server) letGo() (err error) {
	for _, release := range slices.Backward(s.held) {
		err = errors.Join(err, release())
	}
	return err
}

// Unclean reports whether the service that ran on the ledger before did not stop in order.
func (s *Server) Unclean() bool { return s.recovery != nil && s.recovery.Unclean() }

func (s *Server) stop() {
	if s.server == nil {
		return // it could not be started again
	}
	s.server.Shutdown()
	s.server.WaitForShutdown() // or the index is not written and the next start scans everything
}
