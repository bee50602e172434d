package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// read takes new messages from the stream and hands each to its session. It
// reports whether there was any, and whether the reader has no more for now.
func (o *Owner) read(ctx context.Context) (worked, drained bool) {
	for o.watermark.HasRoom(o.MaxPending, o.MaxBytes) {
		message, ok, err := o.stream.reader.Next()
		if err != nil {
			o.fail(fmt.Errorf("read shard %d: %w", o.Shard, err))
		}
		if !ok || err != nil {
			return worked, true
		}
		worked = true
		in := &input{message: message, entry: o.watermark.Enter(message.Sequence)}
		o.watermark.AddBytes(in.entry, int64(len(message.Body)))
		o.parse(ctx, in)
	}
	return worked, false
}

// parse reads a message and finds its session.
func (o *Owner) parse(ctx context.Context, in *input) {
	event, err := binding.Decode(in.message)
	if err != nil {
		o.unreadable(ctx, in, err.Error())
		return
	}
	in.event = event
	subject, err := bus.ParseSubject(in.message.Subject)
	if err == nil {
		err = checkKind(subject.Kind, event.Type)
	}
	if err == nil {
		in.kind, in.agent, in.adapter = subject.Kind, subject.Agent, subject.Adapter
		o.admission.ObserveAgent(in.agent, in.message.Recorded)
		err = in.checkReference()
	}
	if err == nil {
		switch in.unread = in.isReadBeside(); {
		case in.unread && in.kind == bus.KindIn:
			o.releaseBody(in)
		case event.Artifact != nil:
			o.watermark.AddBytes(in.entry, min(event.Artifact.Size, artifact.MaxSize)) // beyond it nothing is read
		}
		err = o.readBody(in)
	}
	if err != nil {
		o.unreadable(ctx, in, faultText(in.event, err))
		return
	}
	if in.read.Control != nil && in.read.Control.Run == "" && in.read.Control.Request == "" {
		o.watermark.Leave(in.entry) // about a quarantined message: a note for its readers
		return
	}
	o.handToSession(ctx, in)
}

// unreadable puts a message that cannot be read into quarantine, at once or when
// it is the turn of the session that waits for it.
func (o *Owner) unreadable(ctx context.Context, in *input, detail string) {
	if o.malformed(in, in.message.Body, detail) {
		o.handToSession(ctx, in)
		return
	}
	o.quarantine(ctx, in, schemas.QuarantineMalformed, detail)
}

// handToSession gives an input that was read to its session.
func (o *Owner) handToSession(ctx context.Context, in *input) {
	id, known := o.sessionOf(in)
	switch {
	case known:
		o.enqueue(id, in)
	case in.kind == bus.KindIn || in.kind == bus.KindControl:
		o.quarantine(ctx, in, schemas.QuarantineUnroutable, "it names no session of this shard and of a configured profile")
	case in.namesPlanOnly() && o.stream.unknown == 0:
		// All shards are told of it, and of a run of this one the plan is known once its session
		// is: the message that began it was read before.
		o.watermark.Leave(in.entry)
	default:
		o.holdOrphan(in)
	}
}

// sessionOf finds the session of an input: a message names it, an answer
// names the request that it answers.
func (o *Owner) sessionOf(in *input) (string, bool) {
	switch in.kind {
	case bus.KindIn:
		id := in.event.Session()
		return id, o.ownsSession(id) && in.event.PartitionKey != "" && o.Profiles.Current(in.event.Profile) != nil
	case bus.KindControl:
		switch {
		case in.read.Control == nil:
			return "", false
		case in.read.Control.Run == "":
			id := schemas.SessionID(in.event.Profile, in.event.PartitionKey)
			return id, o.ownsSession(id)
		}
		return o.sessionOfRun(in.read.Control.Run)
	case bus.KindResponse, bus.KindProgress, bus.KindRequest, bus.KindPermit, bus.KindSession, bus.KindShard, bus.KindQuarantine:
	}
	if live := o.byRequest[in.names()]; live != nil {
		return live.id(), true
	}
	run, _ := schemas.ParseTaskSubject(in.event.Subject)
	return o.sessionOfRun(run)
}

// caughtUp reports whether what had happened before the takeover has been read.
func (o *Owner) caughtUp(now time.Time) bool {
	if o.stream.tail != 0 && (o.watermark.Read >= o.stream.tail || now.Sub(o.stream.heard) >= o.CatchUp) {
		o.stream.tail = 0
	}
	return o.stream.tail == 0
}
