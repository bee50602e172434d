package supervisor

import (
	"context"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
)

// quarantine stores a message that cannot be used, with the reason, and then
// leaves it behind. It tries until the ledger takes it.
func (o *Owner) quarantine(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string) {
	event, err := quarantined(in.message, reason, detail)
	if err != nil {
		o.fail(err)
		return
	}
	o.Log.Warn().Str("reason", string(reason)).Uint64("sequence", in.message.Sequence).Int("shard", o.Shard).
		Msg("message quarantined")
	o.insist(ctx, bus.DeadSubject(reason, o.Shard), &event, 0, func(time.Time) { o.floor.leave(in.entry) })
}

func quarantined(message bus.Message, reason schemas.QuarantineReason, detail string) (schemas.Event, error) {
	body, err := schemas.Marshal(schemas.Quarantined{
		Reason: reason, Detail: detail, Subject: message.Subject, Stream: message.Stream,
		Sequence: message.Sequence, Received: message.Recorded, Headers: message.Header, Body: message.Body,
	})
	return schemas.Event{
		ID:     message.Stream + ":" + strconv.FormatUint(message.Sequence, 10),
		Source: "/podium/supervisor", Type: schemas.TypeQuarantined, Time: message.Recorded,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}, err
}

// insist publishes an event until the ledger takes it.
func (o *Owner) insist(ctx context.Context, subject string, event *schemas.Event, tries int, done func(now time.Time)) {
	again := func(now time.Time, err error) {
		o.Log.Error().Err(err).Str("kind", event.Type).Int("shard", o.Shard).Msg("the ledger does not take a message; trying again")
		o.alarms.add(now.Add(o.backoff(tries)), func(time.Time) { o.insist(ctx, subject, event, tries+1, done) })
	}
	o.send(ctx, subject, event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
		if err != nil {
			again(now, err)
			return
		}
		done(now)
	})
}

// send publishes an event; a body that is too large goes to the object store first.
func (o *Owner) send(ctx context.Context, subject string, event *schemas.Event, expect bus.Expect, done func(now time.Time, ack bus.Ack, err error)) {
	if len(event.Data) > bus.ClaimLimit {
		small := *event
		o.operate(func() error { return bus.Offload(ctx, o.Core.Artifacts(), &small) }, func(now time.Time, err error) {
			if err != nil {
				done(now, bus.Ack{}, err)
				return
			}
			o.send(ctx, subject, &small, expect, done)
		})
		return
	}
	message, err := bus.Encode(subject, event)
	if err != nil {
		o.later(func(now time.Time) { done(now, bus.Ack{}, err) })
		return
	}
	o.publish(message, expect, done)
}
