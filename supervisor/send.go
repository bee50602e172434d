package supervisor

import (
	"context"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/publisher"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// publishRecord does what a record owes, and calls done then: its outputs are published, and what it has used of the budget of a day is counted.
func (o *Owner) publishRecord(ctx context.Context, live *liveSession, record *schemas.Record, done func(now time.Time), now time.Time) {
	o.publishOutputs(ctx, live, record.Last(), func(now time.Time) {
		if !o.admission.SettleDays(&live.demand, record, done) {
			done(now)
		}
	}, now)
}

// publishOutputs publishes the outputs of the last transition of a record and calls done when
// all of them are acknowledged.
func (o *Owner) publishOutputs(ctx context.Context, live *liveSession, last *schemas.Transition, done func(now time.Time), now time.Time) {
	o.begin(live, stageSending)
	env, missing, ready := o.envAfter(live)
	dispensable := o.earlierAt(live, &env, missing)
	again := func(now time.Time, err error) {
		if err != nil && live.isLost(err) {
			if lost := *missing; len(lost) > 0 && dispensable[lost[0]] {
				o.Log.Warn().Err(err).Str("session", live.id()).Msg("what was said before is told without what the ledger has lost of it")
				live.misses = 0
				live.fetchedInputs[lost[0]] = restore.Input{}
				o.publishOutputs(ctx, live, last, done, now)
				return
			}
			// The request is never sent; its queue deadline fails the attempt.
			o.Log.Error().Err(err).Str("session", live.id()).Msg("an output of a record stands on something that the ledger has lost")
			live.misses = 0 // of what comes next nothing has been looked for
			done(now)
			return
		}
		if err != nil {
			o.Log.Warn().Err(err).Str("session", live.id()).Msg("outputs wait for the ledger")
			live.tries++
			o.loop.At(now.Add(o.publisher.Backoff.After(int(live.tries))), func(now time.Time) { o.publishOutputs(ctx, live, last, done, now) })
			return
		}
		o.publishOutputs(ctx, live, last, done, now)
	}
	if !ready {
		o.loop.Start(func() error {
			_, err := o.Profiles.Fetch(ctx, live.state.Active.ProfileHash)
			return err
		}, again)
		return
	}
	outputs, err := session.Outputs(env, live.state, last)
	switch {
	case err != nil:
		// The request is never sent; its queue deadline fails the attempt.
		o.Log.Error().Err(err).Str("session", live.id()).Msg("an output of a record cannot be written")
		done(now)
	case len(*missing) > 0:
		o.fetchInputs(ctx, live, (*missing)[:1], again) // with it the others may not be needed
	default:
		o.publishAll(ctx, o.markFirstCopy(live, outputs), done, now)
	}
}

// republish publishes the outputs of a session's last record unless the checkpoint
// proves that they are acknowledged, and lets the session go on.
//
// Below the low watermark they are, but for one case: a former owner that did not know
// that it was one wrote the record after the shard had been taken over.
func (o *Owner) republish(ctx context.Context, live *liveSession, found *restore.StoredSession, now time.Time) {
	if fault.Is("a new owner sends nothing again") || found.Last == nil || found.Sequence <= o.watermark.Value && !o.checkpoint.WrittenByFenced(found.Last.Epoch, found.Sequence) {
		o.end(live)
		return
	}
	if live.watermarkPin == nil {
		live.watermarkPin = o.watermark.Pin() // no input above the low watermark may lead to it any more
	}
	o.publishRecord(ctx, live, found.Last, func(time.Time) { o.end(live) }, now)
}

func (o *Owner) envAfter(live *liveSession) (session.Env, *[]uint64, bool) {
	var missing []uint64
	env := o.env(live, &missing)
	if live.state.Active != nil {
		env.Pinned = o.Profiles.Pinned(live.state.Active.ProfileHash)
		return env, &missing, env.Pinned != nil
	}
	return env, &missing, true
}

// earlierAt lets outputs read what was said before the run under way, and returns what they have
// asked for: they go without it when it is lost.
func (o *Owner) earlierAt(live *liveSession, env *session.Env, missing *[]uint64) (asked map[uint64]bool) {
	if len(live.state.Said) == 0 {
		return nil // there is nothing to ask for
	}
	asked = map[uint64]bool{}
	recall := o.inputAt(live, missing)
	env.EarlierAt = func(sequence uint64) (session.Input, schemas.Result) {
		asked[sequence] = true
		input := recall(sequence)
		return input.Read, input.Content
	}
	return asked
}

// markFirstCopy makes sure that one message at most says that it is the first copy of its
// request, and brings a permit along: that which is published right after its record by
// whoever wrote it. Any other copy goes without, so that its agent asks.
func (o *Owner) markFirstCopy(live *liveSession, outputs []session.Output) []session.Output {
	server := ""
	if live.fresh || fault.Is("every copy of a request brings its permit") {
		server = o.Core.Server()
	}
	live.fresh = false
	for i := range outputs {
		if output := &outputs[i]; output.Event.Type == schemas.TypeExecutionRequest {
			output.Event.First = server
		}
		if server == "" {
			publisher.MarkRepublished(&outputs[i].Event)
		}
	}
	return outputs
}

// publishAll publishes outputs in order and calls done when the last is acknowledged.
func (o *Owner) publishAll(ctx context.Context, outputs []session.Output, done func(now time.Time), now time.Time) {
	left := 1
	acknowledged := func(now time.Time) {
		if left--; left == 0 {
			done(now)
		}
	}
	for i := range outputs {
		output := &outputs[i]
		if !output.Durable() {
			o.sendHints(outputs[i:i+1], now)
			continue
		}
		left++
		if output.Kind == session.OutputResponse {
			response, _ := o.publisher.ReplySubjects(output.Agent, &output.Event)
			o.publisher.PublishUntilStored(ctx, response, &output.Event, acknowledged)
			continue
		}
		if output.Streamed && o.Streamed != nil {
			o.Streamed(output.Agent, output.Event.ID, output.Event.Expires)
		}
		output.Event.ReplyTo = bus.ResponseSubject(output.Agent, o.Shard)
		o.publisher.PublishUntilStored(ctx, bus.RequestSubject(output.Agent), &output.Event, acknowledged)
	}
	acknowledged(now)
}

// sendAlone does what an input comes to that changes nothing, and holds its session up
// until that is stored: once a later input is applied, a successor would take this one
// for dealt with.
func (o *Owner) sendAlone(ctx context.Context, live *liveSession, in *input, outputs []session.Output) {
	for i := range outputs {
		switch output := &outputs[i]; output.Kind {
		case session.OutputQuarantine:
			o.refuse(ctx, live, in, output.Refusal)
		case session.OutputRepeatedResponse:
			o.resendResponse(ctx, live, in, output.Run)
		case session.OutputRequest, session.OutputResponse, session.OutputCancelHint, session.OutputPermitAnswer, session.OutputReusable:
		}
	}
}

// resendResponse publishes the answer to a request that came again after its run
// had ended: whoever asks again has not heard it. The answer is the same, byte
// for byte, because it follows from the same record. What is another request under
// the same id is refused, also while the run goes on.
func (o *Owner) resendResponse(ctx context.Context, live *liveSession, in *input, run int) {
	fetchFor(ctx, o, live, func() ([]session.Output, error) {
		return restore.ReadResponse(ctx, o.Core, o.ArtifactGrants, o.Shard, live.id(), run, &in.read)
	}, func(now time.Time, outputs []session.Output) {
		o.begin(live, stageSending)
		o.publishAll(ctx, outputs, func(time.Time) { o.complete(live, []*input{in}) }, now)
	})
}
