package service

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/backoff"
	"podium/bus/jetstream/worker"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// serveAgainMax bounds the wait before an agent that cannot be served is tried again.
const serveAgainMax = 10 * time.Second

// wellAfter is how long an agent has to be served before an earlier problem of it
// counts as over: what the server refuses, it refuses at once.
const wellAfter = 3 * time.Second

// An inProcess is an agent that this process serves itself.
type inProcess struct {
	name  string
	serve func(ctx context.Context, worker *worker.Worker) error

	worker *worker.Worker // that Start has connected, until Run takes it

	problem atomic.Value // why it is not served, a string; empty when it is
	unwell  atomic.Value // why it cannot do its work by its own word, a string
}

// inProcessAgents lists the agents that this process serves, in order of name.
func (s *Service) inProcessAgents() []*inProcess {
	var own []*inProcess
	for _, name := range s.agentNames() {
		agent := &inProcess{name: name}
		switch h := s.handlers[name]; {
		case h != nil:
			agent.serve = func(ctx context.Context, worker *worker.Worker) error { return s.serveAgent(ctx, worker, agent, h) }
		case s.settings.Agents[name].Kind == config.KindSupervisor:
			agent.serve = func(ctx context.Context, worker *worker.Worker) error { return s.receive(ctx, worker, name) }
		default:
			continue // it joins from elsewhere
		}
		own = append(own, agent)
	}
	return own
}

// openCrashLog opens the crash log of this process. A disk that is full keeps no agent from being served.
func (s *Service) openCrashLog() {
	var err error
	if s.crashes, err = agent.OpenCrashLog(installation.CrashLogDirectory(s.settings.Ledger.Data), "podium", s.log); err != nil {
		s.log.Warn().Err(err).Msg("what agents work on is not noted; a request that ends the process is given out again after each start")
	}
}

// reservations keep these agents for this process.
func (s *Service) reservations() []registry.Reservation {
	reserved := make([]registry.Reservation, len(s.serving))
	for i, agent := range s.serving {
		reserved[i] = registry.Reservation{Agent: agent.name, Instance: s.instance}
	}
	return reserved
}

// connectAgents connects all of them, so that a server that does not know one is
// heard of before anything is taken. It may be repeated.
func (s *Service) connectAgents(ctx context.Context) error {
	for _, agent := range s.serving {
		if agent.worker != nil {
			continue
		}
		worker, err := s.Ledger.Worker(ctx, agent.name)
		if errors.Is(err, bus.ErrDenied) {
			return fmt.Errorf("agent %q cannot connect: %w; give it the user {nkey: %s} in the account of the agents, and start again",
				agent.name, err, s.Ledger.Keys.Agents[agent.name].Public)
		}
		if err != nil {
			return fmt.Errorf("agent %q cannot connect: %w", agent.name, err)
		}
		agent.worker = worker
	}
	return nil
}

// keepServing serves an agent until ctx ends. What ends it before that is logged
// and shown by /healthz, and it is tried again.
func (s *Service) keepServing(ctx context.Context, agent *inProcess) {
	for trouble := (backoff.Backoff{First: restartAfter, Most: serveAgainMax}); ; {
		began := time.Now()
		err := s.serveOnce(ctx, agent)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > serveAgainMax {
			trouble.Reset()
		}
		agent.problem.Store(err.Error())
		s.log.Error().Err(err).Str("agent", agent.name).Msg("the agent is not served; trying again")
		if trouble.Wait(ctx) != nil {
			return
		}
	}
}

func (s *Service) serveOnce(ctx context.Context, agent *inProcess) (err error) {
	worker := agent.worker
	agent.worker = nil
	if worker == nil {
		if worker, err = s.Ledger.Worker(ctx, agent.name); err != nil {
			return err
		}
	}
	defer worker.Close()
	well := time.AfterFunc(wellAfter, func() { agent.problem.Store("") })
	defer well.Stop()
	if err = agent.serve(ctx, worker); err == nil {
		err = errors.New("it stopped by itself")
	}
	return err
}

// external lists the agents that other processes may serve.
func (s *Service) external() map[string]installation.ExternalAgent {
	agents := map[string]installation.ExternalAgent{}
	for _, name := range s.agentNames() {
		if agent := s.settings.Agents[name]; agent.Kind == config.KindExternal && s.keyOf(name) != "" {
			agents[name] = installation.DescribeExternalAgent(&agent, s.settings.WorkDeadlines(name), installation.Absolute(s.Ledger.Keys.Agents[name].SeedFile))
		}
	}
	return agents
}

// agentHealth is an agent of this process on the health page.
type agentHealth struct {
	Name    string `json:"name"`
	Healthy bool   `json:"healthy"` // it takes requests; of mail, it has a server for its letters, too
	Problem string `json:"problem,omitempty"`
}

// agentHealth says whether each agent is served. Mail goes out by a server of the installation, as it comes in by one: while none of them answers, that is
// no better than a mailbox that is not read. What other agents need of others is their matter (ADR 71).
func (s *Service) agentHealth() []agentHealth {
	report := make([]agentHealth, len(s.serving))
	for i, agent := range s.serving {
		problem, _ := agent.problem.Load().(string)
		if why, _ := agent.unwell.Load().(string); problem == "" && agent.name == config.MailAgent {
			problem = why
		}
		report[i] = agentHealth{Name: agent.name, Healthy: problem == "", Problem: problem}
	}
	return report
}
