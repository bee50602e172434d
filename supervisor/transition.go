package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/history"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// append stores the record of a batch: step 2 of a transition.
func (o *Owner) append(ctx context.Context, c *conversation, b *batch) {
	b.record = schemas.Record{
		Session: c.id(), Number: b.state.Records, Epoch: o.checkpoint.Epoch, Chain: c.chain.String(),
		Cause: b.transitions[0].Cause, Facts: b.transitions[0].Facts,
	}
	if len(b.transitions) > 1 {
		b.record.Then = b.transitions[1:]
	}
	if len(b.inputs) == 0 {
		c.hold = o.watermark.Pin()
	}
	o.begin(c)
	event, err := recordEvent(c, &b.record, &b.state, c.behind.Due())
	switch {
	case err != nil && len(b.inputs) == 0:
		o.admission.Release(&c.admission) // it holds this session back, and no other
		o.retry(c, o.now, err)
		return
	case err != nil:
		o.unstorable(ctx, c, b, err)
		return
	}
	b.body, b.trail = event.Data, event.Trail
	subject := bus.SessionSubject(c.id(), o.shards)
	o.publisher.Publish(ctx, subject, &event, bus.After(c.sequence), func(now time.Time, ack bus.Ack, err error) {
		switch {
		case err == nil:
			o.stored(c, &b.record)
			c.adopt(b, ack.Sequence)
			o.track(c)
			o.recognize(c, c.sequence)
			o.emit(ctx, c, b.record.Last(), func(time.Time) { o.settle(c, b.inputs) }, now)
		case errors.Is(err, bus.ErrConflict) && c.misjudged():
			o.end(c)
		case len(b.inputs) > 0 && (errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent)):
			o.unstorable(ctx, c, b, err)
		case errors.Is(err, bus.ErrConflict) || bus.Temporary(err):
			o.doubt(ctx, c, b, now, err)
		default:
			o.admission.Release(&c.admission) // others need not wait for this one
			o.retry(c, now, err)
		}
	})
}

// unstorable puts an input whose record the ledger can never take into
// quarantine. Of several it is not known which one it is: the first is decided
// anew, alone. Nothing is sent, so that whoever it was admitted to has its room back.
func (o *Owner) unstorable(ctx context.Context, c *conversation, b *batch, err error) {
	o.admission.Release(&c.admission)
	if len(b.inputs) > 1 {
		c.alone = true
		o.end(c)
		return
	}
	if !c.confirmed(b.inputs[0].message.Sequence) {
		o.confirm(ctx, c)
		return
	}
	detail := "what follows from it cannot be stored: " + err.Error()
	o.isolate(ctx, b.inputs[0], schemas.QuarantineMalformed, detail, func(time.Time) { o.settle(c, b.inputs) })
}

func recordEvent(c *conversation, record *schemas.Record, state *session.State, snapshot bool) (schemas.Event, error) {
	event := schemas.Event{
		ID: record.Session + "/" + strconv.FormatUint(record.Number, 10), Source: "/podium/supervisor",
		Type: schemas.TypeRecord, Time: record.Cause.Time, DataContentType: schemas.MediaTypeJSON,
		CausationID: record.Cause.ID, Phase: string(plan.PhaseComplete), Snap: c.snap, Previous: c.sequence, Trail: c.tip.Next(record),
	}
	if run := runOf(record); run > 0 {
		event.CorrelationID = schemas.RunID(record.Session, run)
		event.Subject = event.CorrelationID
	}
	if state.Active != nil {
		event.Phase = string(state.Active.Phase)
	}
	if snapshot {
		event.Snap = 0
		body, err := schemas.Marshal(state)
		if err != nil {
			return event, err
		}
		record.Snapshot, record.Roots = body, c.tip.Roots()
	}
	body, err := schemas.Marshal(record)
	event.Data = body
	return event, err
}

func runOf(record *schemas.Record) int {
	for fact := range record.AllFacts() {
		if run := fact.Run(); run > 0 {
			return run
		}
	}
	return 0
}

// adopt makes a stored record the conversation's newest.
func (c *conversation) adopt(b *batch, sequence uint64) {
	c.state, c.sequence, c.chain, c.fresh = b.state, sequence, history.Hash(b.body), true
	c.loaded = sequence >= c.newest // else another owner has written behind it
	if len(b.record.Snapshot) > 0 {
		c.snap = sequence
	}
	c.behind = c.behind.With(len(b.body), len(b.record.Snapshot))
	c.tip = c.tip.After(&b.record, b.trail, sequence)
}

// doubt resolves an append whose outcome is unknown or a conflict: read again
// and compare. If the record is there, it counts as acknowledged. If a later owner
// wrote one, the shard is not ours any more; if a former one did, the checkpoint
// says whether it still is.
func (o *Owner) doubt(ctx context.Context, c *conversation, b *batch, now time.Time, cause error) {
	conflict := errors.Is(cause, bus.ErrConflict)
	if !conflict {
		c.tries++
	}
	var found *history.Session
	o.loop.At(now.Add(o.pause(c, conflict)), func(time.Time) {
		o.loop.Await(func() (err error) {
			found, err = history.Load(ctx, o.Core, c.id())
			return err
		}, func(now time.Time, err error) {
			switch {
			case err != nil && !bus.Temporary(err):
				c.outdate() // it is loaded first, which decides what becomes of it
				o.admission.Release(&c.admission)
				o.end(c)
			case err != nil:
				o.doubt(ctx, c, b, now, &bus.TemporaryError{Op: "read the session again", Err: err})
			case found.Chain == history.Hash(b.body):
				o.stored(c, &b.record)
				c.take(found)
				o.track(c)
				o.recognize(c, c.sequence)
				o.emit(ctx, c, b.record.Last(), func(time.Time) { o.settle(c, b.inputs) }, now)
			case found.Sequence == c.sequence:
				o.learn(c)
				o.admission.Release(&c.admission) // who waits comes first
				o.end(c)                          // it never arrived: decide anew
			case c.misjudged():
				o.end(c)
			case o.deposed(found):
				o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			default:
				o.overwritten(c)
				c.take(found)
				o.track(c)
				o.recognize(c, 0)
				o.emit(ctx, c, found.Last.Last(), func(time.Time) { o.end(c) }, now)
			}
		})
	})
}

func (o *Owner) pause(c *conversation, conflict bool) time.Duration {
	if conflict {
		return 0
	}
	return o.backoff.After(int(c.tries))
}

// settle ends a record: its outputs are acknowledged.
func (o *Owner) settle(c *conversation, inputs []*input) {
	o.leave(c, inputs)
	o.end(c)
}

// leave leaves the conversation's first inputs behind, all together: they are
// dealt with.
func (o *Owner) leave(c *conversation, inputs []*input) {
	for i, in := range inputs {
		o.watermark.Leave(in.entry)
		c.inputs[i] = nil
	}
	if c.inputs = c.inputs[len(inputs):]; len(c.inputs) == 0 {
		c.inputs = nil
	}
	c.alone, c.tries, c.misses = false, 0, 0
}

// track keeps the index of requests that wait for an answer, once a
// conversation's state is the ledger's.
func (o *Owner) track(c *conversation) {
	if c.sequence >= c.newest {
		o.learn(c)
	}
	o.admission.Track(&c.admission)
	for _, request := range c.requests {
		delete(o.waiting, request)
	}
	c.requests = c.state.Requests(o.Shard)
	for _, request := range c.requests {
		o.waiting[request] = c
	}
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

// env is what a decision about a conversation knows of inputs before it; those that
// are not at hand are noted.
func (o *Owner) env(c *conversation, missing *[]uint64) session.Env {
	recall := o.recall(c, missing)
	return session.Env{
		Shard:  o.Shard,
		Grants: o.Grants,
		Read:   func(body schemas.Body) schemas.Result { return recall(body.Sequence).Content },
		Recall: func(sequence uint64) session.Input { return recall(sequence).Read },
	}
}

// collect fetches inputs for a conversation that is already busy.
func (o *Owner) collect(ctx context.Context, c *conversation, sequences []uint64, done func(now time.Time, err error)) {
	fetched := map[uint64]history.Input{}
	o.loop.Await(func() error {
		for _, sequence := range sequences {
			input, err := history.ReadInput(ctx, o.Core, o.Shard, sequence)
			if err != nil {
				return err
			}
			input.Read.Event.Data = nil // it has been read
			fetched[sequence] = input
		}
		return nil
	}, func(now time.Time, err error) {
		if c.recalled == nil {
			c.recalled = map[uint64]history.Input{}
		}
		maps.Copy(c.recalled, fetched)
		done(now, err)
	})
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

// hint tells an agent that nobody waits for a request any more. Who does not hear
// it is told again when it says that it works on the request.
func (o *Owner) hint(agent, request string) {
	if err := o.Core.Signal(bus.ServiceSubject(agent, bus.SignalCancel), []byte(request)); err != nil {
		o.Log.Debug().Err(err).Msg("cancel hint not sent")
	}
}

// stored tells those who follow what happens of a record that is on the ledger, given the
// conversation before it.
func (o *Owner) stored(c *conversation, record *schemas.Record) {
	if o.Observe != nil {
		o.Observe(&c.state, record)
	}
	o.admission.Observe(&c.admission, record)
}
