package supervisor

import "time"

// watch sets an alarm for the conversation's earliest deadline.
func (o *Owner) watch(c *conversation) {
	earliest := time.Time{}
	for _, deadline := range c.state.Deadlines() {
		if earliest.IsZero() || deadline.At.Before(earliest) {
			earliest = deadline.At
		}
	}
	if at, set := c.alarm.Due(); set && at.Equal(earliest) {
		return
	}
	o.loop.Stop(c.alarm)
	c.alarm = nil
	if !earliest.IsZero() {
		c.alarm = o.loop.At(earliest, func(time.Time) { o.push(c) })
	}
}

// evict forgets a session that waits for nothing, once its last record is below
// the floor: whoever loads it then knows that it owes nothing.
func (o *Owner) evict(c *conversation) {
	switch {
	case !c.state.Idle() || o.sessions[c.id()] != c:
	case c.sequence <= o.watermark.Value:
		o.forget(c)
	default:
		o.closing = append(o.closing, c)
	}
}

// sweep evicts closed sessions that the floor has passed by now.
func (o *Owner) sweep() {
	kept := o.closing[:0]
	for _, c := range o.closing {
		switch {
		case !c.state.Idle() || c.busy || len(c.inputs) > 0 || o.sessions[c.id()] != c:
		case c.sequence <= o.watermark.Value:
			o.forget(c)
		default:
			kept = append(kept, c)
		}
	}
	clear(o.closing[len(kept):])
	o.closing = kept
}
