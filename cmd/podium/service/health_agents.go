package service

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"podium/bus/backoff"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/ledgerwatch"
	"podium/schemas"
	"podium/supervisor/session"
)

// presentFor is how long what was found out about the agents is told again: the
// page is for everybody who reaches it.
const presentFor = time.Second

// A servedAgent is one agent of the configuration on the pages about agents.
type servedAgent struct {
	Name string           `json:"name"`
	Kind config.AgentKind `json:"kind"`
	// State, Served, Instances and Required are absent where it is people who are asked.
	State     schemas.AgentState `json:"state,omitempty"`
	Required  bool               `json:"required,omitempty"`
	Served    *bool              `json:"served,omitempty"`
	Instances int                `json:"instances,omitempty"` // processes that are alive
	// People are who that is.
	People []string `json:"people,omitempty"`
	// Problem is why it cannot do its work at this moment, such as a tool that is not the one that was agreed to. Of what
	// somebody else runs it is said that it says so; its own words stand in podium agents.
	Problem string `json:"problem,omitempty"`
	// LastSeen is its newest sign of life; while nobody serves it, since when that
	// is so. Absent is never.
	LastSeen time.Time `json:"last_seen,omitzero"`

	queued   uint64 // requests that nobody has taken
	inFlight int    // requests that somebody has
}

// well reports whether the installation is not held up by it.
func (a *servedAgent) well() bool { return !a.Required || a.State == schemas.AgentOK }

// present is the newest report about the agents.
type present struct {
	mu     sync.Mutex
	at     time.Time
	agents []servedAgent
	err    error
}

// servedAgents says of every agent of the configuration whether anybody serves it.
func (s *Service) servedAgents(ctx context.Context) ([]servedAgent, error) {
	s.present.mu.Lock()
	defer s.present.mu.Unlock()
	if now := time.Now(); now.Sub(s.present.at) >= presentFor {
		s.present.agents, s.present.err = s.lookAfterAgents(ctx, now)
		s.present.at = time.Now()
	}
	return s.present.agents, s.present.err
}

// people are who is asked by agents that are people, by the agent's name.
func (s *Service) people() map[string][]string {
	people := map[string][]string{}
	for name, agent := range s.settings.Agents {
		if agent.Kind == config.KindPerson {
			people[name] = agent.People
		}
	}
	return people
}

func (s *Service) lookAfterAgents(ctx context.Context, now time.Time) ([]servedAgent, error) {
	entries, err := registry.List(ctx, s.Ledger.Core, now)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*registry.Entry, len(entries))
	for i := range entries {
		known[entries[i].Name] = &entries[i]
	}
	found := make([]servedAgent, 0, len(s.settings.Agents))
	people := s.people()
	for _, name := range s.agentNames() {
		if asked, is := people[name]; is {
			found = append(found, servedAgent{Name: name, Kind: config.KindPerson, People: asked})
			continue
		}
		if entry := known[name]; entry != nil {
			found = append(found, s.servedAgent(entry, now))
		}
	}
	return found, nil
}

// servedAgent is what the pages say of an agent.
func (s *Service) servedAgent(entry *registry.Entry, now time.Time) servedAgent {
	presence := entry.Presence(now)
	agent := servedAgent{
		Name: entry.Name, Kind: s.agentOf(entry.Name).Kind, State: entry.State, Required: entry.Required,
		Served: &presence.Served, LastSeen: presence.LastSeen, Instances: entry.Alive(now), Problem: s.unwell(entry.Name),
	}
	if entry.Pool != nil {
		agent.queued, agent.inFlight = entry.Pool.Pending, entry.Pool.Working
	}
	if agent.Problem == "" && entry.State == schemas.AgentDegraded && agent.Kind == config.KindExternal {
		agent.Problem = "by its own word it cannot do its work at present; podium agents has its words"
	}
	return agent
}

// unwell is why an agent of this process cannot do its work at this moment, by its own word; empty when it can.
func (s *Service) unwell(name string) string {
	for _, agent := range s.serving {
		if agent.name == name {
			why, _ := agent.unwell.Load().(string)
			return why
		}
	}
	return ""
}

// policies are what the registry is told of the agents.
func (s *Service) policies() []registry.Policy {
	names := s.agentNames()
	policies := make([]registry.Policy, len(names))
	for i, name := range names {
		policies[i] = policyOf(name, s.agentOf(name))
	}
	return policies
}

// policyOf is what the registry is told of an agent of the configuration.
func policyOf(name string, agent config.Agent) registry.Policy {
	policy := registry.Policy{Agent: agent.Policy(), Required: agent.Required, External: agent.Kind == config.KindExternal}
	policy.Name = name
	return policy
}

const (
	// keepStatisticsEvery is how much of the figures about agents a crash may take.
	keepStatisticsEvery = 5 * time.Second
	// keepWait bounds the writing of them.
	keepWait = 5 * time.Second
)

// observe takes a record that was stored, and the state of its session before.
func (s *Service) observe(before *session.State, record *schemas.Record) {
	s.Activity.Observe(before, record)
	s.statistics.Observe(before, record)
}

// keepStatistics writes the figures about agents from time to time, and once more when ctx ends.
func (s *Service) keepStatistics(ctx context.Context) {
	keep := func() {
		bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), keepWait)
		defer stop()
		if err := s.statistics.Write(bounded, time.Now()); err != nil {
			s.log.Warn().Err(err).Msg("the figures about agents are not kept yet")
		}
	}
	backoff.Every(ctx, keepStatisticsEvery, keep)
	keep()
}

// lookAfterAgentsEvery is how soon it is told that an agent has come or gone.
const lookAfterAgentsEvery = 5 * time.Second

// tellOfAgents tells whoever looks on when an agent has come or gone.
func (s *Service) tellOfAgents(ctx context.Context) error {
	served := map[string]bool{}
	backoff.Every(ctx, lookAfterAgentsEvery, func() {
		if !s.Activity.Shown() {
			return
		}
		agents, err := s.servedAgents(ctx)
		if err != nil {
			return // that is the ledger's, and told of it
		}
		for i := range agents {
			agent := &agents[i]
			if agent.Served == nil {
				continue
			}
			is := *agent.Served
			was, known := served[agent.Name]
			served[agent.Name] = is
			switch {
			case is && known && !was:
				s.Activity.Back(agent.Name)
			case !is && (was || !known):
				s.Activity.Gone(agent.Name, agent.LastSeen)
			}
		}
	})
	return nil
}

// agentsPage answers with the agents and how each is; 503 when that is not known, because the ledger does not answer,
// or one is not well without which the installation is not.
func (s *Service) agentsPage(w http.ResponseWriter, r *http.Request) {
	report := struct {
		OK     bool          `json:"ok"`
		Agents []servedAgent `json:"agents"`
		Ledger string        `json:"ledger,omitempty"`
	}{Agents: []servedAgent{}}
	agents, err := s.agentsNow(r)
	if err == nil {
		report.Agents = agents
		report.OK = !slices.ContainsFunc(agents, func(agent servedAgent) bool { return !agent.well() })
	} else {
		report.Ledger = ledgerwatch.Silent
	}
	answer(w, report.OK, report, s.log)
}

// agentPage answers with one agent, in the same way.
func (s *Service) agentPage(w http.ResponseWriter, r *http.Request) {
	agents, err := s.agentsNow(r)
	if err != nil {
		answer(w, false, struct {
			Ledger string `json:"ledger"`
		}{ledgerwatch.Silent}, s.log)
		return
	}
	at := slices.IndexFunc(agents, func(agent servedAgent) bool { return agent.Name == r.PathValue("name") })
	if at < 0 {
		http.Error(w, "there is no such agent; GET /health lists them", http.StatusNotFound)
		return
	}
	answer(w, agents[at].well(), agents[at], s.log)
}

func (s *Service) agentsNow(r *http.Request) ([]servedAgent, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second) // others are told the same
	defer stop()
	return s.servedAgents(ctx)
}
