package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"podium/bus"
)

type service struct {
	pattern string
	answer  func(ctx context.Context, subject string, body []byte) ([]byte, error)
	under   sync.WaitGroup // answers under way
}

// errNobody is what an asker meets when no service is there.
var errNobody = errors.New("nobody answers")

// Serve implements bus.Core. The first service that was registered for a
// subject answers, in the goroutine that asks.
func (l *Ledger) Serve(subject string, answer func(ctx context.Context, subject string, body []byte) ([]byte, error)) (stop func(), err error) {
	s := &service{pattern: subject, answer: answer}
	l.mu.Lock()
	l.services = append(l.services, s)
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.services = slices.DeleteFunc(l.services, func(other *service) bool { return other == s })
		l.mu.Unlock()
		s.under.Wait()
	}, nil
}

// Ask implements bus.Worker.
func (w *Worker) Ask(ctx context.Context, name string, body []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	subject := bus.ServiceSubject(w.agent, name)
	s := w.ledger.enter(subject)
	if s == nil {
		return nil, &bus.TemporaryError{Op: "ask " + subject, Err: errNobody}
	}
	defer s.under.Done()
	answer, err := s.answer(ctx, subject, slices.Clone(body))
	if refused, ok := errors.AsType[*bus.RefusedError](err); ok {
		return nil, fmt.Errorf("ask %s: %w", subject, &bus.RefusedError{Reason: refused.Reason})
	}
	if bus.Temporary(err) {
		return nil, &bus.TemporaryError{Op: "ask " + subject, Err: errors.New(err.Error())}
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %s", subject, err) //nolint:errorlint // only its text reaches the asker
	}
	return slices.Clone(answer), nil
}

func (l *Ledger) enter(subject string) *service {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.services {
		if Match(s.pattern, subject) {
			s.under.Add(1)
			return s
		}
	}
	return nil
}
