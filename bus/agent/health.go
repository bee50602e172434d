package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
)

// health is whether the handler could do its work, as it said last.
type health struct {
	looked  chan struct{} // closed once it is known
	changed chan struct{} // holds a value when it is another than was told

	mu      sync.Mutex
	problem string
	answers bool // although there is one
}

func (h *health) set(problem string, answers bool) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if changed = h.problem != problem || h.answers != answers; changed {
		h.problem, h.answers = problem, answers
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}
	return changed
}

func (h *health) get() (problem string, answers bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.problem, h.answers
}

// StillAnswers returns the error of a Check after which the agent is asked all the same: it says itself what is wrong,
// and what to do. Its text is that of the other.
func StillAnswers(err error) error { return &answeringError{err} }

type answeringError struct{ err error }

func (e *answeringError) Error() string { return e.err.Error() }
func (e *answeringError) Unwrap() error { return e.err }

// lookAfterHealth asks the handler whether it could do its work, until ctx ends.
func (s *server) lookAfterHealth(ctx context.Context) {
	checker, is := s.handler.(Checker)
	if !is {
		close(s.health.looked)
		return
	}
	for first := true; ; first = false {
		err := s.check(ctx, checker)
		if ctx.Err() != nil {
			return
		}
		problem, every := "", s.config.CheckEvery
		if err != nil {
			problem, every = err.Error(), min(every, s.config.Heartbeat)
		}
		_, answers := errors.AsType[*answeringError](err)
		if s.health.set(problem, answers) {
			if err != nil {
				s.log.Warn().Err(err).Bool("asked", answers).Msg("the agent cannot do its work at present")
			} else {
				s.log.Info().Msg("the agent can do its work again")
			}
			if s.config.Health != nil {
				s.config.Health(err)
			}
		}
		if first {
			close(s.health.looked)
		}
		if backoff.Pause(ctx, every) != nil {
			return
		}
	}
}

func (s *server) check(ctx context.Context, checker Checker) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.CheckTimeout)
	defer cancel()
	return checker.Check(ctx)
}

// alive is what a sign of life says.
func (s *server) alive(leaving bool) ([]byte, error) {
	problem, answers := s.health.get()
	return schemas.Marshal(schemas.Alive{
		ID: s.config.Agent.ID, Instance: s.config.Agent.Instance, Problem: problem, Answers: answers, Leaving: leaving,
	})
}

// leaveWait bounds the word that the process ends, which may be missed.
const leaveWait = time.Second

// leave tells the registry that this process serves the agent no more.
func (s *server) leave(ctx context.Context) {
	body, err := s.alive(true)
	if err != nil || !s.announced {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
	defer cancel()
	if _, err = s.worker.Ask(ctx, bus.ServiceAlive, body); err != nil {
		s.log.Debug().Err(err).Msg("the registry has not heard that the process ends")
	}
}
