package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/backoff"
	"podium/bus/gate"
	"podium/bus/jetstream"
	"podium/bus/keyring"
	"podium/bus/partial"
	"podium/bus/registry"
	"podium/cmd/podium/activity"
	"podium/cmd/podium/build"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/lease"
	"podium/cmd/podium/ledgerwatch"
	"podium/cmd/podium/messageid"
	"podium/cmd/podium/oauth"
	"podium/ingest/imap"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/admission"
	"podium/supervisor/circuit"
	"podium/supervisor/restore"
	"podium/supervisor/statistics"
)

// drainTimeout bounds how long a stop in order waits for agents at work.
const drainTimeout = 10 * time.Second

// restartAfter is the wait before a shard's owner that failed is started again.
const restartAfter = time.Second

// A Service is one running podium.
type Service struct {
	Ledger   *installation.Ledger
	Profiles *restore.Profiles
	Activity *activity.Feed // what the service does, for whoever looks on

	settings    *config.Config
	localOwners admission.LocalOwners // the owners of all shards
	log         zerolog.Logger
	listener    net.Listener
	gate        *gate.Gate // of external agents
	openedGate  jetstream.Gate
	members     membership

	closeServices func()       // of agents
	partials      *partial.Hub // what agents have said of results that are still to come
	handlers      map[string]described
	instance      string // a secret of this process, by which it announces its agents
	present       present
	stalls        stalls
	standing      *registry.Standing       // how the agents are
	statistics    *statistics.Keeper       // what becomes of requests to them
	serving       []*inProcess             // the agents that this process serves, by name
	sources       map[string]*oauth.Source // of access tokens, by mail account
	letters       *messageid.Signer        // of the Message-IDs of answers
	adapters      []*imap.Adapter
	callbacks     callbacks
	keys          *keyring.Ring
	http          *webServer

	patience   patience
	durability atomic.Pointer[Durability]
	watcher    *ledgerwatch.Watcher
	crashes    *agent.CrashLog // of the requests that handlers of this process work on; nil where it cannot be kept
	lease      *lease.Lease    // of a ledger on a server of its own
	unlock     func() error    // of the data directory then
}

// Start opens everything that a configuration names and returns when chat
// messages would be accepted. Run does the work; Close follows it.
func Start(ctx context.Context, settings *config.Config, log zerolog.Logger) (*Service, error) {
	return StartTelling(ctx, settings, func(string) {}, log)
}

// StartTelling is Start for somebody who looks on: it tells what it waits for, one
// sentence at a time. A ledger on a server of its own is waited for until ctx ends.
func StartTelling(ctx context.Context, settings *config.Config, tell func(sentence string), log zerolog.Logger) (_ *Service, err error) {
	settings.Ledger.Data = installation.Absolute(settings.Ledger.Data)
	if instance, running, err := installation.FindInstance(settings.Ledger.Data); err != nil {
		return nil, err
	} else if running && instance.PID != os.Getpid() {
		return nil, runsAlready(instance.PID, settings.Ledger.Data)
	}
	s := &Service{settings: settings, Activity: activity.New(), log: log, instance: rand.Text(), handlers: map[string]described{}, sources: map[string]*oauth.Source{}, partials: partial.New(), standing: registry.NewStanding()}
	s.letters = messageid.New(replyKey(settings))
	s.patience.tell, s.patience.log = tell, log
	if settings.Ledger.NATS != nil {
		s.patience.servers = settings.Ledger.NATS.Servers()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	waiting := beginWaiting(waitingAfter, settings.HTTP.Listen, s.patience.waitsFor, log)
	defer waiting.end()
	names := s.agentNames()
	if err = s.openLedger(ctx); err != nil {
		return nil, err
	}
	if err = s.openPlans(); err != nil {
		return nil, err
	}
	s.openCrashLog()
	s.watcher = ledgerwatch.New(s.Ledger, log)
	s.gate = s.newGate() //nolint:contextcheck // it is asked by nobody who has a context
	if s.Ledger.Server != nil {
		s.Ledger.Server.CountRequests(s.gate.Requests)
		if s.Ledger.Server.Unclean() {
			s.localOwners.RequireLeaseAdoption(s.Ledger.Core.Shards())
		}
	}
	if err = s.patience.until(ctx, func(ctx context.Context) error { return s.prepareAll(ctx, names) }); err != nil {
		return nil, err
	}
	s.serving = s.inProcessAgents()
	if err = s.patience.until(ctx, s.admitAgents); err != nil {
		return nil, err
	}
	if err = s.patience.until(ctx, s.connectAgents); err != nil {
		return nil, err
	}
	if err = s.openAdapters(); err != nil {
		return nil, err
	}
	s.http, err = s.openWeb() //nolint:contextcheck // who asks for metrics has no context
	if err != nil {
		return nil, err
	}
	if s.Ledger.Server == nil {
		if err = s.patience.until(ctx, s.Ledger.CompareKeys); err != nil {
			return nil, err
		}
	}
	waiting.end()
	var listen net.ListenConfig
	if s.listener, err = listen.Listen(ctx, "tcp", settings.HTTP.Listen); err != nil {
		return nil, fmt.Errorf("listen for chat messages: %w; set http.listen to another address", err)
	}
	s.members.instance = installation.Instance{
		PID: os.Getpid(), Data: settings.Ledger.Data, Started: time.Now(),
		NATS: s.Ledger.URL, Embedded: s.Ledger.Server != nil, HTTP: s.Address(), Config: settings.File(),
		Credentials: installation.CredentialsDir(s.Ledger.Data), Core: installation.Absolute(s.Ledger.Keys.Core.SeedFile),
		Profiles: slices.Sorted(maps.Keys(settings.Profiles)), Entry: settings.Entry(), Agents: names, People: s.people(), External: s.external(),
	}
	if err = s.administer(); err != nil {
		return nil, err
	}
	return s, s.members.instance.Write()
}

// Address is where the chat adapter listens, as a URL.
func (s *Service) Address() string { return "http://" + s.listener.Addr().String() }

func (s *Service) profiles() []schemas.Profile {
	var profiles []schemas.Profile
	for _, name := range slices.Sorted(maps.Keys(s.settings.Profiles)) {
		profiles = append(profiles, s.settings.Profile(name))
	}
	return profiles
}

// prepareAll makes on the ledger what profiles and agents need. It may be repeated.
func (s *Service) prepareAll(ctx context.Context, names []string) (err error) {
	if s.Profiles, err = restore.NewProfiles(ctx, s.Ledger.Core.Artifacts(), s.profiles()); err != nil {
		return err
	}
	if err = s.openKeys(ctx); err != nil {
		return err
	}
	if err = s.forwarder().SetBack(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err = s.prepare(ctx, name); err != nil {
			return fmt.Errorf("agent %q: %w", name, err)
		}
	}
	if s.statistics == nil {
		if s.statistics, err = statistics.Open(ctx, s.Ledger.Core); err != nil {
			return err
		}
	}
	return registry.Configure(ctx, s.Ledger.Core, s.policies())
}

func (s *Service) prepare(ctx context.Context, name string) error {
	agent := s.settings.Agents[name]
	made, err := s.handler(name, agent)
	if err != nil {
		return err
	}
	if made != nil {
		s.handlers[name] = made
	}
	return s.Ledger.Core.Declare(ctx, name, bus.Pool{Size: agent.Concurrency, AckWait: AckWait})
}

// Run works until ctx ends and everything under way is finished, or until a
// part fails for good.
func (s *Service) Run(ctx context.Context) error {
	defer s.closeServices()
	defer s.openedGate.Close()
	defer s.members.stop()
	// Adapters stop first, then the owners finish, then the agents drain: what was
	// accepted is carried as far as possible before the process ends.
	agents, stopAgents := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAgents()
	var agentsAtWork sync.WaitGroup
	defer s.watcher.Watch()() //nolint:contextcheck // it looks on until everything else has ended
	defer context.AfterFunc(ctx, s.watcher.Settle)()
	group, running := errgroup.WithContext(ctx)
	for _, agent := range s.serving {
		if s.handlers[agent.name] != nil {
			agentsAtWork.Go(func() { s.keepServing(agents, agent) })
		} else { // a supervisor: it takes requests over, which is an adapter
			agentsAtWork.Go(func() { s.keepServing(running, agent) })
		}
	}
	for _, adapter := range s.adapters {
		group.Go(func() error { return adapter.Run(running) })
	}
	group.Go(func() error { return s.http.serve(running, s.listener) })
	group.Go(func() error { return s.forwarder().Run(running) })
	group.Go(func() error { return s.hold(running) })
	group.Go(func() error { return s.watchDurability(running, lookEvery) })
	group.Go(func() error { return s.tellOfAgents(running) })
	group.Go(func() error { return s.revokeFlooders(running) })
	group.Go(func() error { return s.watchStalls(running) })
	group.Go(func() error { return s.removeArtifacts(running) })
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.keepStatistics(keeping)
	}()
	for shard := range s.Ledger.Core.Shards() {
		group.Go(func() error { return s.own(running, shard) })
		group.Go(func() error { return s.writePlans(running, shard) })
	}
	err := s.explain(ctx, group.Wait())
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = nil // told to stop while it was still starting
	}
	stopKeeping()
	<-kept
	stopAgents()
	agentsAtWork.Wait()
	return err
}

// own runs a shard's owner, again and again if need be.
func (s *Service) own(ctx context.Context, shard int) error {
	name := fmt.Sprintf("%s-%d-%s", hostname(), os.Getpid(), rand.Text()[:6])
	for {
		owner := supervisor.NewOwner(supervisor.Config{
			Shard: shard, Name: name, Build: build.This(), Core: s.Ledger.Core, Profiles: s.Profiles, Log: s.log,
			PoolSize: func(agent string) int { return s.agentOf(agent).Concurrency },
			Async:    func(agent string) bool { return s.settings.Agents[agent].Async },
			Barred:   s.standing.Barred,
			Breaker:  s.breaker, LocalOwners: &s.localOwners, Observe: s.observe, Waiting: s.statistics.Waiting, Streamed: s.partials.Expect,
			Presence: func(ctx context.Context, agent string, now time.Time) (registry.Presence, error) {
				return registry.PresenceOf(ctx, s.Ledger.Core, agent, now)
			},
		})
		s.stalls.own(shard, owner)
		err := owner.Run(ctx)
		s.stalls.own(shard, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if lost := s.watcher.AwaitFound(ctx); lost {
			continue // it had nothing to own
		}
		if errors.Is(err, supervisor.ErrNotOwner) {
			return err
		}
		s.log.Error().Err(err).Int("shard", shard).Msg("the shard's owner failed; starting it again")
		if backoff.Pause(ctx, restartAfter) != nil {
			return nil //nolint:nilerr // it was told to stop
		}
	}
}

// breaker returns when an agent is not asked any more.
func (s *Service) breaker(agent string) circuit.Policy {
	policy := s.agentOf(agent).Breaker
	return circuit.Policy{Failures: policy.Failures, Within: time.Duration(policy.Within), Open: time.Duration(policy.Open)}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return strings.ToLower(name)
}

// Close frees what Start has opened. Call it once Run has returned.
func (s *Service) Close() error {
	var failed error
	if s.listener != nil {
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failed = err
		}
	}
	for _, agent := range s.serving {
		if agent.worker != nil { // it was never served
			agent.worker.Close()
		}
	}
	for _, answers := range s.callbacks.answers {
		answers.drop(nil)
	}
	if s.Ledger != nil {
		if err := os.Remove(filepath.Join(s.settings.Ledger.Data, "instance.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
		if s.lease != nil {
			s.lease.Release()
		}
		failed = errors.Join(failed, s.Ledger.Close())
	}
	failed = errors.Join(failed, s.crashes.Close())
	if s.unlock != nil {
		failed = errors.Join(failed, s.unlock())
	}
	return failed
}
