package supervisor

import (
	"maps"
	"slices"
	"time"
)

// A new owner does not know of the sessions that its predecessor has opened since
// its last checkpoint, until it has read what stood in the stream then. What they
// have under way counts: nobody is given room at a bounded agent before they are
// all loaded, so that a takeover does not ask an agent for twice its pool.

// survey notes that the owner knows all that is under way in its shard, once.
func (o *Owner) survey(now time.Time) {
	switch {
	case o.surveyed:
	case o.caughtUp(now) && o.early == 0:
		o.surveyed = true
		o.roomy = append(o.roomy, slices.Sorted(maps.Keys(o.pools))...)
	case o.surveying != nil && o.surveying.index < 0: // it rang right before something new was read
		o.surveyAgain(o.heard.Add(o.CatchUp))
	}
}

// room reports whether an agent may be asked for one thing more.
func (o *Owner) room(p *pool) bool {
	switch {
	case p.limit == 0:
		return true
	case !o.surveyed:
		o.surveyAgain(o.heard.Add(o.CatchUp))
		return false
	}
	return p.room()
}

// surveyAgain has a Tick look when somebody waits for it: what a stream holds last
// may be no input.
func (o *Owner) surveyAgain(at time.Time) {
	if o.surveying == nil || o.surveying.index < 0 && at.After(o.surveying.at) {
		o.surveying = o.alarms.add(at, func(time.Time) {
			if !o.surveyed {
				o.surveyAgain(o.heard.Add(o.CatchUp))
			}
		})
	}
}
