package caldav

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// margin is how far a server's reading of days and of times without a zone may be from the calendar's own.
const margin = 24 * time.Hour

// A view is what the calendar holds in a time.
type view struct {
	all    []appointment // in their order
	unread int           // entries around it that cannot be read
	spans  []span        // when these may be
}

// mayBeTaken reports whether an entry that cannot be read may be between two moments.
func (v *view) mayBeTaken(from, until time.Time) bool {
	return slices.ContainsFunc(v.spans, func(s span) bool { return s.touches(from, until) })
}

// look reads what the calendar holds between two moments.
func (j *job) look(ctx context.Context, from, until time.Time) (view, error) {
	resources, err := j.server.Appointments(ctx, from.Add(-margin), until.Add(margin))
	if err != nil {
		return view{}, err
	}
	var seen view
	for i := range resources {
		found, err := j.appointments(&resources[i], from, until)
		if err != nil {
			seen.unread++
			seen.spans = append(seen.spans, j.spansOf(&resources[i])...)
			continue
		}
		seen.all = append(seen.all, found...)
	}
	slices.SortFunc(seen.all, func(a, b appointment) int {
		return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end), cmp.Compare(a.summary, b.summary), cmp.Compare(a.resource.Path, b.resource.Path))
	})
	return seen, nil
}

// own returns the appointment that this request has made, by its address; nil is none.
func (j *job) own(ctx context.Context, path string) (*appointment, error) {
	resource, err := j.server.Find(ctx, path)
	if err != nil || resource == nil {
		return nil, err
	}
	calendar, err := decode(resource)
	if err != nil || len(calendar.Events()) == 0 {
		return nil, refuse("entry_unreadable")
	}
	made, _, _, err := j.single(j.newTimeReader(calendar), &calendar.Events()[0])
	if err != nil {
		return nil, refuse("entry_unreadable")
	}
	made.resource = resource
	return &made, nil
}

// available refuses a time that is not free. What is at a path is not in its own way.
func (j *job) available(ctx context.Context, start, end time.Time, except string) error {
	from, until := j.midnight(start.Format(time.DateOnly))
	if end.After(until) {
		until = end
	}
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return err
	}
	if seen.mayBeTaken(start, end) {
		return refuse("entry_unreadable")
	}
	others := slices.DeleteFunc(seen.all, func(other appointment) bool { return other.resource.Path == except })
	for i := range others {
		other := &others[i]
		if !other.blocks(start, end) {
			continue
		}
		if other.isUncertain() {
			return refuse("entry_unreadable")
		}
		key, taken := "taken", other.start.Format(clockLayout)+"–"+other.end.Format(clockLayout)
		if other.allDay {
			key, taken = "taken_all_day", j.dayOf(other.start)
		} else if other.endsLater() {
			taken = j.when(other.start) + " – " + j.when(other.end)
		}
		return refuse(key, "{taken}", taken)
	}
	return nil
}

// slots are the free times of a day that are long enough, where the hours say when there are any.
func (j *job) slots(taken []appointment, day time.Time, lasts time.Duration) []Slot {
	if !j.bounded() {
		return nil
	}
	return j.freeSlots(taken, day, lasts)
}

// freeSlots are the parts of the opening hours of a day in which nothing is booked; without hours, of the whole day.
func (j *job) freeSlots(taken []appointment, day time.Time, lasts time.Duration) []Slot {
	var free []Slot
	for _, open := range j.open(day) {
		from, until := open.from, open.until
		if now := j.config.Now().In(j.config.Location); from.Before(now) {
			from = now.Truncate(time.Minute).Add(time.Minute)
		}
		add := func(end time.Time) {
			if end.Sub(from) >= lasts {
				free = append(free, Slot{From: from.Format(clockLayout), Until: clockOf(end, from)})
			}
		}
		for i := range taken {
			if next := &taken[i]; next.blocks(from, until) {
				add(next.start)
				if next.end.After(from) {
					from = next.end
				}
			}
		}
		add(until)
	}
	return free
}

// daysAhead is how far free time is looked for, where a day has none.
const daysAhead = 14

// instead adds to a refusal what is free: on that day, else on the next one that has any. What is at a path is not in its own way.
func (j *job) instead(ctx context.Context, err error, start time.Time, lasts time.Duration, except string) error {
	refused, is := errors.AsType[*refusal](err)
	if !is || !j.bounded() {
		return err
	}
	day, _ := j.midnight(start.Format(time.DateOnly))
	if today, _ := j.midnight(j.config.Now().In(j.config.Location).Format(time.DateOnly)); day.Before(today) {
		day = today
	}
	last := day.AddDate(0, 0, daysAhead)
	seen, failed := j.look(ctx, day, last)
	if failed != nil || seen.mayBeTaken(day, last) {
		return err // it is refused all the same
	}
	others := slices.DeleteFunc(seen.all, func(other appointment) bool { return other.resource.Path == except })
	for n := range daysAhead {
		on := day.AddDate(0, 0, n)
		if free := j.slots(others, on, lasts); len(free) > 0 {
			refused.free = free
			if on.Format(time.DateOnly) != start.Format(time.DateOnly) {
				refused.on = on
			}
			break
		}
	}
	return refused
}

// chosen returns the one appointment that is meant; nil when there is none.
func (j *job) chosen(seen *view) (*appointment, error) {
	var meant []appointment
	for i := range seen.all {
		one := &seen.all[i]
		if one.isUncertain() && j.wanted.mine(one) {
			return nil, refuse("entry_unreadable")
		}
		listed := slices.ContainsFunc(meant, func(other appointment) bool { return other.resource.Path == one.resource.Path }) // a series counts once
		if !listed && !one.allDay && j.wanted.mine(one) {
			meant = append(meant, *one)
		}
	}
	switch {
	case len(meant) == 0 && seen.unread > 0:
		return nil, refuse("entry_unreadable")
	case len(meant) == 0:
		return nil, nil //nolint:nilnil // there is none, and nothing wrong
	case len(meant) > 1:
		return nil, j.which(meant)
	case meant[0].recurring:
		return nil, refuse("recurring")
	}
	return &meant[0], nil
}

// which asks by what the appointments differ: their days, else their times, else the names in them.
func (j *job) which(meant []appointment) error {
	var days, clocks []string
	for i := range meant {
		days, clocks = append(days, meant[i].start.Format(time.DateOnly)), append(clocks, meant[i].start.Format(clockLayout))
	}
	slices.Sort(clocks)
	clocks = slices.Compact(clocks)
	switch {
	case len(slices.Compact(slices.Clone(days))) > 1:
		return &need{name: "appointment_data.date", key: "which_date", schema: `{"type":"string","format":"date"}`, choices: meant[:min(len(meant), mostChoices)]}
	case len(clocks) > 1:
		schema := `{"type":"string","enum":["` + joined(clocks) + `"]}`
		return &need{name: "appointment_data.time", key: "which_time", schema: schema, choices: meant[:min(len(meant), mostChoices)]}
	case j.wanted.Data.Person == "":
		return &need{name: "appointment_data.person", key: "which_name", schema: `{"type":"string","minLength":2,"maxLength":200}`}
	}
	return refuse("ambiguous")
}

// mostChoices is how many appointments a question lists.
const mostChoices = 20
