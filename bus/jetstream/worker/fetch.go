package worker

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/jetstream/wire"
)

const (
	// fetchLate is how long behind its end a request without any answer is given up.
	fetchLate = 5 * time.Second
	// burstWait is how long the rest of an answer may take behind its first message.
	burstWait = 2 * time.Millisecond
)

// Fetch implements bus.Worker. What comes for it when nobody waits any more goes
// back to the stream, so that no request burns its ack-wait in a buffer.
func (w *Worker) Fetch(ctx context.Context, n int) ([]bus.Delivery, error) {
	if n < 1 {
		return nil, fmt.Errorf("fetch %d requests: at least one", n)
	}
	trouble := backoff.Backoff{Most: wire.LongestBackoff}
	for oneOnly := false; ; {
		p, err := w.adopt(n, oneOnly)
		if err != nil {
			return nil, err
		}
		reason := w.await(ctx, p)
		taken, outcome := p.take(n)
		w.leave(p, reason)
		switch {
		case len(taken) > 0:
			return taken, nil // whatever ended the wait: they are this worker's
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case reason == waitClosing:
			return nil, bus.ErrClosed
		}
		oneOnly = outcome == pullCrowded
		if outcome != pullRefused {
			trouble.Reset()
			continue
		}
		select { // no such durable yet, or a server that is not ready
		case <-time.After(trouble.Next()):
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.closing:
			return nil, bus.ErrClosed
		case <-w.closed:
			return nil, bus.ErrClosed
		}
	}
}

// A waitEnd is why the wait for a pull ended.
type waitEnd int

const (
	waitOver    waitEnd = iota // the server has answered in full
	waitBurst                  // the rest of the answer is late
	waitLost                   // the server may not know of the request any more
	waitCtx                    // the caller's context ended
	waitClosing                // the worker is being closed, or its connection is for good
)

// adopt takes the pull that an earlier Fetch has left open, or makes one.
func (w *Worker) adopt(n int, oneOnly bool) (*pull, error) {
	w.mu.Lock()
	p := w.open
	w.open = nil
	w.mu.Unlock()
	if p != nil {
		if p.adopt() {
			return p, nil
		}
		p.discard()
	}
	return w.newPull(n, oneOnly)
}

func (w *Worker) await(ctx context.Context, p *pull) waitEnd {
	late := time.NewTimer(time.Until(p.expires) + fetchLate)
	defer late.Stop()
	for {
		over, arrived := p.progress()
		if over {
			return waitOver
		}
		if arrived {
			late.Reset(burstWait)
		}
		select {
		case <-p.news:
		case <-late.C:
			if arrived {
				return waitBurst
			}
			return waitLost
		case <-p.returned:
			return waitLost
		case <-ctx.Done():
			return waitCtx
		case <-w.closing:
			return waitClosing
		case <-w.closed: // the server will not let it in again
			return waitClosing
		}
	}
}

// leave ends a pull, or leaves it open for the next Fetch. To end one that the
// server has not answered in full would be a mistake: a message that the server
// is about to send would find nobody, and come again after the ack-wait only.
func (w *Worker) leave(p *pull, reason waitEnd) {
	if reason == waitOver || reason == waitLost {
		p.discard()
		return
	}
	p.park(reason == waitBurst)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = p
	} // else several Fetch run at once; this pull gives back what comes until it expires
}
