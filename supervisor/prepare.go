package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
	"podium/supervisor/plan"
)

// fetchBody reads the body of an input beside the loop: one that was too large for a message comes from the object store first.
// The body that an agent names has to be one that the agent has put. Messages are read one after the other, the shortest first.
func (o *Owner) fetchBody(ctx context.Context, live *liveSession, in *input) {
	o.begin(live, stageFetching)
	whole := *in
	whole.unread = false
	var unreadable error
	var found *plan.Found
	profile := o.Profiles.Current(profileName(live.state.Profile, &in.event))
	operation := func() error {
		if err := o.bringBody(ctx, &whole); err != nil {
			return err
		}
		unreadable = o.readBody(&whole)
		if profile != nil && unreadable == nil && whole.read.Message != nil {
			found = profile.ReadAhead(whole.read.Message.Text)
		}
		return nil
	}
	done := func(now time.Time, err error) {
		if in.kind == bus.KindIn {
			o.longReads.leave()
		}
		if found != nil {
			o.found.Add(found)
		}
		if err == nil && in.released {
			o.watermark.AddBytes(in.entry, in.size)
		}
		reason, body := schemas.QuarantineMalformed, []byte(nil)
		switch {
		case err == nil:
			if *in, err = whole, unreadable; !errors.Is(err, schemas.ErrTooManyValues) {
				body = whole.event.Data // else the headers name the request, and nothing more is looked for
			}
		case errors.Is(err, bus.ErrNotGranted):
			reason = schemas.QuarantineUnproven
		case !beyondReading(err):
			o.retry(live, now, err)
			return
		}
		if err != nil {
			detail := faultText(in.event, err)
			if reason == schemas.QuarantineUnproven || !o.malformed(in, body, detail) {
				o.begin(live, stageQuarantining)
				o.putInQuarantine(ctx, in, reason, detail, func(time.Time) { o.complete(live, []*input{in}) })
				return
			}
		}
		o.end(live)
	}
	if in.kind == bus.KindIn {
		o.longReads.enter(in.size, func() { o.loop.Start(operation, done) })
		return
	}
	o.loop.Start(operation, done)
}

// longReads lets one message be read at a time, and of those that wait the shortest first: the loop needs the processor as well.
type longReads struct {
	busy    bool
	waiting []longRead // the shortest first, of one size in the order in which they came
}

type longRead struct {
	size  int64
	start func()
}

// enter starts to read a message of a size once it is its turn; leave has to be called behind it.
func (l *longReads) enter(size int64, start func()) {
	if !l.busy {
		l.busy = true
		start()
		return
	}
	at := slices.IndexFunc(l.waiting, func(w longRead) bool { return w.size > size })
	if at < 0 {
		at = len(l.waiting)
	}
	l.waiting = slices.Insert(l.waiting, at, longRead{size, start})
}

// leave ends the turn of a message.
func (l *longReads) leave() {
	if len(l.waiting) == 0 {
		l.busy = false
		return
	}
	next := l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	next.start()
}

// releaseBody lets go of the body of a message that waits for being read beside the loop, so that many long messages keep
// nothing else from being read: bringBody brings it again.
func (o *Owner) releaseBody(in *input) {
	in.size, in.released = int64(len(in.message.Body)), true
	if in.event.Artifact != nil {
		in.size = min(in.event.Artifact.Size, artifact.MaxSize)
	}
	o.watermark.AddBytes(in.entry, -int64(len(in.message.Body)))
	in.message.Body, in.event.Data = nil, nil
}

// bringBody brings the body of an input that is not in memory.
func (o *Owner) bringBody(ctx context.Context, in *input) error {
	if in.released {
		message, err := o.Core.Get(ctx, bus.ShardStream(o.Shard), in.message.Sequence)
		if err != nil {
			return err
		}
		event, err := binding.Decode(message)
		if err != nil {
			return err
		}
		in.message, in.event, in.released = message, event, false
	}
	if in.event.Artifact == nil {
		return nil
	}
	if err := o.checkBodyGrant(ctx, in); err != nil {
		return err
	}
	if in.agent != "" { // a body that is on the ledger stays, also when its message is refused
		if err := o.Core.Artifacts().Keep(ctx, in.event.Artifact.SHA256); err != nil {
			return err
		}
	}
	return artifact.Resolve(ctx, o.Core.Artifacts(), &in.event)
}

// isAskedFor reports whether the body of an input that was not read is wanted: an agent's response names by its headers a request
// that the session has made.
func (o *Owner) isAskedFor(live *liveSession, in *input) bool {
	return in.kind != bus.KindResponse || slices.Contains(live.requests, in.names()) || live.state.HasMade(o.Shard, &in.event)
}

// refuseUnread puts a response to no request of its session into quarantine, by its headers alone, once it is known that no other
// owner has written to the session.
func (o *Owner) refuseUnread(ctx context.Context, live *liveSession, in *input) {
	if !live.confirmed(in.message.Sequence) {
		o.begin(live, stageConfirming)
		o.confirm(ctx, live)
		return
	}
	o.begin(live, stageQuarantining)
	o.putInQuarantine(ctx, in, schemas.QuarantineUnknownRun, "ce-causationid names no request that this session made, so that its body was not read; "+
		"a response with a body by reference needs it", func(time.Time) { o.complete(live, []*input{in}) })
}

// beyondReading reports whether no other try can read the body.
func beyondReading(err error) bool {
	return errors.Is(err, bus.ErrNotFound) || errors.Is(err, bus.ErrTooLarge) || errors.Is(err, bus.ErrCorrupt)
}

// checkBodyGrant fails with bus.ErrNotGranted when an agent refers to a body that it has
// not put. What the core writes needs no grant.
func (o *Owner) checkBodyGrant(ctx context.Context, in *input) error {
	if in.agent == "" {
		return nil
	}
	body := in.event.Artifact
	if o.ArtifactGrants.Foreign(body.Grant) {
		if err := o.ArtifactGrants.Refresh(ctx); err != nil {
			return err
		}
	}
	if o.ArtifactGrants.HasPut(body.Grant, in.agent, body.SHA256) {
		return nil
	}
	return fmt.Errorf("the body that its reference names was not put by agent %s: %w; put it with the artifact service, "+
		"and repeat the grant of the answer as ce-datagrant", in.agent, bus.ErrNotGranted)
}

// refreshArtifactGrants proves an input again with the keys of now: another process may have
// made one.
func (o *Owner) refreshArtifactGrants(ctx context.Context, live *liveSession, in *input) {
	o.begin(live, stageFetching)
	o.loop.Start(func() error { return o.ArtifactGrants.Refresh(ctx) }, func(now time.Time, err error) {
		if err != nil {
			o.retry(live, now, err)
			return
		}
		o.proveArtifacts(in)
		in.unknownArtifactGrant = false // whoever made that key, it is none of the ledger's
		o.end(live)
	})
}

// keepArtifacts keeps the files that an agent passes on, before anything refers to them. One that is gone, because it was put
// more than a day ago, counts as one that the agent may not pass on.
func (o *Owner) keepArtifacts(ctx context.Context, live *liveSession, in *input) {
	o.begin(live, stageFetching)
	var kept []string
	o.loop.Start(func() error {
		kept = kept[:0]
		for _, hash := range in.read.Proven {
			err := o.Core.Artifacts().Keep(ctx, hash)
			if err != nil && !errors.Is(err, bus.ErrNotFound) {
				return err
			}
			if err == nil {
				kept = append(kept, hash)
			}
		}
		return nil
	}, func(now time.Time, err error) {
		if err != nil {
			o.retry(live, now, err)
			return
		}
		in.read.Proven, in.unkept = kept, false
		o.end(live)
	})
}

// quarantineFirst puts a malformed answer into quarantine in its turn, so that its
// session takes nothing behind it before that is done.
func (o *Owner) quarantineFirst(ctx context.Context, live *liveSession, in *input) {
	if in.quarantined = in.message.Sequence <= live.state.Applied; in.quarantined { // it was, before that was decided
		o.push(live)
		return
	}
	o.begin(live, stageQuarantining)
	o.putInQuarantine(ctx, in, schemas.QuarantineMalformed, in.read.Malformed.Detail, func(time.Time) {
		in.quarantined = true
		o.end(live)
	})
}
