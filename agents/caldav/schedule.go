package caldav

import (
	"context"
	"strings"
	"time"

	"podium/agents/dav"
	"podium/bus/agent"
	"podium/schemas"
)

func joined(texts []string) string { return strings.Join(texts, `","`) }

func (j *job) lasts(otherwise time.Duration) time.Duration {
	if j.wanted.Data.DurationMinutes > 0 {
		return time.Duration(j.wanted.Data.DurationMinutes) * time.Minute
	}
	return otherwise
}

// schedule makes an appointment, once for an effect.
func (j *job) schedule(ctx context.Context) (agent.Outcome, error) {
	collection, err := j.server.Collection(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	path := collection + dav.Name(j.Request) + ".ics"
	made, err := j.own(ctx, path)
	if err != nil {
		return agent.Outcome{}, err
	}
	if made == nil {
		if err := j.book(ctx, path); err != nil {
			return agent.Outcome{}, err
		}
		if made, err = j.own(ctx, path); err != nil || made == nil {
			// What was stored is what was asked for, whatever has become of the connection or of it since.
			start, wrong := j.at(j.wanted.Data.Date, j.wanted.Data.Time)
			if wrong != nil {
				return agent.Outcome{}, wrong
			}
			made = &appointment{resource: &dav.Resource{Path: path}, start: start, end: start.Add(j.lasts(j.config.Duration)), summary: j.wanted.summary()}
		}
	}
	outcome, err := j.outcome(j.tell("scheduled", made), list(made))
	j.warn(ctx, &outcome, made)
	return outcome, err
}

// book stores the appointment where its time is free.
func (j *job) book(ctx context.Context, path string) error {
	data := &j.wanted.Data
	if data.Person == "" || data.Date == "" {
		return refuse("arguments")
	}
	lasts := j.lasts(j.config.Duration)
	if data.Time == "" {
		return j.askTime(ctx, lasts)
	}
	start, err := j.at(data.Date, data.Time)
	if err != nil {
		return err
	}
	if err := j.fits(ctx, start, start.Add(lasts), path); err != nil {
		return err
	}
	body, err := j.newEvent(start, lasts)
	if err != nil {
		return refuse("arguments")
	}
	if err := j.Permit(ctx, j.wanted.Action); err != nil {
		return err
	}
	return j.server.Settle(ctx, j.server.Create(ctx, path, body), func(ctx context.Context) (bool, error) {
		made, err := j.own(ctx, path)
		return made != nil, err
	})
}

// fits refuses a time at which nothing is booked, or that is not free, and says what is.
func (j *job) fits(ctx context.Context, start, end time.Time, path string) error {
	err := j.bookable(start, end)
	if err == nil {
		err = j.available(ctx, start, end, path)
	}
	if err == nil {
		return nil
	}
	return j.instead(ctx, err, start, end.Sub(start), path)
}

// askTime asks for the time, and says which is free.
func (j *job) askTime(ctx context.Context, lasts time.Duration) error {
	from, until := j.midnight(j.wanted.Data.Date)
	if len(j.open(from)) == 0 {
		return j.instead(ctx, j.closed(from, nil), from, lasts, "")
	}
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return err
	}
	asks := &need{name: "appointment_data.time", key: "ask_time", schema: `{"type":"string","pattern":"^([01]\\d|2[0-3]):[0-5]\\d$"}`}
	if !seen.mayBeTaken(from, until) {
		asks.free = j.slots(seen.all, from, lasts)
	}
	return asks
}

// warn says when somebody else has taken the same time in between: no calendar can be written on the condition that it
// is free. What was done stays, whatever comes of looking.
func (j *job) warn(ctx context.Context, outcome *agent.Outcome, made *appointment) {
	seen, err := j.look(ctx, made.start, made.end)
	if err != nil {
		return
	}
	for i := range seen.all {
		if other := &seen.all[i]; other.resource.Path != made.resource.Path && other.blocks(made.start, made.end) {
			outcome.Issues = append(outcome.Issues, schemas.Issue{
				Severity: "high", Description: j.Say("overlap"), Resolution: schemas.ResolutionEscalated,
			})
			return
		}
	}
}
