package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

// fetchBody fetches the body of an input from the object store, when it was too large for a
// message. The body that an agent names has to be one that the agent has put.
func (o *Owner) fetchBody(ctx context.Context, live *liveSession, in *input) {
	o.begin(live, stageFetching)
	resolved := in.event
	o.loop.Start(func() error {
		if err := o.checkBodyGrant(ctx, in); err != nil {
			return err
		}
		return artifact.Resolve(ctx, o.Core.Artifacts(), &resolved)
	}, func(now time.Time, err error) {
		reason := schemas.QuarantineMalformed
		switch {
		case err == nil:
			in.event = resolved
			in.event.Artifact = nil
			err = o.readBody(in)
		case errors.Is(err, bus.ErrNotGranted):
			reason = schemas.QuarantineUnproven
		case !beyondReading(err):
			o.retry(live, now, err)
			return
		}
		if err != nil {
			detail := faultText(in.event, err)
			if reason == schemas.QuarantineUnproven || !o.malformed(in, resolved.Data, detail) {
				o.begin(live, stageQuarantining)
				o.putInQuarantine(ctx, in, reason, detail, func(time.Time) { o.complete(live, []*input{in}) })
				return
			}
		}
		o.end(live)
	})
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
