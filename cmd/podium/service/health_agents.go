package service

import (
	"context"
	"net/http"
	"sync"
	"time"

	"podium/bus/backoff"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/ledgerwatch"
)

// presentFor is how long what was found out about the agents is told again: the
// page is for everybody who reaches it.
const presentFor = time.Second

// A servedAgent is one agent of the configuration on the page about agents.
type servedAgent struct {
	Name string           `json:"name"`
	Kind config.AgentKind `json:"kind"`
	// Served is absent where it is people who are asked.
	Served *bool `json:"served,omitempty"`
	// People are who that is.
	People []string `json:"people,omitempty"`
	// Problem is why what it works by cannot be used at this moment, such as a tool that is not the one that was agreed to.
	Problem string `json:"problem,omitempty"`
	// LastSeen is its newest sign of life; while nobody serves it, since when that
	// is so. Absent is never.
	LastSeen time.Time `json:"last_seen,omitzero"`
}

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
	found := make([]servedAgent, 0, len(s.settings.Agents))
	people := s.people()
	for _, name := range s.agentNames() {
		if asked, is := people[name]; is {
			found = append(found, servedAgent{Name: name, Kind: config.KindPerson, People: asked})
			continue
		}
		presence, err := registry.PresenceOf(ctx, s.Ledger.Core, name, now)
		if err != nil {
			return nil, err
		}
		found = append(found, servedAgent{
			Name: name, Kind: s.settings.Agents[name].Kind, Served: &presence.Served, LastSeen: presence.LastSeen, Problem: s.unwell(name),
		})
	}
	return found, nil
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

// agentsPage answers with the agents and whether anybody serves them; 503 when that
// is not known, because the ledger does not answer.
func (s *Service) agentsPage(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second) // others are told the same
	defer stop()
	report := struct {
		Agents []servedAgent `json:"agents"`
		Ledger string        `json:"ledger,omitempty"`
	}{Agents: []servedAgent{}}
	agents, err := s.servedAgents(ctx)
	if err == nil {
		report.Agents = agents
	} else {
		report.Ledger = ledgerwatch.Silent
	}
	answer(w, err == nil, report, s.log)
}
