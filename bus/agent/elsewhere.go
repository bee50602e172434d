package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
)

// ErrElsewhere is what a Handler returns when the work goes on where this process does not see it, and the answer
// comes by another way (see Answerer). The request is acknowledged without a response, once a last progress update is
// stored which says until when there are no signs of life: until the request expires, and without an expiry for a
// day. If that cannot be stored, the request is given back, and comes to the handler again.
//
// Whoever waits has to know that the agent may do so: schemas.AgentUse.Async.
var ErrElsewhere = errors.New("the work goes on elsewhere")

// elsewhereFor is how long an answer may come to a request that does not expire.
const elsewhereFor = 24 * time.Hour

// sayElsewhere publishes the last progress update of a request whose work goes on elsewhere. It fails when that is
// not stored.
func (s *server) sayElsewhere(ctx context.Context, e *schemas.Event, r *reporter) error {
	notice, _ := r.take()
	notice.WaitingUntil = endOf(e, r.started).UTC()
	message, err := r.messageOf(notice)
	if err != nil {
		return fmt.Errorf("say that the work goes on elsewhere: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	var trouble backoff.Backoff
	for {
		_, err := s.worker.Publish(ctx, message)
		if err == nil {
			return nil
		}
		if bus.IsAny(err, bus.ErrTooLarge, bus.ErrDenied, bus.ErrClosed) || trouble.Wait(ctx) != nil {
			return fmt.Errorf("say that the work goes on elsewhere: %w", err)
		}
	}
}

// endOf is when nobody waits for the answer to a request any more.
func endOf(e *schemas.Event, started time.Time) time.Time {
	if e.Expires.IsZero() {
		return started.Add(elsewhereFor)
	}
	return e.Expires
}
