package agent

import (
	"context"
	"errors"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
)

// heartbeat announces the agent, then tells the registry that it lives. A core
// that has forgotten the agent hears its announcement again. A process that cannot do its
// work announces nothing before it can: it says that it lives, and why not.
//
// Tried is called when the first announcement has come to something, refuse when
// the core will not have this process serve the agent.
func (s *server) heartbeat(ctx context.Context, tried func(), refuse context.CancelCauseFunc) {
	defer tried()
	select {
	case <-s.health.looked:
	case <-ctx.Done():
		return
	}
	var trouble backoff.Backoff
	for {
		service, body, err := s.sign()
		if err != nil {
			s.log.Error().Err(err).Msg("the agent's description cannot be announced")
			return
		}
		err = s.ask(ctx, service, body)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, bus.ErrRefused):
			s.log.Error().Err(err).Msg("the core does not have this process serve the agent")
			refuse(err)
			return
		case err == nil:
			s.announced = s.announced || service == bus.ServiceAnnounce
			trouble.Reset()
			tried()
			err = s.pause(ctx)
		case s.announced && !bus.Temporary(err):
			s.announced = false
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

// sign returns the next that the registry is to hear.
func (s *server) sign() (service string, body []byte, err error) {
	if problem, _ := s.health.get(); !s.announced && problem == "" {
		body, err = schemas.Marshal(s.config.Agent)
		return bus.ServiceAnnounce, body, err
	}
	body, err = s.alive(false)
	return bus.ServiceAlive, body, err
}

// pause waits until the next sign of life: sooner when the agent's health has changed.
func (s *server) pause(ctx context.Context) error {
	timer := time.NewTimer(s.config.Heartbeat)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.health.changed:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (s *server) ask(ctx context.Context, service string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := s.worker.Ask(ctx, service, body)
	return err
}
