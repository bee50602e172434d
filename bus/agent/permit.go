package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

const (
	permitEvery   = time.Second     // how often a permit is asked for until it is answered
	permitTimeout = 5 * time.Second // of asking once
)

// notPermitted is what a person reads of an effect that was refused. Nobody
// does while the refusal holds: the request is of the past.
const notPermitted = "The agent was not permitted to act."

// PermitRequest returns the message by which an agent asks for permission to do what
// a request asks it for. The id is a UUID that names the question: whoever has
// not heard the answer asks again with the same one. Call names what is to be done (schemas.Action.Call); it may be empty. It reports false when the
// request names no shard, so that nobody could refuse.
func PermitRequest(agent string, request *schemas.Event, id, call string, now time.Time) (bus.Message, bool, error) {
	shard, asked := shardOf(agent, request)
	if !asked {
		return bus.Message{}, false, nil
	}
	question := schemas.PermitRequest{Envelope: schemas.Envelope{
		MessageID: id, From: agent, To: strings.TrimPrefix(request.Source, binding.SourceOf("")), Type: schemas.EnvelopeTypePermitRequest,
		Timestamp: now.UTC(), InReplyTo: request.ID,
	}, Call: call}
	body, err := schemas.Marshal(question)
	if err != nil {
		return bus.Message{}, true, err
	}
	event := about(agent, request, &question.Envelope, body)
	message, err := binding.Encode(bus.PermitSubject(agent, shard), &event)
	return message, true, err
}

// A permit is the permission to do what one delivery of a request asks for. It is
// asked for once, however often the handler asks.
type permit struct {
	server    *server
	request   *schemas.Event
	question  bool   // it asks for no work: nobody is permitted anything
	tainted   bool   // something in it comes from outside
	first     bool   // nobody was handed it before (see First)
	supersede func() // leaves the request to another process, which was permitted since
	log       zerolog.Logger

	answered atomic.Bool
	given    atomic.Bool // the permission

	mu      sync.Mutex
	id      string
	call    string          // of the action that it is asked for
	action  *schemas.Action // nil when the handler names none
	refusal error           // once answered; nil is permission
}

// errOtherAction is for whoever writes an agent: a permit is for one action.
var errOtherAction = errors.New("a permit was asked for one action, and then for another")

// ask is Request.Permit and Request.PermitFor.
func (p *permit) ask(ctx context.Context, action *schemas.Action) error {
	call := ""
	if action != nil {
		var err error
		if call, err = action.Call(); err != nil {
			return &Failure{Permanent: true, Err: err}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id != "" && p.call != call {
		return &Failure{Permanent: true, Err: errOtherAction}
	}
	if p.answered.Load() {
		return p.refusal
	}
	p.call, p.action = call, action
	if p.question {
		p.settle(&schemas.PermitAnswer{Reason: schemas.PermitQuestion})
		return p.refusal
	}
	if p.brought() {
		p.give() // nobody else was ever handed this permit
		return nil
	}
	if p.id == "" {
		p.id = uuid.NewString()
	}
	answers, done := p.server.awaitPermit(p.id)
	defer done()
	for {
		asked, err := p.publish(ctx)
		switch {
		case err != nil:
			return err
		case !asked && p.tainted && p.server.config.Agent.SideEffects == schemas.SideEffectsExternal:
			p.settle(&schemas.PermitAnswer{Reason: schemas.PermitUnapproved}) // nobody can say that it is meant
			return p.refusal
		case !asked:
			p.give()
			return nil
		}
		select {
		case answer := <-answers:
			p.settle(&answer)
			return p.refusal
		case <-time.After(permitEvery):
		case <-ctx.Done():
			return fmt.Errorf("no answer to the question for a permit: %w", context.Cause(ctx))
		}
	}
}

// publish asks once. It fails when asking again cannot help.
func (p *permit) publish(ctx context.Context) (asked bool, err error) {
	message, asked, err := PermitRequest(p.server.worker.Name(), p.request, p.id, p.call, time.Now())
	if err != nil || !asked {
		return asked, err
	}
	ctx, cancel := context.WithTimeout(ctx, permitTimeout)
	defer cancel()
	_, err = p.server.worker.Publish(ctx, message)
	if bus.IsAny(err, bus.ErrTooLarge, bus.ErrDenied, bus.ErrClosed) {
		return true, fmt.Errorf("ask for a permit: %w", err)
	}
	if err != nil {
		p.log.Warn().Err(err).Msg("a permit is not asked for yet; trying again")
	}
	return true, nil
}

func (p *permit) give() {
	p.given.Store(true)
	p.answered.Store(true)
}

func (p *permit) settle(answer *schemas.PermitAnswer) {
	if answer.Granted {
		p.give()
		return
	}
	p.answered.Store(true)
	p.log.Info().Str("reason", string(answer.Reason)).Msg("the effect is not permitted")
	if answer.Reason == schemas.PermitGone {
		p.supersede()
	}
	if answer.Reason == schemas.PermitElsewhere {
		p.refusal = fmt.Errorf("%w: it was permitted before", ErrElsewhere)
		return
	}
	if answer.Reason == schemas.PermitUnapproved {
		p.refusal = &Failure{Message: notPermitted, Permanent: true, Err: bus.ErrUnapproved}
		return
	}
	p.refusal = &Failure{Message: notPermitted, Permanent: true, Err: fmt.Errorf("%w: %s", bus.ErrNotPermitted, answer.Reason)}
}

// proposed is the outcome of a handler that has nothing to tell but that nobody has agreed to what it would do.
func (p *permit) proposed(outcome *Outcome) Outcome {
	blocked := Outcome{Status: schemas.StatusBlocked, Usage: outcome.Usage, Findings: outcome.Findings}
	if len(blocked.Issues) == 0 {
		blocked.Issues = []schemas.Issue{{
			Severity: "high", Description: notPermitted, Resolution: schemas.ResolutionEscalated, Category: schemas.CategoryCoordination,
		}}
	}
	if action := p.action; action != nil {
		blocked.Operation = &schemas.Operation{Name: p.server.worker.Name(), Summary: action.Summary, Recipients: action.Recipients}
		if action.Data.Kind() == '{' {
			blocked.Operation.Arguments = action.Data
		}
	}
	return blocked
}

// doubt marks an error that says nothing of an effect which was permitted: nobody
// knows whether it has happened. What a handler says itself is about what it was
// permitted: before that has been decided, it knows nothing of a process that was
// handed the request earlier, and may be at work by a permit of its own.
func (p *permit) doubt(err error) error {
	failure, told := errors.AsType[*Failure](err)
	switch {
	case p.shared():
	case told || !p.given.Load():
		return err
	}
	if !told {
		return &Failure{Unknown: true, Err: err}
	}
	doubted := *failure
	doubted.Unknown = true
	return &doubted
}

// acted reports whether what this request asks for may have happened, by this
// process or by another that was handed it earlier.
func (p *permit) acted() bool { return p.given.Load() || p.shared() }

// brought reports whether the permit that came along with the request is this
// delivery's to use.
func (p *permit) brought() bool { return p.request.Permit != "" && p.first }

// shared reports whether another process may have been permitted what this one has
// not asked for, or has not heard of: one that was handed the request before, one that
// is handed another copy meanwhile, or one that had an earlier attempt. The last two
// are for agents that act outside alone to care about.
func (p *permit) shared() bool {
	_, asked := shardOf(p.server.worker.Name(), p.request)
	alone := p.brought() || p.first && p.request.Attempt <= 1 && p.server.config.Agent.SideEffects != schemas.SideEffectsExternal
	return asked && !p.question && !alone && !p.answered.Load()
}

// awaitPermit passes the answer to one question on until done is called.
func (s *server) awaitPermit(id string) (answers <-chan schemas.PermitAnswer, done func()) {
	waiting := make(chan schemas.PermitAnswer, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.permits[id] = waiting
	return waiting, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.permits, id)
	}
}

// passPermit passes the answer to a permit on to the handler that waits. Those of other
// processes are heard too.
func (s *server) passPermit(answer schemas.PermitAnswer) {
	s.mu.Lock()
	waiting := s.permits[answer.Permit]
	s.mu.Unlock()
	select {
	case waiting <- answer:
	default: // nobody waits, or the answer came twice
	}
}
