package service

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	agenthttp "podium/agents/http"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/jetstream/worker"
	"podium/ingest/callback"
)

// callbacks are what the calls of asynchronous agents and the adapter of their answers have in common.
type callbacks struct{ answers []*callbackAnswers }

// asyncAgents lists the agents that answer by callback, in order of name.
func (s *Service) asyncAgents() []string {
	return slices.DeleteFunc(s.agentNames(), func(name string) bool { return !s.settings.Agents[name].Async })
}

// callbackAddress returns what gives each call of an agent the address of its callback; nil for one that answers at once.
func (s *Service) callbackAddress(name string) func(request *agent.Request) (string, error) {
	if !s.settings.Agents[name].Async {
		return nil
	}
	return func(request *agent.Request) (string, error) {
		ticket := request.Ticket()
		token, err := ticket.Seal(s.keys, name)
		if err != nil {
			return "", err
		}
		bound, err := netip.ParseAddrPort(s.listener.Addr().String())
		return s.settings.HTTP.Callbacks(bound) + "/v1/agents/" + name + "/answer/" + token, err
	}
}

// openCallbackAdapter opens the adapter that takes the answers of asynchronous agents.
func (s *Service) openCallbackAdapter() (*callback.Adapter, error) {
	agents := map[string]callback.Agent{}
	for _, name := range s.asyncAgents() {
		configured := s.settings.Agents[name]
		answers := &callbackAnswers{
			config:  s.serveConfig(configured, s.handlers[name]),
			connect: func(ctx context.Context) (*worker.Worker, error) { return s.Ledger.Worker(ctx, name) },
		}
		s.callbacks.answers = append(s.callbacks.answers, answers)
		agents[name] = callback.Agent{Secret: string(configured.Secret), Answer: answers.answer}
	}
	return callback.New(callback.Config{
		Agents: agents, Open: func(ctx context.Context, name, token string) (agent.Ticket, error) {
			return agent.OpenTicket(ctx, s.keys, name, token)
		},
	}, s.log)
}

// callbackAnswers publishes the answers of one agent, as that agent: by a connection with its key, from the first
// answer on.
type callbackAnswers struct {
	config  agent.ServeConfig
	connect func(ctx context.Context) (*worker.Worker, error)

	mu       sync.Mutex
	worker   *worker.Worker
	answerer *agent.Answerer
}

func (c *callbackAnswers) answer(ctx context.Context, ticket *agent.Ticket, said []byte, mediaType string) error {
	answerer, by, err := c.open(ctx)
	if err != nil {
		return err
	}
	err = answerer.Answer(ctx, ticket, said, mediaType)
	if bus.IsAny(err, bus.ErrClosed, bus.ErrDenied) {
		c.drop(by)
	}
	return err
}

// open connects, if that is not done yet.
func (c *callbackAnswers) open(ctx context.Context) (*agent.Answerer, *worker.Worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answerer != nil {
		return c.answerer, c.worker, nil
	}
	connected, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	answerer, err := agent.NewAnswerer(connected, c.config, agenthttp.DefaultMaxFiles)
	if err != nil {
		connected.Close()
		return nil, nil, err
	}
	c.worker, c.answerer = connected, answerer
	return answerer, connected, nil
}

// drop closes a connection that is of no more use; nil is the one that there is.
func (c *callbackAnswers) drop(by *worker.Worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.worker != nil && (by == nil || by == c.worker) {
		c.worker.Close()
		c.worker, c.answerer = nil, nil
	}
}
