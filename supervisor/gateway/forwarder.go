package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/binding"
	"podium/schemas"
)

// A Forwarder moves the answers of agents that ignore replyto from the work
// stream to the shard of the request they answer: the request's id names it. An
// answer moved twice changes nothing, so a lost cursor costs only repeats.
type Forwarder struct {
	Core bus.Core
	Log  zerolog.Logger
	// Supervisors are the agents that are supervisors of this ledger. What they
	// say to a request that is none of the ledger's stays where it is: whoever
	// asked without a replyto reads it there.
	Supervisors []string
}

// cursorKey holds the sequence up to which the work stream has been forwarded.
const cursorKey = "cursor.forwarder" // no agent's name holds a dot

const (
	forwardSaveEvery = time.Second
	forwardRetry     = time.Second
)

// Run forwards until ctx ends, and then returns nil.
func (f *Forwarder) Run(ctx context.Context) error {
	ctx = bus.WithPrecedence(ctx)
	store := f.Core.KeyValue(bus.AgentBucket)
	cursor, _, err := f.cursor(ctx, store)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		cursor, err = f.follow(ctx, store, cursor)
		if err != nil && ctx.Err() == nil {
			f.Log.Warn().Err(err).Msg("forwarding of bare answers was interrupted; going on")
			_ = backoff.Pause(ctx, forwardRetry)
		}
	}
	return nil
}

// SetBack sets the stored cursor back to the end of the work stream when it is ahead of it: a loss of
// power has cut the stream, and answers that come now would be skipped. Call it before agents answer.
func (f *Forwarder) SetBack(ctx context.Context) error {
	store := f.Core.KeyValue(bus.AgentBucket)
	for {
		cursor, revision, err := f.cursor(ctx, store)
		if err != nil || cursor == 0 {
			return err
		}
		work, err := f.Core.State(ctx, bus.WorkStream)
		if err != nil {
			return fmt.Errorf("set the forwarder's cursor back: %w", err)
		}
		if cursor <= work.Last {
			return nil
		}
		_, err = store.Update(ctx, cursorKey, []byte(strconv.FormatUint(work.Last, 10)), revision)
		if errors.Is(err, bus.ErrConflict) {
			continue // another process has changed it
		}
		if err == nil {
			f.Log.Warn().Uint64("cursor", cursor).Uint64("last", work.Last).Msg("the stream of requests ends before what was forwarded of it; forwarding goes on from its end")
		}
		return err
	}
}

func (f *Forwarder) cursor(ctx context.Context, store bus.KeyValue) (cursor, revision uint64, err error) {
	value, revision, err := store.Get(ctx, cursorKey)
	if errors.Is(err, bus.ErrNotFound) {
		return 0, 0, nil
	}
	if err == nil {
		cursor, err = strconv.ParseUint(string(value), 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the forwarder's cursor: %w", err)
	}
	return cursor, revision, nil
}

// save moves the stored cursor forward. It never moves it back: while two
// processes take turns, the other one may be ahead.
func (f *Forwarder) save(ctx context.Context, store bus.KeyValue, cursor uint64) error {
	stored, revision, err := f.cursor(ctx, store)
	if err != nil || stored >= cursor {
		return err
	}
	_, err = store.Update(ctx, cursorKey, []byte(strconv.FormatUint(cursor, 10)), revision)
	if errors.Is(err, bus.ErrConflict) {
		return nil // the other one has just saved; the next time is soon enough
	}
	return err
}

func (f *Forwarder) follow(ctx context.Context, store bus.KeyValue, cursor uint64) (uint64, error) {
	reader, err := f.Core.Read(ctx, bus.WorkStream, cursor+1, "podium.agent.*.response", "podium.agent.*.progress")
	if err != nil {
		return cursor, err
	}
	defer reader.Close()
	defer func() { // else what was moved since the last save comes again
		saving, stop := context.WithTimeout(context.WithoutCancel(ctx), forwardRetry)
		defer stop()
		if err := f.save(saving, store, cursor); err != nil {
			f.Log.Warn().Err(err).Msg("the forwarder's cursor is not saved; some answers will come again")
		}
	}()
	saved := time.Now()
	for {
		message, err := bus.Next(ctx, reader)
		if err != nil {
			return cursor, err
		}
		if err = f.forward(ctx, message); err != nil {
			return cursor, err
		}
		cursor = message.Sequence
		if time.Since(saved) < forwardSaveEvery {
			continue
		}
		saved = time.Now()
		if err = f.save(ctx, store, cursor); err != nil {
			return cursor, err
		}
	}
}

// forward moves one message. Progress that names no request may be any shard's;
// the others drop it. Any other message that names none goes to shard 0, whose
// owner puts it into quarantine with the reason.
func (f *Forwarder) forward(ctx context.Context, message bus.Message) error {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return err
	}
	event, malformed := binding.Decode(message)
	request := event.CausationID
	if request == "" && subject.Kind != bus.KindProgress {
		request = binding.NamedRequest(message, f.Core.Shards())
	}
	shard, named := schemas.ShardOfRequest(request)
	if shard >= f.Core.Shards() {
		shard, named = 0, false
	}
	switch {
	case !named && malformed == nil && slices.Contains(f.Supervisors, subject.Agent):
		return nil
	case subject.Kind != bus.KindProgress:
		return f.move(ctx, message, bus.ResponseSubject(subject.Agent, shard))
	case named || malformed != nil:
		return f.move(ctx, message, bus.ProgressSubject(subject.Agent, shard))
	}
	for shard := range f.Core.Shards() {
		if err = f.move(ctx, message, bus.ProgressSubject(subject.Agent, shard)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Forwarder) move(ctx context.Context, message bus.Message, target string) error {
	_, err := bus.Append(ctx, f.Core, bus.Message{Subject: target, Header: message.Header, Body: message.Body}, bus.Expect{})
	return err
}
