package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// append stores the record of a decision: step 2 of a transition.
func (o *Owner) append(ctx context.Context, c *conversation, in *input, cause schemas.Cause, outcome session.Outcome) {
	record := schemas.Record{
		Session: c.id, Number: outcome.State.Records, Epoch: o.checkpoint.epoch, Chain: c.chain,
		Cause: cause, Facts: outcome.Facts,
	}
	if in == nil {
		c.hold = o.floor.enter(o.floor.read)
	}
	snapshot := c.unsnapped+1 >= schemas.SnapshotEvery
	event, err := recordEvent(c, &record, &outcome.State, snapshot)
	if err != nil && in != nil {
		o.refuse(ctx, c, in, unstorable(err))
		return
	}
	if err != nil {
		o.fail(err)
		return
	}
	o.begin(c)
	body := event.Data
	subject := bus.SessionSubject(c.id, o.shards)
	o.send(ctx, subject, &event, bus.After(c.sequence), func(now time.Time, ack bus.Ack, err error) {
		switch {
		case err == nil:
			c.adopt(outcome.State, ack.Sequence, snapshot, body)
			o.track(c)
			o.emit(ctx, c, &record, func(time.Time) { o.settle(c, in) }, now)
		case errors.Is(err, bus.ErrConflict) && c.misjudged():
			o.end(c)
		case in != nil && (errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent)):
			refusal := unstorable(err)
			o.isolate(ctx, in, refusal.Reason, refusal.Detail, func(time.Time) { o.settle(c, in) })
		case errors.Is(err, bus.ErrConflict) || bus.Temporary(err):
			o.doubt(ctx, c, in, &record, body, now, err)
		default:
			o.retry(c, now, err)
		}
	})
}

// unstorable refuses an input whose record the ledger can never take.
func unstorable(err error) *session.Refusal {
	return &session.Refusal{Reason: schemas.QuarantineMalformed, Detail: "what follows from it cannot be stored: " + err.Error()}
}

func recordEvent(c *conversation, record *schemas.Record, state *session.State, snapshot bool) (schemas.Event, error) {
	event := schemas.Event{
		ID: record.Session + "/" + strconv.FormatUint(record.Number, 10), Source: "/podium/supervisor",
		Type: schemas.TypeRecord, Time: record.Cause.Time, DataContentType: schemas.MediaTypeJSON,
		CausationID: record.Cause.ID, Phase: string(plan.PhaseComplete), Snap: c.snap, Previous: c.sequence,
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
		record.Snapshot = body
	}
	body, err := schemas.Marshal(record)
	event.Data = body
	return event, err
}

func runOf(record *schemas.Record) int {
	for i := range record.Facts {
		if run := record.Facts[i].Run(); run > 0 {
			return run
		}
	}
	return 0
}

// adopt makes a stored record the conversation's newest.
func (c *conversation) adopt(state session.State, sequence uint64, snapshot bool, body []byte) {
	c.state, c.sequence, c.chain = state, sequence, hash(body)
	if snapshot {
		c.snap, c.unsnapped = sequence, 0
	} else {
		c.unsnapped++
	}
}

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// doubt resolves an append whose outcome is unknown or a conflict: read again
// and compare. If the record is there, it counts as acknowledged. If somebody
// else wrote one, the checkpoint says whether the shard is still ours.
func (o *Owner) doubt(ctx context.Context, c *conversation, in *input, record *schemas.Record, body []byte, now time.Time, cause error) {
	conflict := errors.Is(cause, bus.ErrConflict)
	if !conflict {
		c.tries++
	}
	var found *loaded
	o.alarms.add(now.Add(o.pause(c, conflict)), func(time.Time) {
		o.operate(func() (err error) {
			found, err = loadSession(ctx, o.Core, o.shards, c.id)
			return err
		}, func(now time.Time, err error) {
			switch {
			case err != nil:
				o.doubt(ctx, c, in, record, body, now, &bus.TemporaryError{Op: "read the session again", Err: err})
			case found.chain == hash(body):
				c.take(found)
				o.track(c)
				o.emit(ctx, c, record, func(time.Time) { o.settle(c, in) }, now)
			case found.sequence == c.sequence:
				o.learn(c)
				o.end(c) // it never arrived: decide anew
			case c.misjudged():
				o.end(c)
			default:
				o.Log.Warn().Str("session", c.id).Int("shard", o.Shard).Msg("another owner wrote to the session")
				o.checkpoint.again = true // only the owner can write one
				c.take(found)
				o.track(c)
				o.emit(ctx, c, found.last, func(time.Time) { o.end(c) }, now)
			}
		})
	})
}

func (o *Owner) pause(c *conversation, conflict bool) time.Duration {
	if conflict {
		return 0
	}
	return o.backoff(c.tries)
}

// settle ends a transition: its outputs are acknowledged.
func (o *Owner) settle(c *conversation, in *input) {
	if in != nil {
		o.floor.leave(in.entry)
	}
	o.dealtWith(c, in)
	o.end(c)
}

// track keeps the index of requests that wait for an answer, once a
// conversation's state is the ledger's.
func (o *Owner) track(c *conversation) {
	o.learn(c)
	o.credit(c)
	if len(c.grants) > 0 && !c.ready(c.grants[0].grant) {
		o.granted(c)
	}
	for _, request := range c.requests {
		delete(o.waiting, request)
	}
	c.requests = c.state.Requests()
	for _, request := range c.requests {
		o.waiting[request] = c
	}
}

// ready reports whether a grant still has something to be used for.
func (c *conversation) ready(grant schemas.Grant) bool {
	for waiting := range c.state.Waiting {
		if waiting == grant {
			return true
		}
	}
	return false
}

// emit publishes what a record owes and calls done when all of it is acknowledged.
func (o *Owner) emit(ctx context.Context, c *conversation, record *schemas.Record, done func(now time.Time), now time.Time) {
	env, missing, ready := o.envAfter(c)
	again := func(now time.Time, err error) {
		if err != nil {
			o.Log.Warn().Err(err).Str("session", c.id).Msg("outputs wait for the ledger")
			c.tries++
			o.alarms.add(now.Add(o.backoff(c.tries)), func(now time.Time) { o.emit(ctx, c, record, done, now) })
			return
		}
		o.emit(ctx, c, record, done, now)
	}
	if !ready {
		o.operate(func() error {
			_, err := o.Profiles.Fetch(ctx, c.state.Active.ProfileHash)
			return err
		}, again)
		return
	}
	outputs, err := session.Outputs(env, c.state, record)
	switch {
	case err != nil:
		// The request is never sent; its queue deadline fails the attempt.
		o.Log.Error().Err(err).Str("session", c.id).Msg("what a record owes cannot be written")
		done(now)
	case len(*missing) > 0:
		o.collect(ctx, c, *missing, again)
	default:
		o.deliver(ctx, outputs, done, now)
	}
}

func (o *Owner) envAfter(c *conversation) (session.Env, *[]uint64, bool) {
	var missing []uint64
	env := session.Env{Shard: o.Shard, Read: o.bodies(c, &missing)}
	if c.state.Active != nil {
		env.Pinned = o.Profiles.Pinned(c.state.Active.ProfileHash)
		return env, &missing, env.Pinned != nil
	}
	return env, &missing, true
}

// collect fetches bodies for a conversation that is already busy.
func (o *Owner) collect(ctx context.Context, c *conversation, sequences []uint64, done func(now time.Time, err error)) {
	fetched := map[uint64]schemas.Result{}
	o.operate(func() error {
		for _, sequence := range sequences {
			content, err := Content(ctx, o.Core, o.Core.Artifacts(), bus.ShardStream(o.Shard), sequence)
			if err != nil {
				return err
			}
			fetched[sequence] = content
		}
		return nil
	}, func(now time.Time, err error) {
		if c.bodies == nil {
			c.bodies = map[uint64]schemas.Result{}
		}
		for _, sequence := range sequences {
			if content, ok := fetched[sequence]; ok {
				c.bodies[sequence] = content
			}
		}
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
		if output.Cancel != "" {
			if err := o.Core.Signal(bus.ServiceSubject(output.Agent, bus.SignalCancel), []byte(output.Cancel)); err != nil {
				o.Log.Debug().Err(err).Msg("cancel hint not sent")
			}
			continue
		}
		left++
		if output.Response {
			response, _ := bus.ReplySubjects(output.Agent, &output.Event)
			o.insist(ctx, response, &output.Event, 0, acknowledged)
			continue
		}
		output.Event.ReplyTo = bus.ResponseSubject(output.Agent, o.Shard)
		o.insist(ctx, bus.RequestSubject(output.Agent), &output.Event, 0, acknowledged)
	}
	acknowledged(now)
}
