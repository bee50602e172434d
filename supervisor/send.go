package supervisor

import (
	"context"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/history"
	"podium/supervisor/publisher"
	"podium/supervisor/session"
)

// owe publishes the outputs of a session's last record unless the checkpoint
// proves that they are acknowledged, and lets the conversation go on.
//
// Below the floor they are, but for one case: a former owner that did not know
// that it was one wrote the record after the shard had been taken over.
func (o *Owner) owe(ctx context.Context, c *conversation, found *history.Session, now time.Time) {
	if found.Last == nil || found.Sequence <= o.watermark.Value && !o.checkpoint.WrittenByFenced(found.Last.Epoch, found.Sequence) {
		o.end(c)
		return
	}
	if c.hold == nil {
		c.hold = o.watermark.Pin() // no input above the floor may lead to it any more
	}
	o.emit(ctx, c, found.Last.Last(), func(time.Time) { o.end(c) }, now)
}

// emit publishes what the last transition of a record owes and calls done when
// all of it is acknowledged.
func (o *Owner) emit(ctx context.Context, c *conversation, last *schemas.Transition, done func(now time.Time), now time.Time) {
	env, missing, ready := o.envAfter(c)
	again := func(now time.Time, err error) {
		if err != nil && c.lacks(err) {
			// The request is never sent; its queue deadline fails the attempt.
			o.Log.Error().Err(err).Str("session", c.id()).Msg("what a record owes stands on something that the ledger has lost")
			c.misses = 0 // of what comes next nothing has been looked for
			done(now)
			return
		}
		if err != nil {
			o.Log.Warn().Err(err).Str("session", c.id()).Msg("outputs wait for the ledger")
			c.tries++
			o.loop.At(now.Add(o.backoff.After(int(c.tries))), func(now time.Time) { o.emit(ctx, c, last, done, now) })
			return
		}
		o.emit(ctx, c, last, done, now)
	}
	if !ready {
		o.loop.Await(func() error {
			_, err := o.Profiles.Fetch(ctx, c.state.Active.ProfileHash)
			return err
		}, again)
		return
	}
	outputs, err := session.Outputs(env, c.state, last)
	switch {
	case err != nil:
		// The request is never sent; its queue deadline fails the attempt.
		o.Log.Error().Err(err).Str("session", c.id()).Msg("what a record owes cannot be written")
		done(now)
	case len(*missing) > 0:
		o.collect(ctx, c, (*missing)[:1], again) // with it the others may not be needed
	default:
		o.deliver(ctx, o.once(c, outputs), done, now)
	}
}

func (o *Owner) envAfter(c *conversation) (session.Env, *[]uint64, bool) {
	var missing []uint64
	env := o.env(c, &missing)
	if c.state.Active != nil {
		env.Pinned = o.Profiles.Pinned(c.state.Active.ProfileHash)
		return env, &missing, env.Pinned != nil
	}
	return env, &missing, true
}

// once makes sure that one message at most says that it is the first copy of its
// request, and brings a permit along: that which is published right after its record by
// whoever wrote it. Any other copy goes without, so that its agent asks.
func (o *Owner) once(c *conversation, outputs []session.Output) []session.Output {
	server := ""
	if c.fresh {
		server = o.Core.Server()
	}
	c.fresh = false
	for i := range outputs {
		if output := &outputs[i]; output.Event.Type == schemas.TypeExecutionRequest {
			output.Event.First = server
		}
		if server == "" {
			publisher.NotFirst(&outputs[i].Event)
		}
	}
	return outputs
}

// deliver publishes outputs in order and calls done when the last is acknowledged.
func (o *Owner) deliver(ctx context.Context, outputs []session.Output, done func(now time.Time), now time.Time) {
	left := 1
	acknowledged := func(now time.Time) {
		if left--; left == 0 {
			done(now)
		}
	}
	for i := range outputs {
		output := &outputs[i]
		if output.Permit != nil {
			o.tell(output.Agent, output.Permit)
			continue
		}
		if output.Cancel != "" {
			o.hint(output.Agent, output.Cancel)
			continue
		}
		left++
		if output.Response {
			response, _ := o.publisher.ReplySubjects(output.Agent, &output.Event)
			o.publisher.PublishUntilStored(ctx, response, &output.Event, acknowledged)
			continue
		}
		output.Event.ReplyTo = bus.ResponseSubject(output.Agent, o.Shard)
		o.publisher.PublishUntilStored(ctx, bus.RequestSubject(output.Agent), &output.Event, acknowledged)
	}
	acknowledged(now)
}

// answerAgain publishes the answer to a request that came again after its run
// had ended: whoever asks again has not heard it. The answer is the same, byte
// for byte, because it follows from the same record.
func (o *Owner) answerAgain(ctx context.Context, c *conversation, in *input, run int) {
	o.begin(c)
	var outputs []session.Output
	o.loop.Await(func() (err error) {
		outputs, err = history.Response(ctx, o.Core, o.Grants, o.Shard, c.id(), run)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.deliver(ctx, outputs, func(time.Time) { o.settle(c, []*input{in}) }, now)
	})
}
