package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
)

// Run takes the shard over and works on it until ctx ends, then finishes what is
// under way, writes a last checkpoint and returns nil. It returns ErrNotOwner
// when another process takes the shard, and other errors when the ledger
// cannot be used; then the caller may try again with a new owner.
func (o *Owner) Run(ctx context.Context) error {
	ctx = bus.WithPrecedence(ctx)
	operating, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer o.loop.Wait()
	defer stop()
	if err := o.Open(ctx, time.Now()); err != nil {
		return err
	}
	defer o.stream.reader.Close()
	defer o.admission.Leave()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		worked, err := o.Tick(operating, time.Now())
		if err != nil {
			return err
		}
		if !worked {
			o.wait(ctx, timer)
		}
	}
	return o.finish(operating, timer)
}

// finishWithin bounds a stop in order, finishTries its attempts at a last checkpoint.
const (
	finishWithin = 10 * time.Second
	finishTries  = 6
)

func (o *Owner) finish(operating context.Context, timer *time.Timer) error {
	bounded, stop := context.WithTimeout(operating, finishWithin)
	defer stop()
	o.MaxPending = 0 // no new inputs
	for o.Busy() && o.publisher.LedgerError() == nil && bounded.Err() == nil {
		worked, err := o.Tick(operating, time.Now())
		if err != nil {
			return err
		}
		if !worked {
			o.wait(bounded, timer)
		}
	}
	if o.publisher.LedgerError() != nil {
		return fmt.Errorf("stopped before everything under way was finished; the next start goes on with it: %w", o.publisher.LedgerError())
	}
	if o.Busy() {
		return errors.New("stopped before everything under way was finished; the next start goes on with it")
	}
	return o.writeLast(operating, bounded, timer)
}

// writeLast writes the checkpoint that ends a stop in order.
func (o *Owner) writeLast(operating, bounded context.Context, timer *time.Timer) error {
	for tries := 0; !o.checkpoint.Clean && o.publisher.LedgerError() == nil && tries < finishTries && bounded.Err() == nil; tries++ {
		if tries > 0 {
			timer.Reset(o.publisher.Backoff.After(tries))
			select {
			case <-timer.C:
			case <-bounded.Done():
			}
		}
		o.checkpoint.Write(operating, time.Now().UTC(), o.watermark.Value, true)
		for o.checkpoint.Writing() && bounded.Err() == nil {
			worked, err := o.Tick(operating, time.Now())
			if err != nil {
				return err
			}
			if !worked {
				o.wait(bounded, timer)
			}
		}
	}
	if !o.checkpoint.Clean {
		return errors.New("stopped without a last checkpoint; the next start goes on from the one before it")
	}
	return nil
}

func (o *Owner) wait(ctx context.Context, timer *time.Timer) {
	pause := time.Hour
	if next, ok := o.Next(); ok {
		pause = max(time.Until(next), 0)
	}
	timer.Reset(pause)
	select {
	case <-o.loop.Wake():
	case <-o.stream.reader.Wake():
	case <-timer.C:
	case <-ctx.Done():
	}
}
