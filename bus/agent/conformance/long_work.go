package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
)

const (
	// longest bounds the wait for the answer to long work.
	longest = 2 * time.Minute
	// beginWithin is how soon long work has to begin with progress.
	beginWithin = 3 * time.Second
	// slack is how much later than promised a sign of life may come on a busy machine.
	slack = 2 * time.Second
	// stopWithin is the least time that cancelled work has to stop.
	stopWithin = 3 * time.Second
)

// longWork is what was seen of one long piece of work.
type longWork struct {
	took       time.Duration
	begun      time.Duration // until the first progress; 0 when there was none
	gap        time.Duration // the longest one between two signs of life, the answer counting as one
	deliveries uint64        // how often its request was handed out
}

// longWork has the agent do long work, once for all checks of a stage.
func (x *exchange) longWork(ctx context.Context) (*longWork, error) {
	if x.Program.Slow == nil {
		return nil, &NotChecked{"nothing is known that takes the agent long: name some by --slow"}
	}
	if x.long != nil {
		return x.long, nil
	}
	before, err := x.Core.PoolState(ctx, x.Agent)
	if err != nil {
		return nil, err
	}
	r, err := x.said(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	started := time.Now()
	request, _, err := x.ask(ctx, x.Program.Slow)
	if err != nil {
		return nil, err
	}
	seen := &longWork{}
	for last := started; ; {
		m, err := x.next(ctx, r, longest)
		if errors.Is(err, errSilent) {
			return nil, fmt.Errorf("work that takes long says nothing for %s", longest)
		}
		if err != nil {
			return nil, err
		}
		now := time.Now()
		about, answered, err := x.concerns(ctx, m)
		if err != nil {
			return nil, err
		}
		if about != "" && about != request.MessageID {
			continue // an earlier one
		}
		seen.gap, last = max(seen.gap, now.Sub(last)), now
		if answered {
			seen.took = now.Sub(started)
			break
		}
		if seen.begun == 0 {
			seen.begun = now.Sub(started)
		}
	}
	after, err := x.Core.PoolState(ctx, x.Agent)
	if err != nil {
		return nil, err
	}
	seen.deliveries = after.Deliveries - before.Deliveries
	x.long = seen
	return seen, x.fromNowOn(ctx)
}

// said reads progress and answers in the order in which they come.
func (x *exchange) said(ctx context.Context) (bus.Reader, error) {
	return x.Core.Read(ctx, bus.ShardStream(shard), x.from, bus.ResponseSubject(x.Agent, shard), bus.ProgressSubject(x.Agent, shard))
}

// concerns returns which request a message of said is about, and whether it is its answer.
func (x *exchange) concerns(ctx context.Context, m bus.Message) (request string, answered bool, err error) {
	if m.Subject == bus.ProgressSubject(x.Agent, shard) {
		update, err := readProgress(m)
		return update.InReplyTo, false, err
	}
	s, err := x.understand(ctx, m)
	return s.InReplyTo, err == nil, err
}

func tellsThatItWorks(ctx context.Context, x *exchange) error {
	seen, err := x.longWork(ctx)
	switch {
	case err != nil:
		return err
	case seen.begun != 0 && seen.begun <= beginWithin:
		return nil
	case seen.took <= beginWithin:
		return &NotChecked{fmt.Sprintf("what was named as slow took %s, and longer than %s is needed", seen.took.Round(time.Millisecond), beginWithin)}
	case seen.begun == 0:
		return fmt.Errorf("it works for %s without any progress, so that its work counts as not begun", seen.took.Round(time.Second))
	}
	return fmt.Errorf("the first progress of long work comes after %s", seen.begun.Round(time.Second))
}

func showsSignsOfLife(ctx context.Context, x *exchange) error {
	promised := x.Program.Heartbeat
	if promised == 0 {
		return &NotChecked{"no heartbeat is promised: name it by --heartbeat, or -c with `heartbeat` of the agent"}
	}
	seen, err := x.longWork(ctx)
	switch {
	case err != nil:
		return err
	case seen.gap > promised+slack && seen.begun != 0:
		return fmt.Errorf("it says nothing for %s while it works, and promises a sign of life every %s", seen.gap.Round(time.Second), promised)
	case seen.took <= promised+slack:
		return &NotChecked{fmt.Sprintf("what was named as slow took %s, and longer than %s is needed", seen.took.Round(time.Millisecond), promised+slack)}
	case seen.begun == 0:
		return &NotChecked{"it tells no progress at all: see tells-that-it-works"}
	}
	return nil
}

func keepsItsRequest(ctx context.Context, x *exchange) error {
	seen, err := x.longWork(ctx)
	switch {
	case err != nil:
		return err
	case seen.deliveries > 1:
		return fmt.Errorf("its request was handed out %d times while it worked, as nothing was heard of it for %s", seen.deliveries, x.Program.AckWait)
	case seen.took <= x.Program.AckWait:
		return &NotChecked{fmt.Sprintf("what was named as slow took %s, and longer than %s is needed", seen.took.Round(time.Millisecond), x.Program.AckWait)}
	}
	return nil
}

// lasts returns why what is named as slow does not take long enough to be interfered with.
func (x *exchange) lasts(ctx context.Context) error {
	const needed = stopWithin + slack
	seen, err := x.longWork(ctx)
	if err == nil && seen.took < needed {
		err = &NotChecked{fmt.Sprintf("what was named as slow took %s, and longer than %s is needed", seen.took.Round(time.Millisecond), needed)}
	}
	return err
}

// begins makes a slow request and waits until the agent is at it.
func (x *exchange) begins(ctx context.Context) (schemas.ExecutionRequest, error) {
	before, err := x.Core.PoolState(ctx, x.Agent)
	if err != nil {
		return schemas.ExecutionRequest{}, err
	}
	request, _, err := x.ask(ctx, x.Program.Slow)
	if err != nil {
		return request, err
	}
	taken, err := x.awaits(ctx, x.patience(), func(state bus.PoolState) bool { return state.Deliveries > before.Deliveries })
	if err == nil && !taken {
		err = fmt.Errorf("nobody has taken a request within %s", x.patience())
	}
	if err != nil {
		return request, err
	}
	const atIt = 500 * time.Millisecond // a request that was handed out is read and begun
	return request, pause(ctx, atIt)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stopLimit returns how much time cancelled work has to stop: what it takes without a cancel, less slack, and stopWithin at least.
func (x *exchange) stopLimit() time.Duration {
	return max(stopWithin, x.long.took-slack)
}

// cancel tells that nobody waits for a request any more, again and again as an owner does.
func (x *exchange) cancel(ctx context.Context, requests ...string) (stopped bool, err error) {
	for end := time.Now().Add(x.stopLimit()); time.Now().Before(end) && !stopped && err == nil; {
		for _, request := range requests {
			if err := x.Core.Signal(bus.ServiceSubject(x.Agent, bus.SignalCancel), []byte(request)); err != nil {
				return false, err
			}
		}
		stopped, err = x.free(ctx, time.Second)
	}
	return stopped, err
}

func stopsWhenCancelled(ctx context.Context, x *exchange) error {
	if err := x.lasts(ctx); err != nil {
		return err
	}
	r, err := x.answers(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	request, err := x.begins(ctx)
	if err != nil {
		return err
	}
	stopped, err := x.cancel(ctx, request.MessageID)
	if err != nil {
		return err
	}
	if !stopped {
		return errors.New("its request was cancelled, and it has not acknowledged it before its work would have ended")
	}
	s, err := x.nextAnswer(ctx, r, quiet)
	switch {
	case errors.Is(err, errSilent):
		return nil
	case err == nil && s.Payload.Status != schemas.StatusFailed: // to say that it was not done changes nothing
		return errors.New("it was told that nobody waits any more, and answers all the same")
	}
	return err
}

func worksOnSeveral(ctx context.Context, x *exchange) error {
	if x.Program.Concurrency < 2 {
		return &NotChecked{"it takes one request at a time"}
	}
	if err := x.lasts(ctx); err != nil {
		return err
	}
	if x.long.begun == 0 {
		return &NotChecked{"it tells no progress at all: see tells-that-it-works"}
	}
	r, err := x.said(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var ids []string
	for range 2 {
		request, _, err := x.ask(ctx, x.Program.Slow)
		if err != nil {
			return err
		}
		ids = append(ids, request.MessageID)
	}
	begun := map[string]bool{}
	for len(begun) < len(ids) {
		m, err := x.next(ctx, r, longest)
		if err != nil {
			return err
		}
		about, answered, err := x.concerns(ctx, m)
		switch {
		case err != nil:
			return err
		case !slices.Contains(ids, about): // an earlier one
			continue
		case answered && !begun[other(ids, about)]:
			return fmt.Errorf("it is configured for %d requests at a time, and begins the second when the first is answered", x.Program.Concurrency)
		}
		begun[about] = true
	}
	_, err = x.cancel(ctx, ids...)
	return err
}

func other(ids []string, id string) string {
	if ids[0] == id {
		return ids[1]
	}
	return ids[0]
}
