package supervisor

import "time"

// evict forgets a session that waits for nothing, once its last record is below
// the low watermark: whoever loads it then knows that no output is outstanding.
func (o *Owner) evict(live *liveSession) {
	switch {
	case !live.state.Idle() || o.sessions[live.id()] != live:
	case live.sequence <= o.watermark.Value:
		o.forget(live)
	default:
		o.queue.closing = append(o.queue.closing, live)
	}
}

// sweep evicts closed sessions that the low watermark has passed by now.
func (o *Owner) sweep() {
	kept := o.queue.closing[:0]
	for _, live := range o.queue.closing {
		switch {
		case !live.state.Idle() || live.stage.busy() || len(live.inputs) > 0 || o.sessions[live.id()] != live:
		case live.sequence <= o.watermark.Value:
			o.forget(live)
		default:
			kept = append(kept, live)
		}
	}
	clear(o.queue.closing[len(kept):])
	o.queue.closing = kept
}

// setDeadlineTimer sets a timer for the earliest deadline of a session that nothing is left
// to do for until then.
func (o *Owner) setDeadlineTimer(live *liveSession) {
	earliest := time.Time{}
	for _, deadline := range live.state.Deadlines() {
		if earliest.IsZero() || deadline.At.Before(earliest) {
			earliest = deadline.At
		}
	}
	if at, set := live.timer.Due(); set && at.Equal(earliest) {
		return
	}
	o.loop.Stop(live.timer)
	live.timer = nil
	if !earliest.IsZero() {
		live.timer = o.loop.At(earliest, func(time.Time) { o.push(live) })
	}
}
