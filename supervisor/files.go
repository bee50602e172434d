package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/gateway"
)

// prove notes which of the artifacts that an input names its sender may pass on: an
// agent what it has put, whoever asks a supervisor what came by the agents' own
// subject with a grant for that supervisor. It is looked at here and never again:
// the record says what was proven. An input from a door proves nothing. What stands
// behind the last that there is room for is not looked at.
func (o *Owner) prove(in *input) {
	in.foreign = false
	for _, artifact := range in.read.References {
		if len(in.read.Proven) == schemas.MaxProven {
			return
		}
		if slices.Contains(in.read.Proven, artifact.SHA256) {
			continue
		}
		var proven bool
		switch {
		case in.read.Response != nil:
			proven = o.Grants.HasPut(artifact.Grant, in.agent, artifact.SHA256)
		case in.read.Message != nil && in.door == gateway.Door && in.read.Message.Upstream != nil:
			upstream := in.read.Message.Upstream
			proven = o.Grants.WasGiven(artifact.Grant, upstream.To, upstream.Request, artifact.SHA256)
		}
		if proven {
			in.read.Proven = append(in.read.Proven, artifact.SHA256)
		} else {
			in.foreign = in.foreign || o.Grants.Foreign(artifact.Grant)
		}
	}
}

// refresh proves an input again with the keys of now: another process may have
// made one.
func (o *Owner) refresh(ctx context.Context, c *conversation, in *input) {
	o.begin(c)
	o.loop.Await(func() error { return o.Grants.Refresh(ctx) }, func(now time.Time, err error) {
		if err != nil {
			o.retry(c, now, err)
			return
		}
		o.prove(in)
		in.foreign = false // whoever made that key, it is none of the ledger's
		o.end(c)
	})
}

// vouched fails with bus.ErrNotGranted when an agent refers to a body that it has
// not put. What the core writes needs no grant.
func (o *Owner) vouched(ctx context.Context, in *input) error {
	if in.agent == "" {
		return nil
	}
	body := in.event.Artifact
	if o.Grants.Foreign(body.Grant) {
		if err := o.Grants.Refresh(ctx); err != nil {
			return err
		}
	}
	if o.Grants.HasPut(body.Grant, in.agent, body.SHA256) {
		return nil
	}
	return fmt.Errorf("the body that its reference names was not put by agent %s: %w; put it with the artifact service, "+
		"and repeat the grant of the answer as ce-datagrant", in.agent, bus.ErrNotGranted)
}

// reportUnproven says that an answer has named files which its agent may not pass on.
func (o *Owner) reportUnproven(c *conversation, in *input, facts []schemas.Fact) {
	for i := range facts {
		if f := facts[i].TaskCompleted; f != nil && len(f.Unproven) > 0 {
			o.Log.Warn().Str("agent", in.agent).Str("session", c.id()).Int("files", len(f.Unproven)).Msg("an agent names files that it may not pass on; they are left out")
		}
	}
}
