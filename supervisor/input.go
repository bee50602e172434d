package supervisor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/cloudevents"
	"podium/schemas"
	"podium/supervisor/session"
)

// An input is one message of the shard on its way through the owner.
type input struct {
	entry   *entry
	message bus.Message
	event   schemas.Event
	kind    bus.Kind
	agent   string
	door    string
	read    session.Input
	foreign bool // a grant in it names a key that is not known here yet
	// isolated is true of a malformed answer that is in quarantine.
	isolated bool
	// sought is true of one that is known to be on record, or to belong to nobody.
	sought bool
}

// broken reports whether an input has to be put into quarantine before it is decided.
func (in *input) broken() bool { return in.read.Malformed != nil && !in.isolated }

// read takes new messages from the stream and hands each to its conversation. It
// reports whether there was any, and whether the reader has no more for now.
func (o *Owner) read(ctx context.Context) (worked, drained bool) {
	for o.floor.room(o.MaxPending, o.MaxBytes) {
		message, ok, err := o.reader.Next()
		if err != nil {
			o.fail(fmt.Errorf("read shard %d: %w", o.Shard, err))
		}
		if !ok || err != nil {
			return worked, true
		}
		worked = true
		in := &input{message: message, entry: o.floor.enter(message.Sequence)}
		o.floor.weigh(in.entry, int64(len(message.Body)))
		o.admit(ctx, in)
	}
	return worked, false
}

// admit reads a message and finds its conversation.
func (o *Owner) admit(ctx context.Context, in *input) {
	event, err := cloudevents.Decode(in.message)
	if err != nil {
		o.unreadable(ctx, in, err.Error())
		return
	}
	in.event = event
	if event.Artifact != nil {
		o.floor.weigh(in.entry, min(event.Artifact.Size, artifact.MaxSize)) // beyond it nothing is read
	}
	subject, err := bus.ParseSubject(in.message.Subject)
	if err == nil {
		err = expected(subject.Kind, event.Type)
	}
	if err == nil {
		in.kind, in.agent, in.door = subject.Kind, subject.Agent, subject.Door
		o.hear(in)
		err = o.open(in)
	}
	if err != nil {
		o.unreadable(ctx, in, verdict(in.event, err))
		return
	}
	if in.read.Control != nil && in.read.Control.Run == "" && in.read.Control.Request == "" {
		o.floor.leave(in.entry) // about a quarantined message: a note for its readers
		return
	}
	o.place(ctx, in)
}

// place gives an input that was read to its conversation.
func (o *Owner) place(ctx context.Context, in *input) {
	id, known := o.conversationOf(in)
	switch {
	case known:
		o.enqueue(id, in)
	case in.kind == bus.KindIn || in.kind == bus.KindControl:
		o.quarantine(ctx, in, schemas.QuarantineUnroutable, "it names no conversation of this shard and of a configured profile")
	case in.namesPlan() && o.early == 0:
		// All shards are told of it, and of a run of this one the plan is known once its session
		// is: the message that began it was read before.
		o.floor.leave(in.entry)
	default:
		o.meet(in)
	}
}

// open reads the body, unless that still has to be fetched.
func (o *Owner) open(in *input) (err error) {
	if in.event.Artifact == nil {
		in.read, err = session.Read(in.event, in.agent, in.message.Sequence)
		o.prove(in)
	}
	if err == nil {
		err = in.read.Usable()
	}
	return err
}

// resolve fetches a body that is too large for a message, in its turn. Of an agent
// it has to be one that the agent has put.
func (o *Owner) resolve(ctx context.Context, c *conversation, in *input) {
	o.begin(c)
	resolved := in.event
	o.operate(func() error {
		if err := o.vouched(ctx, in); err != nil {
			return err
		}
		return artifact.Resolve(ctx, o.Core.Artifacts(), &resolved)
	}, func(now time.Time, err error) {
		reason := schemas.QuarantineMalformed
		switch {
		case err == nil:
			in.event = resolved
			in.event.Artifact = nil
			err = o.open(in)
		case errors.Is(err, bus.ErrNotGranted):
			reason = schemas.QuarantineUnproven
		case !beyondReading(err):
			o.retry(c, now, err)
			return
		}
		if err != nil {
			detail := verdict(in.event, err)
			if reason == schemas.QuarantineUnproven || !o.malformed(in, resolved.Data, detail) {
				o.isolate(ctx, in, reason, detail, func(time.Time) { o.settle(c, []*input{in}) })
				return
			}
		}
		o.end(c)
	})
}

// beyondReading reports whether no other try can read the body.
func beyondReading(err error) bool {
	return errors.Is(err, bus.ErrNotFound) || errors.Is(err, bus.ErrTooLarge) || errors.Is(err, bus.ErrCorrupt)
}

// expected refuses an event under a subject that is not for its kind: the
// subject is what permissions guard.
func expected(kind bus.Kind, eventType string) error {
	fits := false
	switch kind {
	case bus.KindIn:
		fits = eventType == schemas.TypeEmailReceived || eventType == schemas.TypeChatReceived ||
			eventType == schemas.TypeExecutionRequest
	case bus.KindResponse:
		fits = eventType == schemas.TypeExecutionResponse
	case bus.KindProgress:
		fits = eventType == schemas.TypeProgressUpdate
	case bus.KindPermit:
		fits = eventType == schemas.TypePermitRequest
	case bus.KindControl:
		fits = eventType == schemas.TypeControl
	case bus.KindRequest, bus.KindSession, bus.KindShard, bus.KindDead:
	}
	if !fits {
		return fmt.Errorf("type %q does not belong on a subject for %s messages", eventType, kind)
	}
	return nil
}

// verdict is what a quarantined message shows: the schema's own words where
// there is a schema.
func verdict(event schemas.Event, err error) string {
	if event.Artifact != nil {
		return err.Error() // its body was not read
	}
	name := strings.TrimSuffix(strings.TrimPrefix(event.Type, "podium."), ".v1")
	switch name {
	case schemas.ExecutionResponseType, schemas.ProgressUpdateType:
		if strict := schemas.Validate(name, event.Data); strict != nil {
			return strict.Error()
		}
	}
	return err.Error()
}

// conversationOf finds the session of an input: a message names it, an answer
// names the request that it answers.
func (o *Owner) conversationOf(in *input) (string, bool) {
	switch in.kind {
	case bus.KindIn:
		id := in.event.Session()
		return id, o.mine(id) && in.event.PartitionKey != "" && o.Profiles.Current(in.event.Profile) != nil
	case bus.KindControl:
		switch {
		case in.read.Control == nil:
			return "", false
		case in.read.Control.Run == "":
			id := schemas.SessionID(in.event.Profile, in.event.PartitionKey)
			return id, o.mine(id)
		}
		return o.sessionOfRun(in.read.Control.Run)
	case bus.KindResponse, bus.KindProgress, bus.KindRequest, bus.KindPermit, bus.KindSession, bus.KindShard, bus.KindDead:
	}
	if c := o.waiting[in.answers()]; c != nil {
		return c.id, true
	}
	run, _, _ := strings.Cut(in.event.Subject, "/")
	return o.sessionOfRun(run)
}

// answers returns the request that an answer or a progress update names.
func (in *input) answers() string {
	switch {
	case in.read.Malformed != nil:
		return in.read.Malformed.Request
	case in.read.Response != nil:
		return in.read.Response.InReplyTo
	case in.read.Permit != nil:
		return in.read.Permit.InReplyTo
	case in.read.Progress != nil && in.read.Progress.InReplyTo != "":
		return in.read.Progress.InReplyTo
	case in.read.Progress != nil && in.event.CausationID == "":
		return in.read.Progress.Payload.PlanID
	}
	return in.event.CausationID
}

// namesPlan reports whether a progress update names a plan at the most.
func (in *input) namesPlan() bool {
	return in.kind == bus.KindProgress && in.event.CausationID == "" && (in.read.Progress == nil || in.read.Progress.InReplyTo == "")
}

func (o *Owner) sessionOfRun(run string) (string, bool) {
	id, _, err := schemas.ParseRunID(run)
	return id, err == nil && o.mine(id)
}

func (o *Owner) mine(id string) bool { return schemas.ShardOf(id, o.shards) == o.Shard }
