package agent

import (
	"context"
	"errors"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
)

// heartbeat announces the agent, then tells the registry that it lives. A core
// that has forgotten the agent hears its announcement again.
//
// Tried is called when the first announcement has come to something, refuse when
// the core will not have this process serve the agent.
func (s *server) heartbeat(ctx context.Context, tried func(), refuse context.CancelCauseFunc) {
	defer tried()
	announcement, err := schemas.Marshal(s.config.Agent)
	if err != nil {
		s.log.Error().Err(err).Msg("the agent's description cannot be announced")
		return
	}
	announced := false
	var trouble backoff.Backoff
	for {
		service, body := bus.ServiceAlive, []byte(s.config.Agent.Instance)
		if !announced {
			service, body = bus.ServiceAnnounce, announcement
		}
		err := s.ask(ctx, service, body)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, bus.ErrRefused):
			s.log.Error().Err(err).Msg("the core does not have this process serve the agent")
			refuse(err)
			return
		case err == nil:
			announced = true
			trouble.Reset()
			tried()
			err = backoff.Pause(ctx, s.config.Heartbeat)
		case announced && !bus.Temporary(err):
			announced = false
			continue
		default:
			tried()
			s.log.Warn().Err(err).Str("service", service).Msg("the core does not answer; trying again")
			err = trouble.Wait(ctx)
		}
		if err != nil {
			return
		}
	}
}

func (s *server) ask(ctx context.Context, service string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := s.worker.Ask(ctx, service, body)
	return err
}
