package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/quarantine"
	"podium/supervisor/session"
)

// quarantine stores a message that cannot be used, with the reason, and then
// leaves it behind. It tries until the ledger takes it.
func (o *Owner) quarantine(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string) {
	o.putInQuarantine(ctx, in, reason, detail, func(time.Time) { o.watermark.Leave(in.entry) })
}

// refuse stores an input that its session has refused, and holds the session
// back until it is stored: once a later input is applied, a successor would take
// this one for dealt with. Who asks for a permit for a request that nobody made is told that
// nobody waits for it: after a loss of power agents may still have such requests, and
// would ask until those expire.
func (o *Owner) refuse(ctx context.Context, live *liveSession, in *input, refusal *session.Refusal) {
	o.begin(live, stageQuarantining)
	if in.read.Permit != nil && refusal.Reason == schemas.QuarantineUnknownRun {
		o.answerPermit(in.agent, &schemas.PermitAnswer{Permit: in.event.ID, Reason: schemas.PermitStale})
	}
	o.putInQuarantine(ctx, in, refusal.Reason, refusal.Detail, func(time.Time) { o.complete(live, []*input{in}) })
}

func (o *Owner) putInQuarantine(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string, done func(now time.Time)) {
	o.withBody(ctx, in, func(whole bus.Message) {
		event, err := quarantine.NewEvent(whole, reason, detail)
		if err != nil {
			o.fail(err)
			return
		}
		o.Log.Warn().Str("reason", string(reason)).Uint64("sequence", in.message.Sequence).Int("shard", o.Shard).
			Msg("message quarantined")
		o.publisher.PublishUntilStored(ctx, bus.QuarantineSubject(reason, o.Shard), &event, done)
	})
}

// quarantineDamaged puts an input into quarantine, or has its session read once more.
func (o *Owner) quarantineDamaged(ctx context.Context, live *liveSession, in *input, cause error) {
	detail := fmt.Sprintf("the ledger has lost something that its session stands on: %s", cause)
	o.begin(live, stageQuarantining)
	o.withBody(ctx, in, func(whole bus.Message) {
		event, err := quarantine.NewEvent(whole, schemas.QuarantineDamaged, detail)
		if err != nil {
			o.fail(err)
			return
		}
		o.publisher.Publish(ctx, bus.QuarantineSubject(schemas.QuarantineDamaged, o.Shard), &event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
			if err != nil {
				o.retry(live, now, err)
				return
			}
			o.complete(live, []*input{in})
		})
	})
}

// withBody does something with the message of an input and its body. A body that was released is read from the stream again,
// unless it is gone.
func (o *Owner) withBody(ctx context.Context, in *input, do func(whole bus.Message)) {
	if !in.released {
		do(in.message)
		return
	}
	get := func() (bus.Message, error) { return o.Core.Get(ctx, bus.ShardStream(o.Shard), in.message.Sequence) }
	eventloop.StartResult(o.loop, get, func(now time.Time, whole bus.Message, err error) {
		switch {
		case err == nil:
			do(whole)
		case bus.Temporary(err):
			o.loop.At(now.Add(o.Backoff), func(time.Time) { o.withBody(ctx, in, do) })
		default:
			do(in.message)
		}
	})
}
