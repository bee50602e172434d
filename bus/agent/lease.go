package agent

import (
	"context"
	"sync"
	"time"

	"podium/bus"
)

// A lease is the right to work on a request. Its context ends when the right does.
type lease struct {
	delivery bus.Delivery
	third    time.Duration // of the ack-wait
	lose     context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	held  time.Time // of the last sign of life
	ended bool
}

// keepLease begins to keep the lease of a delivery, by a sign of life at every third
// of the ack-wait. When signs of life fail, the context ends with errLeaseLost
// before the bus hands the request to somebody else.
func (s *server) keepLease(ctx context.Context, d bus.Delivery) (context.Context, *lease) {
	ctx, lose := context.WithCancelCause(ctx)
	l := &lease{delivery: d, third: s.config.AckWait / 3, lose: lose, held: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.third, func() { l.keep(ctx) })
	return ctx, l
}

func (l *lease) keep(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || ctx.Err() != nil {
		return
	}
	now := time.Now()
	switch err := l.delivery.InProgress(); {
	case err == nil:
		l.held = now
		l.timer.Reset(l.third)
	case now.Sub(l.held) >= l.third*5/2:
		l.lose(errLeaseLost)
	default:
		l.timer.Reset(l.third / 4)
	}
}

// end stops keeping the lease; no sign of life follows it.
func (l *lease) end() {
	l.lose(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.timer.Stop()
}
