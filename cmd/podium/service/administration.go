package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/wholefile"
	"podium/bus/jetstream/discovery"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/schemas"
)

// membership is which external agents take part. One at a time comes or goes.
type membership struct {
	mu       sync.Mutex
	instance installation.Instance
	// taken are the agents that were taken in since the start, which the settings do not have.
	taken atomic.Pointer[map[string]config.Agent]
	stop  func() // ends the service by which the command line asks
}

// agentOf returns an agent of the configuration, or one that was taken in since.
func (s *Service) agentOf(name string) config.Agent {
	if agent, is := s.settings.Agents[name]; is {
		return agent
	}
	if taken := s.members.taken.Load(); taken != nil {
		return (*taken)[name]
	}
	return config.Agent{}
}

func (s *Service) agentNames() []string {
	names := slices.Collect(maps.Keys(s.settings.Agents))
	if taken := s.members.taken.Load(); taken != nil {
		names = slices.AppendSeq(names, maps.Keys(*taken))
	}
	slices.Sort(names)
	return names
}

// administer answers the command line, and whoever asks which services there are.
func (s *Service) administer() error {
	discovered, err := discovery.Serve(s.Ledger.Core, func(ctx context.Context) ([]registry.Entry, error) {
		entries, err := registry.List(ctx, s.Ledger.Core, time.Now())
		return slices.DeleteFunc(entries, func(entry registry.Entry) bool { return s.agentOf(entry.Name).Kind == config.KindPerson }), err
	}, s.numbers)
	if err != nil {
		return err
	}
	stop, err := s.Ledger.Core.Serve(installation.AdministrationSubject("*"), func(ctx context.Context, subject string, body []byte) ([]byte, error) {
		var asked installation.MemberRequest
		if err := schemas.Unmarshal(body, &asked); err != nil || !schemas.ValidAgentName(asked.Agent) {
			return nil, &bus.RefusedError{Reason: "it names no agent"}
		}
		done := installation.Member{Agent: asked.Agent}
		var err error
		switch subject {
		case installation.AdministrationSubject(installation.VerbAdd):
			err = s.takeIn(ctx, &done)
		case installation.AdministrationSubject(installation.VerbRevoke):
			err = s.revoke(ctx, &done, schemas.RevokedByOperator)
		default:
			err = &bus.RefusedError{Reason: "the running instance is of another version and does not know this"}
		}
		if err != nil {
			return nil, err
		}
		return schemas.Marshal(done)
	})
	if err != nil {
		discovered()
		return err
	}
	s.members.stop = func() {
		discovered()
		stop()
	}
	return nil
}

// numbers are what tools for services are told of an agent.
func (s *Service) numbers(agent string) discovery.Numbers {
	counted, now := s.statistics.Agent(agent), time.Now()
	told := discovery.Numbers{Requests: int(counted.Completed + counted.Failed), Errors: int(counted.Failed), Working: counted.Work.Sum(now)} //nolint:gosec // counts
	if counted.LastFailure != nil {
		told.LastError = string(counted.LastFailure.Cause)
	}
	return told
}

// takeIn has an external agent take part from now on. It may be repeated.
func (s *Service) takeIn(ctx context.Context, done *installation.Member) error {
	s.members.mu.Lock()
	defer s.members.mu.Unlock()
	name := done.Agent
	fresh, err := s.readAgain(name)
	if err != nil {
		return err
	}
	agent := s.agentOf(name)
	if agent.Kind == "" {
		agent = fresh.Agents[name]
	}
	if err = s.Ledger.Core.Declare(ctx, name, bus.Pool{Size: agent.Concurrency, AckWait: AckWait}); err != nil {
		return err
	}
	if err = s.Ledger.Core.Halt(ctx, name, false); err != nil {
		return err
	}
	if err = s.openedGate.Admit(ctx, name); err != nil {
		return err
	}
	key, err := s.admitKey(name)
	if err != nil {
		return err
	}
	if _, known := s.settings.Agents[name]; !known {
		taken := map[string]config.Agent{}
		if before := s.members.taken.Load(); before != nil {
			taken = maps.Clone(*before)
		}
		taken[name] = agent
		s.members.taken.Store(&taken)
	}
	if err = registry.Configure(ctx, s.Ledger.Core, s.policies()); err != nil {
		return err
	}
	if err = registry.Readmit(ctx, s.Ledger.Core, s.standing, name); err != nil {
		return err
	}
	done.Seed, done.Public = installation.Absolute(key.SeedFile), key.Public
	if done.Profiles, done.Waiting, err = s.replaceProfiles(ctx, fresh, name); err != nil {
		return err
	}
	s.log.Info().Str("agent", name).Msg("an external agent is taken in")
	s.members.instance.Agents = s.agentNames()
	s.members.instance.External[name] = installation.DescribeExternalAgent(&agent, fresh.WorkDeadlines(name), done.Seed)
	return s.tellMembers(done)
}

// readAgain returns the configuration as its file has it now, for an agent that may be taken in.
func (s *Service) readAgain(name string) (*config.Config, error) {
	known := s.agentOf(name)
	if known.Kind != "" && known.Kind != config.KindExternal {
		return nil, &bus.RefusedError{Reason: fmt.Sprintf("the running instance serves %s itself, as kind %s; external agents are taken in", name, known.Kind)}
	}
	if s.settings.File() == "" {
		if known.Kind == "" {
			return nil, &bus.RefusedError{Reason: "this instance has no podium.yaml: its agents are those that it was started with"}
		}
		return s.settings, nil
	}
	fresh, err := config.Load(s.settings.File())
	if err != nil {
		return nil, &bus.RefusedError{Reason: fmt.Sprintf("%s cannot be read as it stands now: %v", s.settings.File(), err)}
	}
	switch agent := fresh.Agents[name]; agent.Kind { //nolint:exhaustive // all others run here
	case config.KindExternal:
		return fresh, nil
	case "":
		return nil, &bus.RefusedError{Reason: fmt.Sprintf("there is no agent %s in %s. Add to agents: `%s: {kind: external}`, and %s to the agents of each profile that is to ask it; then add it again",
			name, s.settings.File(), name, name)}
	default:
		return nil, &bus.RefusedError{Reason: fmt.Sprintf("%s has %s as kind %s, which the instance runs itself from its next start on; external agents are taken in", s.settings.File(), name, agent.Kind)}
	}
}

// admitKey lets an agent connect where the server is ours, else it makes the key by which the server is to know it.
func (s *Service) admitKey(name string) (embedded.Key, error) {
	if s.Ledger.Server != nil {
		return s.Ledger.Server.Admit(name)
	}
	return embedded.Reinstate(installation.CredentialsDir(s.Ledger.Data), name)
}

// replaceProfiles brings the profiles into force that name an agent, as the file has them now. Waiting are those that
// name another one that does not take part yet.
func (s *Service) replaceProfiles(ctx context.Context, fresh *config.Config, name string) (replaced, waiting []string, err error) {
	var sources []schemas.Profile
	for _, profile := range slices.Sorted(maps.Keys(fresh.Profiles)) {
		source := fresh.Profile(profile)
		if s.Profiles.Current(profile) == nil || !slices.ContainsFunc(source.Agents, func(use schemas.AgentUse) bool { return use.Name == name }) {
			continue
		}
		if slices.ContainsFunc(source.Agents, func(use schemas.AgentUse) bool { return s.agentOf(use.Name).Kind == "" }) {
			waiting = append(waiting, profile)
			continue
		}
		replaced, sources = append(replaced, profile), append(sources, source)
	}
	return replaced, waiting, s.Profiles.Replace(ctx, sources)
}

// revoke cuts an external agent off.
func (s *Service) revoke(ctx context.Context, done *installation.Member, reason schemas.RevocationReason) error {
	s.members.mu.Lock()
	defer s.members.mu.Unlock()
	name := done.Agent
	if kind := s.agentOf(name).Kind; kind != config.KindExternal {
		if kind == "" {
			return &bus.RefusedError{Reason: "there is no agent " + name + "; podium agents lists them"}
		}
		return &bus.RefusedError{Reason: fmt.Sprintf("the running instance serves %s itself, as kind %s; take it out of podium.yaml and restart", name, kind)}
	}
	revocation := schemas.Revocation{At: time.Now().UTC(), Reason: reason, Key: s.keyOf(name)}
	if err := registry.Revoke(ctx, s.Ledger.Core, s.standing, name, revocation); err != nil {
		return err
	}
	s.openedGate.Expel(name)
	err := errors.Join(s.expelKey(name), s.Ledger.Core.Halt(ctx, name, true))
	if err != nil {
		return err
	}
	s.log.Warn().Str("agent", name).Str("reason", string(reason)).Msg("an external agent is revoked, and cut off")
	delete(s.members.instance.External, name)
	return s.tellMembers(done)
}

func (s *Service) keyOf(name string) string {
	if s.Ledger.Server != nil {
		return s.Ledger.Server.Keys().Agents[name].Public
	}
	return s.Ledger.Keys.Agents[name].Public
}

func (s *Service) expelKey(name string) error {
	if s.Ledger.Server != nil {
		return s.Ledger.Server.Expel(name)
	}
	return embedded.Retire(installation.CredentialsDir(s.Ledger.Data), name)
}

// tellMembers tells the other verbs who takes part, and a server of somebody's own by a file.
func (s *Service) tellMembers(done *installation.Member) error {
	if s.Ledger.Server == nil {
		external := slices.DeleteFunc(s.agentNames(), func(name string) bool { return s.agentOf(name).Kind != config.KindExternal })
		keys, err := installation.Keys(s.settings.Ledger, slices.DeleteFunc(s.agentNames(), func(name string) bool { return s.agentOf(name).Kind == config.KindPerson }))
		if err != nil {
			return err
		}
		text, err := keys.Accounts(external...).Config()
		if err != nil {
			return err
		}
		done.Accounts = installation.Absolute(filepath.Join(s.Ledger.Data, "accounts.conf"))
		if err = wholefile.Replace(done.Accounts, []byte(text)); err != nil {
			return err
		}
	}
	return s.members.instance.Write()
}

// revokeFlooders cuts off who floods the gate, until ctx ends.
func (s *Service) revokeFlooders(ctx context.Context) error {
	for {
		select {
		case agent := <-s.gate.Floods():
			bounded, stop := context.WithTimeout(ctx, revokeWait)
			if err := s.revoke(bounded, &installation.Member{Agent: agent}, schemas.RevokedForFlood); err != nil && ctx.Err() == nil {
				s.log.Error().Err(err).Str("agent", agent).Msg("an agent that floods the ledger could not be revoked; it is tried again while it goes on")
			}
			stop()
		case <-ctx.Done():
			return nil
		}
	}
}

// revokeWait bounds a revocation.
const revokeWait = 30 * time.Second

// keepOut cuts off again whom the record says to be revoked, in case that an earlier start did not come to it, and
// returns the external agents that take part.
func (s *Service) keepOut(ctx context.Context) (external []string, err error) {
	revoked, err := registry.Revocations(ctx, s.Ledger.Core)
	if err != nil {
		return nil, err
	}
	for _, name := range s.settings.AgentNames(true) {
		if _, is := revoked[name]; !is {
			external = append(external, name)
			continue
		}
		if err = s.expelKey(name); err == nil {
			err = s.Ledger.Core.Halt(ctx, name, true)
		}
		if err != nil {
			return nil, err
		}
	}
	return external, nil
}
