package admission

import (
	"maps"
	"slices"
	"time"
)

// A new owner does not know of the sessions that its predecessor has opened since
// its last checkpoint, until it has read what stood in the stream then. What they
// have under way counts: nobody is given room at a bounded agent before they are
// all loaded, so that a takeover does not ask an agent for twice its pool.

// Survey notes once that the owner knows all that is under way in its shard.
func (a *Controller) Survey(complete bool) {
	_, set := a.surveying.Due()
	switch {
	case a.surveyed:
	case complete:
		a.surveyed = true
		a.withCapacity = append(a.withCapacity, slices.Sorted(maps.Keys(a.pools))...)
	case a.surveying != nil && !set: // it expired right before something new was read
		a.surveyAgain()
	}
}

// room reports whether an agent may be asked for one thing more.
func (a *Controller) room(p *pool) bool {
	switch {
	case p.limit == 0:
		return true
	case !a.surveyed:
		a.surveyAgain()
		return false
	}
	return p.room()
}

// surveyAgain has the owner look when somebody waits for it: what a stream holds last
// may be no input.
func (a *Controller) surveyAgain() {
	if due, set := a.surveying.Due(); a.surveying == nil || !set && a.quiet.After(due) {
		a.surveying = a.Loop.At(a.quiet, func(time.Time) {
			if !a.surveyed {
				a.surveyAgain()
			}
		})
	}
}
