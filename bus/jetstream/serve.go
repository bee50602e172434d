package jetstream

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

const (
	servers    = "podium" // the queue group: one process of the core answers
	answerWait = wire.RequestWait

	// Answers under way of a service, over all subjects and of one, and what may wait
	// for them on one subject. An agent has a subject of its own, so that one that asks
	// without end holds up nobody else.
	underWay          = 64
	underWayOfSubject = 8
	waitingOfSubject  = 256
	waitingBytes      = 16 << 20
)

// errBusy is told to who asks faster than it is answered.
var errBusy = &bus.TemporaryError{Op: "answer", Err: errors.New("too many questions wait for an answer; ask again when these are answered")}

// A service answers requests.
type service struct {
	core         *Core
	subscription *nats.Subscription
	answer       func(ctx context.Context, subject string, body []byte) ([]byte, error)
	answerMany   func(ctx context.Context, subject string) ([][]byte, error) // instead, of ServeMany

	mu       sync.Mutex
	stopped  bool
	askers   map[string]*asker // by subject, of those with questions
	turn     []*asker          // those that have something waiting, who is next first
	underWay int
	running  sync.WaitGroup
}

// An asker is the questions on one subject.
type asker struct {
	subject  string
	waiting  []*nats.Msg
	bytes    int
	underWay int
	queued   bool // it stands in turn
}

// Serve implements bus.Core. When several processes of the core serve a subject,
// one of them answers. Who asks more than can be answered is told so at once, with a
// temporary error.
func (c *Core) Serve(subject string, answer func(ctx context.Context, subject string, body []byte) ([]byte, error)) (stop func(), err error) {
	return c.serve(subject, &service{core: c, answer: answer, askers: make(map[string]*asker)})
}

// ServeMany answers questions to a subject (wildcards allowed) with any number of messages each, as those do whom everybody
// is asked about, until stop is called. After an error, which nobody is told, there is none.
func (c *Core) ServeMany(subject string, answer func(ctx context.Context, subject string) ([][]byte, error)) (stop func(), err error) {
	return c.serve(subject, &service{core: c, answerMany: answer, askers: make(map[string]*asker)})
}

func (c *Core) serve(subject string, s *service) (stop func(), err error) {
	if err := c.register(s); err != nil {
		return nil, err
	}
	if s.subscription, err = c.connection.QueueSubscribe(subject, servers, s.receive); err == nil {
		err = c.connection.Flush() // or the first request might find nobody
	}
	if err != nil {
		s.Close()
		return nil, wire.Classify("serve", err)
	}
	return s.Close, nil
}

// receive never waits: it is the dispatcher of all who ask.
func (s *service) receive(m *nats.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // the asker's wait ends without an answer, as with no service
		return
	}
	a := s.askers[m.Subject]
	if a == nil {
		a = &asker{subject: m.Subject}
		s.askers[m.Subject] = a
	}
	if len(a.waiting) >= waitingOfSubject || len(a.waiting) > 0 && a.bytes+m.Size() > waitingBytes {
		s.reply(m, nil, errBusy)
		return
	}
	a.waiting = append(a.waiting, m)
	a.bytes += m.Size()
	s.queue(a)
	s.next()
}

// queue gives an asker a turn, if it has something to ask and room to.
func (s *service) queue(a *asker) {
	if !a.queued && len(a.waiting) > 0 && a.underWay < underWayOfSubject {
		a.queued = true
		s.turn = append(s.turn, a)
	}
}

// next begins as many answers as there is room for, one of each asker in turn.
func (s *service) next() {
	for s.underWay < underWay && len(s.turn) > 0 {
		a := s.turn[0]
		s.turn = s.turn[1:]
		a.queued = false
		m := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.bytes -= m.Size()
		a.underWay++
		s.underWay++
		s.queue(a)
		s.running.Go(func() {
			s.respond(m)
			s.done(a)
		})
	}
}

func (s *service) done(a *asker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.underWay--
	s.underWay--
	s.queue(a)
	if a.underWay == 0 && len(a.waiting) == 0 {
		delete(s.askers, a.subject)
	}
	if !s.stopped {
		s.next()
	}
}

func (s *service) respond(m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWait)
	defer cancel()
	if s.answerMany != nil {
		bodies, err := s.answerMany(ctx, m.Subject)
		if err != nil {
			s.core.config.Logger.Warn().Err(err).Msg("a question about all agents is not answered")
		}
		for _, body := range bodies {
			s.reply(m, body, nil)
		}
		return
	}
	body, err := s.answer(ctx, m.Subject, m.Data)
	s.reply(m, body, err)
}

func (s *service) reply(m *nats.Msg, body []byte, err error) {
	if m.Reply == "" {
		return
	}
	reply := nats.NewMsg(m.Reply)
	reply.Data = body
	if err == nil {
		err = s.core.connection.PublishMsg(reply)
	}
	if err != nil { // of the answer, or because it is too large
		code := wire.CodeFailed
		switch {
		case errors.Is(err, bus.ErrRefused):
			code = wire.CodeRefused
		case bus.Temporary(err):
			code = wire.CodeBusy
		}
		reply.Data = nil
		reply.Header = nats.Header{wire.ErrorHeader: {oneLine(err.Error())}, wire.ErrorCodeHeader: {code}}
		if err := s.core.connection.PublishMsg(reply); err != nil {
			s.core.config.Logger.Warn().Err(err).Msg("an answer to an agent was lost")
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
	s.turn = nil
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
