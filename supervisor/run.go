package supervisor

import (
	"context"
	"errors"
	"time"
)

// Run takes the shard over and works on it until ctx ends, then finishes what is
// under way, writes a last checkpoint and returns nil. It returns ErrNotOwner
// when another process takes the shard, and other errors when the ledger
// cannot be used; then the caller may try again with a new owner.
func (o *Owner) Run(ctx context.Context) error {
	operating, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer o.operations.Wait()
	defer stop()
	if err := o.Open(ctx, time.Now()); err != nil {
		return err
	}
	defer o.reader.Close()
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

// finishWithin bounds a stop in order.
const finishWithin = 10 * time.Second

func (o *Owner) finish(operating context.Context, timer *time.Timer) error {
	bounded, stop := context.WithTimeout(operating, finishWithin)
	defer stop()
	o.MaxPending = 0 // no new inputs
	for o.Busy() && bounded.Err() == nil {
		worked, err := o.Tick(operating, time.Now())
		if err != nil {
			return err
		}
		if !worked {
			o.wait(bounded, timer)
		}
	}
	if o.Busy() {
		return errors.New("stopped before everything under way was finished; the next start goes on with it")
	}
	o.writeCheckpoint(operating, time.Now(), true)
	for o.checkpoint.writing && bounded.Err() == nil {
		if _, err := o.Tick(operating, time.Now()); err != nil {
			return err
		}
		if o.checkpoint.writing {
			o.wait(bounded, timer)
		}
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
	case <-o.wake:
	case <-o.reader.Wake():
	case <-timer.C:
	case <-ctx.Done():
	}
}
