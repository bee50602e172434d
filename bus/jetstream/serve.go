package jetstream

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	servers    = "podium" // the queue group: one process of the core answers
	underWay   = 64       // answers at a time, per service
	answerWait = requestWait

	// errorHeader is where an answer tells its error, as in NATS services.
	errorHeader     = "Nats-Service-Error"
	errorCodeHeader = "Nats-Service-Error-Code"
)

// A service answers requests.
type service struct {
	core         *Core
	subscription *nats.Subscription
	answer       func(ctx context.Context, subject string, body []byte) ([]byte, error)
	slots        chan struct{}

	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// Serve implements bus.Core. When several processes of the core serve a subject,
// one of them answers.
func (c *Core) Serve(subject string, answer func(ctx context.Context, subject string, body []byte) ([]byte, error)) (stop func(), err error) {
	s := &service{core: c, answer: answer, slots: make(chan struct{}, underWay)}
	if err := c.register(s); err != nil {
		return nil, err
	}
	if s.subscription, err = c.connection.QueueSubscribe(subject, servers, s.receive); err == nil {
		err = c.connection.Flush() // or the first request might find nobody
	}
	if err != nil {
		s.Close()
		return nil, classify("serve", err)
	}
	return s.Close, nil
}

func (s *service) receive(m *nats.Msg) {
	s.slots <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // the asker's wait ends without an answer, as with no service
		<-s.slots
		return
	}
	s.running.Go(func() {
		defer func() { <-s.slots }()
		s.respond(m)
	})
}

func (s *service) respond(m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWait)
	defer cancel()
	body, err := s.answer(ctx, m.Subject, m.Data)
	if m.Reply == "" {
		return
	}
	reply := nats.NewMsg(m.Reply)
	reply.Data = body
	if err == nil {
		err = s.core.connection.PublishMsg(reply)
	}
	if err != nil { // of the answer, or because it is too large
		reply.Data = nil
		reply.Header = nats.Header{errorHeader: {oneLine(err.Error())}, errorCodeHeader: {"500"}}
		if err := s.core.connection.PublishMsg(reply); err != nil {
			s.core.logger.Warn().Err(err).Msg("an answer to an agent was lost")
		}
	}
}

// Close ends the service and waits for answers under way.
func (s *service) Close() {
	if s.subscription != nil {
		_ = s.subscription.Unsubscribe()
	}
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.running.Wait()
	s.core.unregister(s)
}

// oneLine makes a text fit for a header.
func oneLine(text string) string {
	line := []byte(text)
	for i, b := range line {
		if b < ' ' {
			line[i] = ' '
		}
	}
	return string(line)
}
