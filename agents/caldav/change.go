package caldav

import (
	"cmp"
	"context"
	"slices"
	"time"

	"podium/agents/dav"
	"podium/bus/agent"
)

// span is where an appointment is looked for: on its day, or in the year to come.
func (j *job) span() (from, until time.Time) {
	if j.wanted.Data.Date != "" {
		return j.midnight(j.wanted.Data.Date)
	}
	from, _ = j.midnight(j.config.Now().In(j.config.Location).Format(time.DateOnly))
	return from, from.AddDate(1, 0, 0)
}

// reschedule moves an appointment, once for an effect.
func (j *job) reschedule(ctx context.Context) (agent.Outcome, error) {
	data := &j.wanted.Data
	if data.NewDate == "" && data.NewTime == "" || data.Date == "" && data.Person == "" {
		return agent.Outcome{}, refuse("arguments")
	}
	if moved, err := j.moved(ctx); err != nil || moved != nil {
		if err != nil {
			return agent.Outcome{}, err
		}
		return j.outcome(j.tell("moved_before", moved), list(moved))
	}
	from, until := j.span()
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return agent.Outcome{}, err
	}
	one, err := j.chosen(&seen)
	switch {
	case err != nil:
		return agent.Outcome{}, err
	case one == nil:
		return agent.Outcome{}, refuse("not_found")
	}
	start, err := j.at(cmp.Or(data.NewDate, one.start.Format(time.DateOnly)), cmp.Or(data.NewTime, one.start.Format(clockLayout)))
	if err != nil {
		return agent.Outcome{}, err
	}
	next := *one
	next.start, next.end = start, start.Add(j.lasts(one.end.Sub(one.start)))
	if next.start.Equal(one.start) && next.end.Equal(one.end) {
		return agent.Outcome{}, refuse("same", "{when}", j.when(one.start))
	}
	if err := j.move(ctx, one, &next); err != nil {
		return agent.Outcome{}, err
	}
	told := list(&next)
	told.WasDate, told.WasTime = one.start.Format(time.DateOnly), one.start.Format(clockLayout)
	outcome, err := j.outcome(j.tell("rescheduled", &next, "{was}", j.when(one.start)), told)
	j.warn(ctx, &outcome, &next)
	return outcome, err
}

// moved returns the appointment that an earlier attempt of this request has moved; nil is none.
func (j *job) moved(ctx context.Context) (*appointment, error) {
	from, until := j.span()
	if j.wanted.Data.NewDate != "" {
		from, until = j.midnight(j.wanted.Data.NewDate)
	}
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return nil, err
	}
	name := dav.Name(j.Request)
	if at := slices.IndexFunc(seen.all, func(one appointment) bool { return one.effect == name }); at >= 0 {
		return &seen.all[at], nil
	}
	return nil, nil //nolint:nilnil // there is none, and nothing wrong
}

// move stores an appointment at its next time, where that is free.
func (j *job) move(ctx context.Context, one, next *appointment) error {
	if err := j.fits(ctx, next.start, next.end, one.resource.Path); err != nil {
		return err
	}
	body, err := j.movedEvent(one.resource, next.start, next.end.Sub(next.start))
	if err != nil {
		return refuse("entry_unreadable")
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return err
	}
	return j.server.Settle(ctx, j.server.Replace(ctx, one.resource, body), func(ctx context.Context) (bool, error) {
		now, err := j.own(ctx, one.resource.Path)
		return now != nil && now.effect == dav.Name(j.Request), err
	})
}

// cancel deletes an appointment. A repeated request that does not find it has nothing left to do.
func (j *job) cancel(ctx context.Context) (agent.Outcome, error) {
	if j.wanted.Data.Date == "" && j.wanted.Data.Person == "" {
		return agent.Outcome{}, refuse("arguments")
	}
	from, until := j.span()
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return agent.Outcome{}, err
	}
	one, err := j.chosen(&seen)
	switch {
	case err != nil:
		return agent.Outcome{}, err
	case one == nil && j.Repeated():
		return j.outcome(j.Say("cancelled_before"))
	case one == nil:
		return agent.Outcome{}, refuse("not_found")
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return agent.Outcome{}, err
	}
	if err := j.server.Remove(ctx, one.resource); err != nil {
		return agent.Outcome{}, err
	}
	return j.outcome(j.tell("cancelled", one), list(one))
}
