package bench

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/jetstream/barebus"
	"podium/bus/jetstream/worker"
)

// connectAgents connects those of a workload's agents that have a key.
func connectAgents(ctx context.Context, given assignment, work workload, log zerolog.Logger) (duty, error) {
	workers := make(map[string]*worker.Worker, len(given.Seeds))
	closeAll := func() {
		for _, worker := range workers {
			worker.Close()
		}
	}
	for name, seed := range given.Seeds {
		worker, err := worker.Connect(ctx, worker.Config{
			URL: given.URL, SeedFile: seed, Agent: name, Logger: log,
		})
		if err != nil {
			closeAll()
			return duty{}, err
		}
		workers[name] = worker
	}
	return duty{work: func(ctx context.Context) error {
		defer closeAll()
		var serving errgroup.Group
		for name, worker := range workers {
			serving.Go(func() error {
				return agent.Serve(ctx, worker, work.agents[name], agent.ServeConfig{Concurrency: given.Concurrency, AckWait: ackWait, Log: log})
			})
		}
		return serving.Wait()
	}}, nil
}

// connectBareAgents makes the agents of the bare bus answer each task as an
// agent of Podium once did.
func connectBareAgents(ctx context.Context, given assignment) (duty, error) {
	var clients []*barebus.Client
	closeAll := func() error {
		var failed error
		for _, client := range clients {
			failed = errors.Join(failed, client.Close())
		}
		return failed
	}
	answer := func(request bus.Message) bus.Message {
		number, task := about(request)
		return addressed(given.Responses[task], first(request.Header, replyHeader), number, task)
	}
	failures := make(chan error, 1)
	failed := func(err error) {
		select {
		case failures <- err:
		default: // one is enough
		}
	}
	for name, seed := range given.Seeds {
		client, err := barebus.ConnectAgent(given.URL, seed, name)
		if err != nil {
			return duty{}, errors.Join(err, closeAll())
		}
		clients = append(clients, client)
		if err = client.Answer(ctx, name, given.Concurrency, answer, failed); err != nil {
			return duty{}, errors.Join(err, closeAll())
		}
	}
	return duty{work: func(ctx context.Context) error {
		select {
		case err := <-failures:
			return errors.Join(err, closeAll())
		case <-ctx.Done():
			return closeAll()
		}
	}}, nil
}
