package supervisor

import (
	"context"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/quarantine"
	"podium/supervisor/session"
)

// quarantine stores a message that cannot be used, with the reason, and then
// leaves it behind. It tries until the ledger takes it.
func (o *Owner) quarantine(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string) {
	o.isolate(ctx, in, reason, detail, func(time.Time) { o.watermark.Leave(in.entry) })
}

// refuse stores an input that its session has refused, and holds the session
// back until it is stored: once a later input is applied, a successor would take
// this one for dealt with. Who asks for leave in a request that nobody made is told that
// nobody waits for it: after a loss of power agents may still have such requests, and
// would ask until those expire.
func (o *Owner) refuse(ctx context.Context, c *conversation, in *input, refusal *session.Refusal) {
	o.begin(c)
	if in.read.Permit != nil && refusal.Reason == schemas.QuarantineUnknownRun {
		o.tell(in.agent, &schemas.PermitAnswer{Permit: in.event.ID, Reason: schemas.PermitStale})
	}
	o.isolate(ctx, in, refusal.Reason, refusal.Detail, func(time.Time) { o.settle(c, []*input{in}) })
}

func (o *Owner) isolate(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string, done func(now time.Time)) {
	event, err := quarantine.Event(in.message, reason, detail)
	if err != nil {
		o.fail(err)
		return
	}
	o.Log.Warn().Str("reason", string(reason)).Uint64("sequence", in.message.Sequence).Int("shard", o.Shard).
		Msg("message quarantined")
	o.publisher.PublishUntilStored(ctx, bus.DeadSubject(reason, o.Shard), &event, done)
}

// unreadable puts a message that cannot be read into quarantine, at once or when
// it is the turn of the session that waits for it.
func (o *Owner) unreadable(ctx context.Context, in *input, detail string) {
	if o.malformed(in, in.message.Body, detail) {
		o.place(ctx, in)
		return
	}
	o.quarantine(ctx, in, schemas.QuarantineMalformed, detail)
}

// malformed makes an answer that cannot be read an input of whoever waits for it,
// when it names a request; its body may be one that was fetched.
func (o *Owner) malformed(in *input, body []byte, detail string) bool {
	subject, err := bus.ParseSubject(in.message.Subject)
	if err != nil || subject.Kind != bus.KindResponse {
		return false
	}
	request := bus.NamedRequest(bus.Message{Header: in.message.Header, Body: body}, o.shards)
	if request == "" {
		return false
	}
	in.kind, in.agent, in.event.Artifact = subject.Kind, subject.Agent, nil
	in.read = session.Malformed(in.event, in.agent, in.message.Sequence, request, quarantine.Legible(detail), quarantine.ID(in.message))
	return true
}

// isolateFirst puts a malformed answer into quarantine in its turn, so that its
// session takes nothing behind it before that is done.
func (o *Owner) isolateFirst(ctx context.Context, c *conversation, in *input) {
	if in.isolated = in.message.Sequence <= c.state.Applied; in.isolated { // it was, before that was decided
		o.push(c)
		return
	}
	o.begin(c)
	o.isolate(ctx, in, schemas.QuarantineMalformed, in.read.Malformed.Detail, func(time.Time) {
		in.isolated = true
		o.end(c)
	})
}
