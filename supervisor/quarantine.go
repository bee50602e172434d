package supervisor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/cloudevents"
	"podium/schemas"
	"podium/supervisor/session"
)

// quarantine stores a message that cannot be used, with the reason, and then
// leaves it behind. It tries until the ledger takes it.
func (o *Owner) quarantine(ctx context.Context, in *input, reason schemas.QuarantineReason, detail string) {
	o.isolate(ctx, in, reason, detail, func(time.Time) { o.floor.leave(in.entry) })
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
	event, err := quarantined(in.message, reason, detail)
	if err != nil {
		o.fail(err)
		return
	}
	o.Log.Warn().Str("reason", string(reason)).Uint64("sequence", in.message.Sequence).Int("shard", o.Shard).
		Msg("message quarantined")
	o.insist(ctx, bus.DeadSubject(reason, o.Shard), &event, 0, done)
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
	request := cloudevents.NamedRequest(bus.Message{Header: in.message.Header, Body: body}, o.shards)
	if request == "" {
		return false
	}
	in.kind, in.agent, in.event.Artifact = subject.Kind, subject.Agent, nil
	in.read = session.Malformed(in.event, in.agent, in.message.Sequence, request, legible(detail), quarantineID(in.message))
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

// quarantineID is how a message in quarantine is called: by where it stood.
func quarantineID(message bus.Message) string {
	return message.Stream + ":" + strconv.FormatUint(message.Sequence, 10)
}

func quarantined(message bus.Message, reason schemas.QuarantineReason, detail string) (schemas.Event, error) {
	body, err := schemas.Marshal(schemas.Quarantined{
		Reason: reason, Detail: legible(detail), Subject: legible(message.Subject), Stream: message.Stream,
		Sequence: message.Sequence, Received: message.Recorded, Headers: legibleHeaders(message.Header), Body: message.Body,
	})
	return schemas.Event{
		ID:     quarantineID(message),
		Source: "/podium/supervisor", Type: schemas.TypeQuarantined, Time: message.Recorded,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}, err
}

// legible is text that JSON can hold. What stood there byte for byte can be read
// at the message's own place in the ledger.
func legible(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

func legibleHeaders(header bus.Header) map[string][]string {
	if len(header) == 0 {
		return nil
	}
	headers := make(map[string][]string, len(header))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			headers[legible(name)] = append(headers[legible(name)], legible(value))
		}
	}
	return headers
}

// insist publishes an event until the ledger takes it, or says that it never can.
func (o *Owner) insist(ctx context.Context, subject string, event *schemas.Event, tries int, done func(now time.Time)) {
	again := func(now time.Time, err error) {
		repeated(event) // the first copy may have arrived, and another one has to ask
		o.complain(zerolog.ErrorLevel, err).Str("kind", event.Type).Int("shard", o.Shard).Msg("the ledger does not take a message; trying again")
		o.alarms.add(now.Add(o.backoff(tries)), func(time.Time) { o.insist(ctx, subject, event, tries+1, done) })
	}
	o.send(ctx, subject, event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
		if errors.Is(err, bus.ErrTooLarge) {
			// No other try can succeed. If it is a request, its queue deadline fails the attempt.
			o.Log.Error().Str("kind", event.Type).Int("shard", o.Shard).Msg("a message is too large for the ledger and is given up")
			err = nil
		}
		if err != nil {
			again(now, err)
			return
		}
		done(now)
	})
}

// send publishes an event; a body that is too large goes to the object store first.
func (o *Owner) send(ctx context.Context, subject string, event *schemas.Event, expect bus.Expect, done func(now time.Time, ack bus.Ack, err error)) {
	if len(event.Data) > artifact.InlineLimit {
		small := *event
		o.operate(func() error { return artifact.Offload(ctx, o.Core.Artifacts(), &small) }, func(now time.Time, err error) {
			if err != nil {
				done(now, bus.Ack{}, err)
				return
			}
			o.Grants.GrantBody(subject, &small)
			o.send(ctx, subject, &small, expect, done)
		})
		return
	}
	message, err := cloudevents.Encode(subject, event)
	if err != nil {
		o.later(func(now time.Time) { done(now, bus.Ack{}, err) })
		return
	}
	o.publish(message, expect, done)
}
