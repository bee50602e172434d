// Package publisher puts what the supervisor says onto the ledger. The outcome of each
// message is handed to the event loop; nothing here waits.
package publisher

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/eventloop"
)

// A Publisher publishes for the owner of one shard. It is used by the goroutine of its
// loop alone.
type Publisher struct {
	Core           bus.Core
	ArtifactGrants *artifact.Grants
	Loop           *eventloop.Loop
	Backoff        eventloop.Backoff
	Log            zerolog.Logger
	Shard          int

	ledgerError error
}

// LedgerError returns why the ledger took nothing when it was last asked to: it is full, or
// has lost messages. Else it is nil.
func (p *Publisher) LedgerError() error { return p.ledgerError }

// takesNothing tells a ledger that takes no message from one that did not take this one.
func takesNothing(err error) bool { return bus.IsAny(err, bus.ErrFull, bus.ErrLost, bus.ErrFailed) }

// LogFailure begins a line of the log. That the ledger takes nothing is said once for all
// messages, by whoever watches it, and a full disk may be the log's own.
func (p *Publisher) LogFailure(level zerolog.Level, err error) *zerolog.Event {
	if takesNothing(err) {
		level = zerolog.DebugLevel
	}
	return p.Log.WithLevel(level).Err(err)
}

// Publish publishes an event; a body that is too large goes to the object store first.
func (p *Publisher) Publish(ctx context.Context, subject string, event *schemas.Event, expect bus.Expect, done func(now time.Time, ack bus.Ack, err error)) {
	if len(event.Data) > artifact.MessageInlineLimit {
		small := *event
		p.Loop.Start(func() error { return artifact.Offload(ctx, p.Core.Artifacts(), &small) }, func(now time.Time, err error) {
			if err != nil {
				done(now, bus.Ack{}, err)
				return
			}
			p.ArtifactGrants.GrantBody(subject, &small)
			p.Publish(ctx, subject, &small, expect, done)
		})
		return
	}
	message, err := binding.Encode(subject, event)
	if err != nil {
		p.Loop.Post(func(now time.Time) { done(now, bus.Ack{}, err) })
		return
	}
	p.Core.Publish(message, expect, func(ack bus.Ack, err error) {
		p.Loop.Post(func(now time.Time) {
			if p.ledgerError = nil; takesNothing(err) {
				p.ledgerError = err
			}
			done(now, ack, err)
		})
	})
}

// PublishUntilStored publishes an event until the ledger takes it, or says that it never
// can.
func (p *Publisher) PublishUntilStored(ctx context.Context, subject string, event *schemas.Event, done func(now time.Time)) {
	p.publishAgain(ctx, subject, event, 0, done)
}

func (p *Publisher) publishAgain(ctx context.Context, subject string, event *schemas.Event, tries int, done func(now time.Time)) {
	p.Publish(ctx, subject, event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
		switch {
		case errors.Is(err, bus.ErrTooLarge):
			// No other try can succeed. If it is a request, its queue deadline fails the attempt.
			p.Log.Error().Str("kind", event.Type).Int("shard", p.Shard).Msg("a message is too large for the ledger and is given up")
		case errors.Is(err, schemas.ErrInvalidEvent):
			p.Log.Error().Err(err).Str("kind", event.Type).Int("shard", p.Shard).Msg("a message cannot be written and is given up")
		case err != nil:
			fault.Either("a request that is sent again says that it is the first", func(*schemas.Event) {}, MarkRepublished)(event) // the first copy may have arrived, and another one has to ask
			p.LogFailure(zerolog.ErrorLevel, err).Str("kind", event.Type).Int("shard", p.Shard).Msg("the ledger does not take a message; trying again")
			p.Loop.At(now.Add(p.Backoff.After(tries)), func(time.Time) { p.publishAgain(ctx, subject, event, tries+1, done) })
			return
		}
		done(now)
	})
}

// ReplySubjects is agent.ReplySubjects in a ledger of so many shards: a replyto that names
// one which is not there is ignored as well, else its answer would be tried for ever and
// keep the watermark where it is.
func (p *Publisher) ReplySubjects(name string, e *schemas.Event) (response, progress string) {
	if named, err := bus.ParseSubject(e.ReplyTo); err == nil && named.Shard >= p.Core.Shards() {
		e.ReplyTo = ""
	}
	return agent.ReplySubjects(name, e)
}

// MarkRepublished takes from a request what only its first copy has: an agent that reads this one
// asks for a permit.
func MarkRepublished(request *schemas.Event) { request.First, request.Permit = "", "" }
