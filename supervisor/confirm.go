package supervisor

import (
	"context"
	"errors"
	"time"

	"podium/bus"
	"podium/schemas/fault"
	"podium/supervisor/eventloop"
)

// confirm looks whether the newest record of a session that is busy is the one in
// memory, and lets the session go on: with what it knows, or after it has been
// loaded. It speaks for everything that has been read by now, so that any number of
// inputs that wait take one look, which costs less than to store one of them.
func (o *Owner) confirm(ctx context.Context, live *liveSession) {
	read := o.watermark.Read
	eventloop.StartResult(o.loop, func() (bus.Message, error) {
		return o.Core.Last(ctx, bus.SessionSubject(live.id(), o.Core.Shards()))
	}, func(now time.Time, newest bus.Message, err error) {
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			o.retry(live, now, err)
			return
		}
		if newest.Sequence == live.sequence {
			live.confirmedTo = max(live.confirmedTo, read)
		} else {
			live.invalidate()
		}
		o.end(live)
	})
}

// An owner decides by the sessions in its memory, and a former owner that does not
// know that it is one may have written to a session since. An append would tell. So
// whatever is refused, told or passed by without one goes by a session that is known
// to be as the ledger had it when the input was stored. That is enough: an agent is
// asked only after the record that says so was stored, and answers after that.

// confirmed reports whether a session is known to be as the ledger had it when a
// message of that sequence was stored.
func (live *liveSession) confirmed(sequence uint64) bool {
	return sequence <= max(live.sequence, live.confirmedTo) || live.known && live.loaded && fault.Is("what is refused goes by what is remembered")
}
