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

// forwarder moves the answers of agents that ignore replyto. What the command
// line asks for is answered under the name of every supervisor.
func (s *Service) forwarder() *gateway.Forwarder {
	supervisors := []string{session.Supervisor}
	for _, name := range s.agentNames() {
		if s.settings.Agents[name].Kind == config.KindSupervisor {
			supervisors = append(supervisors, name)
		}
	}
	return &gateway.Forwarder{Core: s.Ledger.Core, Log: s.log, Supervisors: supervisors}
}

// receive takes over the requests to one supervisor until ctx ends.
func (s *Service) receive(ctx context.Context, worker bus.Worker, name string) error {
	configured := s.settings.Agents[name]
	receiver := gateway.Receiver{
		Core: s.Ledger.Core, Worker: worker, Profile: configured.Profile,
		Serve: agent.ServeConfig{
			Agent:       schemas.Agent{Description: configured.Description, Instance: s.instance, ID: ownInstance},
			Concurrency: configured.Concurrency, AckWait: AckWait, DrainTimeout: drainTimeout, Log: s.log,
		},
	}
	return receiver.Run(ctx)
}
