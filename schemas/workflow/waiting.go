package workflow

import (
	"time"

	"podium/schemas"
)

// WaitingUntil is until when the first of what the run waits for is waited for, as long as nothing of it goes on without that: a word of somebody who was
// asked, the budget of another day, or an agent that waits itself. Else it is zero. Letters about what people are asked are none of the run's work.
func (r *Run) WaitingUntil() time.Time {
	var first time.Time
	sooner := func(until time.Time) {
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		switch {
		case task.State.Ended() || task.HumanTask() > 0:
		case task.State.UnderWay():
			until := task.WaitingUntil()
			if until == nil {
				return time.Time{}
			}
			sooner(*until)
		case task.HeldForDay():
			sooner(schemas.DayEnd(task.Day.Short.Day))
		case task.State == TaskReady && !task.Held || task.State == TaskWaiting:
			return time.Time{}
		}
	}
	for _, inquiry := range r.Inquiries {
		if inquiry.Open() && !inquiry.Asked.IsZero() {
			sooner(inquiry.Expires())
		}
	}
	return first
}
