package service

import (
	"context"

	"podium/bus"
	"podium/bus/agent"
	"podium/cmd/podium/config"
	"podium/schemas"
	"podium/supervisor/gateway"
	"podium/supervisor/session"
)

// supervisors lists the agents that are supervisors, in lexical order.
func (s *Service) supervisors() []string {
	var names []string
	for _, name := range s.agentNames() {
		if s.settings.Agents[name].Kind == config.KindSupervisor {
			names = append(names, name)
		}
	}
	return names
}

// forwarder moves the answers of agents that ignore replyto. What the command
// line asks for is answered under the name of every supervisor.
func (s *Service) forwarder() *gateway.Forwarder {
	return &gateway.Forwarder{
		Core: s.Ledger.Core, Log: s.log, Supervisors: append(s.supervisors(), session.Supervisor),
	}
}

// receive takes over the requests to one supervisor until ctx ends.
func (s *Service) receive(ctx context.Context, worker bus.Worker, name string) error {
	configured := s.settings.Agents[name]
	receiver := gateway.Receiver{
		Core: s.Ledger.Core, Worker: worker, Profile: configured.Profile,
		Serve: agent.ServeConfig{
			Agent:       schemas.Agent{Description: configured.Description, Instance: s.instance},
			Concurrency: configured.Concurrency, AckWait: AckWait, DrainTimeout: drainTimeout, Log: s.log,
		},
	}
	return receiver.Run(ctx)
}
