package embedded

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// ErrOwn reports an agent that this process runs itself: it neither comes nor goes while the server runs.
var ErrOwn = errors.New("the agent is one of this process")

// Admit lets an external agent connect from now on, with a key that is made unless it has one. Nobody else's connection
// is touched.
func (s *Server) Admit(agent string) (Key, error) {
	if slices.Contains(s.config.Agents, agent) {
		return Key{}, fmt.Errorf("%s: %w", agent, ErrOwn)
	}
	s.members.Lock()
	defer s.members.Unlock()
	key, err := Reinstate(filepath.Join(s.config.Dir, credentialDir), agent)
	if err != nil {
		return Key{}, err
	}
	keys := Keys{Core: s.keys.Core, Agents: maps.Clone(s.keys.Agents)}
	keys.Agents[agent] = key
	external := s.config.External
	if !slices.Contains(external, agent) {
		external = append(slices.Clone(external), agent)
	}
	return key, s.reload(keys, external)
}

// Expel cuts an external agent off at once: its key is destroyed, its connections end, and no start lets it in again.
func (s *Server) Expel(agent string) error {
	if slices.Contains(s.config.Agents, agent) {
		return fmt.Errorf("%s: %w", agent, ErrOwn)
	}
	s.members.Lock()
	defer s.members.Unlock()
	if err := Retire(filepath.Join(s.config.Dir, credentialDir), agent); err != nil {
		return err
	}
	keys := Keys{Core: s.keys.Core, Agents: maps.Clone(s.keys.Agents)}
	delete(keys.Agents, agent)
	return s.reload(keys, slices.DeleteFunc(slices.Clone(s.config.External), func(one string) bool { return one == agent }))
}

// reload tells the server who may connect. A server that is being started anew is told when it starts.
func (s *Server) reload(keys Keys, external []string) error {
	for range reloads {
		if s.reached.Load() == nil {
			break
		}
		options, err := s.options(s.server.Addr().String(), keys, external)
		if err != nil {
			return err
		}
		if err = s.server.ReloadOptions(options); err != nil {
			return fmt.Errorf("tell the server who may connect: %w", err)
		}
	}
	s.keys, s.config.External = keys, external
	return nil
}

// reloads is how often nats-server has to be told of a new account until that reaches what it imports: it subscribes to
// that only for accounts which it had before.
const reloads = 2

// external lists the external agents that may connect, and their names by their public keys.
func (s *Server) external() (agents []string, names map[string]string) {
	s.members.Lock()
	defer s.members.Unlock()
	names = make(map[string]string, len(s.config.External))
	for _, name := range s.config.External {
		names[s.keys.Agents[name].Public] = name
	}
	return s.config.External, names
}
